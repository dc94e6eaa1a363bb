"""An auditor that always finds something is worthless: corpora without dependence give no groups and no inflation.

`tests/benchmarks/null_corpora.py` does the same on 100 corpora.
"""

from __future__ import annotations

from fiftyone_hsd import audit
from fiftyone_hsd.drawn import INDEPENDENT, SMALL, draw

CORPORA = 12


def test_without_dependence_nothing_is_found(tmp_path):
    covered = 0
    for seed in range(CORPORA):
        images = draw(tmp_path / str(seed), INDEPENDENT, seed=seed, patients=90, side=32)
        report = audit(images, models=("nearest_neighbour",), seeds=3)
        assert report.grouping.n_groups == len(report.samples) == 90
        assert "No dependence detectable" in report.verdict
        (effect,) = [
            e
            for e in report.effects
            if (e.what, e.condition, e.metric) == ("inflation", "random", "balanced_accuracy")
            if e.seed is None and not e.class_name
        ]
        covered += effect.low <= 0 <= effect.high
    assert covered >= 11  # the nominal level is 95 %


def test_with_dependence_the_same_audit_finds_it(tmp_path):
    images = draw(tmp_path, SMALL)
    report = audit(images, groups=tmp_path / "truth.csv", models=("nearest_neighbour",))
    effect = next(
        e
        for e in report.effects
        if (e.what, e.condition, e.metric) == ("inflation", "random", "balanced_accuracy")
        if e.seed is None and not e.class_name
    )
    assert effect.low > 0
    assert report.grouping.n_groups == SMALL.patients
