"""Other groups from the same evidence, and the inflation under them."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd import audit, effects
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Grouping, Links
from fiftyone_hsd.sensitivity import PREFIX, variants


def grouping_of():
    """40 groups of five by name, half of them also by pixels, with scores that differ."""
    codes = np.repeat(np.arange(40), 5)
    named = Links.from_codes(np.where(codes < 20, codes, -1), "names", score=0.9)
    pixels = Links.from_codes(np.where(codes >= 20, codes, -1), "pixels", score=0.5)
    return Grouping(codes, Links.concat([named, pixels]))


def test_each_variant_changes_what_it_says():
    grouping = grouping_of()
    labels = grouping.codes % 4
    found = {v.name: v for v in variants(grouping, labels)}
    assert list(found) == ["links dropped", "weakest links dropped", "links added", "without names", "without pixels"]
    assert found["links dropped"].grouping.n_groups == 40 + 16  # a tenth of 160 links, each of which holds one file
    weak = found["weakest links dropped"].grouping
    assert weak.n_groups == 56
    assert np.array_equal(weak.codes[:100], grouping.codes[:100])
    added = found["links added"].grouping
    assert 40 - 16 <= added.n_groups < 40
    for code in range(added.n_groups):
        assert len(set(labels[added.codes == code].tolist())) == 1
    assert found["without pixels"].grouping.n_groups == 20 + 100
    again = {v.name: v.grouping.codes.tolist() for v in variants(grouping, labels)}
    assert again == {v.name: v.grouping.codes.tolist() for v in found.values()}


def test_without_links_there_is_nothing_to_vary():
    assert variants(Grouping(np.arange(9), Links.of([], [], "")), np.zeros(9, int)) == []


def test_the_effects_of_a_folder_gain_a_row_a_variant(small_corpus, tmp_path):
    how = {"pattern": r"(?P<group>P\d+_S\d+_F\d+)", "seeds": 2, "models": ("nearest_neighbour",)}
    report = audit(small_corpus / "images", out=tmp_path, **how)
    before = next(e for e in report.effects if (e.what, e.condition, e.seed) == ("inflation", "random", None))
    after = effects(tmp_path, sensitivity=True)
    rows = {e.what.removeprefix(PREFIX): e for e in after.effects if e.what.startswith(PREFIX)}
    assert {"links dropped", "links added"} <= set(rows)
    assert all(e.metric == before.metric or e.metric for e in rows.values())
    assert all(e.n == before.n for e in rows.values() if np.isfinite(e.estimate))
    assert PREFIX in (tmp_path / "effects.csv").read_text()
    assert "How much the inflation depends on the groups" in (tmp_path / "report.html").read_text("utf-8")
    kept = [e.what for e in effects(tmp_path).effects if e.what.startswith(PREFIX)]
    assert kept == [PREFIX + n for n in rows]


def test_a_report_without_a_cheap_model_is_refused(small_corpus, tmp_path):
    audit(small_corpus / "images", out=tmp_path, groups=small_corpus / "truth.csv", seeds=1, models=())
    with pytest.raises(InputError, match="no cheap model"):
        effects(tmp_path, sensitivity=True)
