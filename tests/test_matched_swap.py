"""The matched swap over a corpus: exposure by a coin, everything else equal, and the effect that was put in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd import audit, effects
from fiftyone_hsd.errors import InfeasibleError
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.matched_swap import COVERAGE, DOSE, EFFECT, FIRST, SECOND, design_of, matched_numbers
from fiftyone_hsd.model import Grouping, Links, Run, Samples, TrainConfig

GROUPS, SIZE = 24, 6


@pytest.fixture
def corpus():
    """144 samples in 24 groups of two classes; the last six are without a label."""
    n = GROUPS * SIZE
    codes = np.repeat(np.arange(GROUPS), SIZE)
    labels = np.where(np.arange(n) < n - 6, codes % 2, -1)
    names = tuple(f"{i:03d}" for i in range(n))
    samples = Samples(names, names, labels, ("a", "b"), np.full(n, ""), {}, "/x")
    return samples, Grouping(codes, Links.from_codes(codes, "metadata"))


def runs_of(samples, grouping, design, right_if):
    """One run a plan; `right_if(exposed)` says who is right."""
    made = []
    for plan in design.plans:
        rows = np.flatnonzero((plan.partition == "test") & (samples.labels >= 0))
        exposed = exposure(plan, grouping).exposed[rows]
        truth = samples.labels[rows]
        predicted = np.where(right_if(exposed), truth, 1 - truth)
        made.append(Run(TrainConfig("m"), plan.condition, plan.seed, rows, np.eye(2)[predicted], {}, 0.0))
    return made


def test_both_plans_test_the_same_images_and_swap_who_is_exposed(corpus):
    samples, grouping = corpus
    design = design_of(samples, grouping)
    first, second = design.plans
    assert (first.condition, second.condition) == (FIRST, SECOND)
    test = first.partition == "test"
    assert np.array_equal(test, second.partition == "test")
    one, other = (exposure(p, grouping).exposed[test] for p in design.plans)
    assert np.array_equal(one, ~other)
    assert one.mean() == 0.5
    assert set(first.partition[samples.labels < 0]) == {"unused"}
    for k in (0, 1):
        counts = [((p.partition == "train") & (samples.labels == k)).sum() for p in design.plans]
        assert counts[0] == counts[1]


def test_the_effect_of_mates_is_found_and_none_where_there_is_none(corpus):
    samples, grouping = corpus
    design = design_of(samples, grouping)
    for right_if, expected in ((lambda e: e, 1.0), (lambda e: np.ones(len(e), bool), 0.0)):
        found = {
            e.what: e for e in matched_numbers(samples, grouping, design, runs_of(samples, grouping, design, right_if))
        }
        assert found[EFFECT].estimate == expected
        assert found[EFFECT].n == design.pairs
        assert found[DOSE].estimate == SIZE // 2
        assert found[COVERAGE].estimate == pytest.approx(4 * design.pairs * (SIZE // 2) / (len(samples) - 6))
        assert -1 <= found[EFFECT].low <= found[EFFECT].high <= 1
    one_only = runs_of(samples, grouping, design, lambda e: e)[:1]
    assert [e.what for e in matched_numbers(samples, grouping, design, one_only)] == [COVERAGE, DOSE]


def test_without_mates_it_is_refused(corpus):
    samples, _ = corpus
    alone = Grouping(np.arange(len(samples)), Links.of([], [], ""))
    with pytest.raises(InfeasibleError, match="no two groups can be paired"):
        design_of(samples, alone)


def test_an_audit_reports_it_and_effects_keep_it(small_corpus, tmp_path):
    how = {"groups": small_corpus / "truth.csv", "seeds": 1, "models": ("nearest_neighbour",)}
    report = audit(small_corpus / "images", out=tmp_path, **how)
    (found,) = [e for e in report.effects if e.what == EFFECT]
    assert found.model == "nearest_neighbour"
    assert found.n > 1
    assert found.low <= found.estimate <= found.high
    assert {r.condition for r in report.runs}.isdisjoint((FIRST, SECOND))
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Own mates in train: the matched swap" in page
    assert EFFECT in (tmp_path / "effects.csv").read_text()
    assert f'"what": "{EFFECT}"' in (tmp_path / "report.json").read_text()
    (again,) = [e for e in effects(tmp_path).effects if e.what == EFFECT]
    assert dataclasses.replace(again, p=0) == dataclasses.replace(found, p=0)
