"""Which classes come from where."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.controls.source_table import source_table
from fiftyone_hsd.errors import FieldError


def sites(seed: int = 11, n: int = 60) -> np.ndarray:
    return np.array(["a", "b", "c"])[np.random.default_rng(seed).integers(0, 3, n)].repeat(2)


def test_counts_and_leave_one_out(corpus) -> None:
    study = corpus(metadata={"site": sites()}, source_field="site")
    found = source_table(study)
    counts = {(r.effect.condition, r.effect.class_name): r.effect.n for r in found.results if r.effect.what == "images"}
    column, labels = study.samples.metadata["site"], study.samples.labels
    assert counts[("source b", "square")] == ((column == "b") & (labels == 1)).sum()
    assert sum(counts.values()) == 120
    out = [r.effect for r in found.results if r.effect.what == "leave_one_source_out"]
    assert {e.condition for e in out} == {"source a", "source b", "source c"}
    assert all(e.estimate > 0.8 for e in out if e.model == "linear_probe")
    assert found.notes[0].text.startswith("no sign that class and source go together")


def test_one_class_a_source_is_a_problem(corpus) -> None:
    labels = corpus().samples.labels
    column = np.char.add(np.where(labels == 0, "left", "right"), np.tile(["1", "2"], 30).repeat(2))
    found = source_table(corpus(metadata={"site": column}, source_field="site"))
    assert found.notes[0].level == "problem"
    assert "no split identifies performance on a new source" in found.notes[0].text


def test_without_a_column_nothing_is_said(corpus) -> None:
    assert source_table(corpus()).notes[0].level == "not evaluated"
    with pytest.raises(FieldError, match="nowhere"):
        source_table(corpus(source_field="nowhere"))
