"""AUROC, sensitivity and specificity: against scikit-learn, thresholds from validation only."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fiftyone_hsd.effects import effects
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import Effect, Grouping, Links, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.splitting import ladder
from fiftyone_hsd.two_class import threshold

CLASSES = ("healthy", "ill")


def corpus(gain: float = 0.0, classes: tuple[str, ...] = CLASSES, seed: int = 0):
    """80 groups of 4, one class each; chances that follow the class, more so for exposed images by `gain`."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(80), 4)
    labels = codes % 2
    ids = tuple(f"{i:04d}" for i in range(len(codes)))
    samples = Samples(ids, ids, labels, classes, np.full(len(codes), ""), {}, "")
    grouping = Grouping(codes, Links.of([], [], ""))
    plans = [p for s in range(3) for p in ladder(labels, codes, {"train": 0.6, "val": 0.2, "test": 0.2}, seed=s)]
    exposures = [exposure(p, grouping) for p in plans]
    tilt = rng.normal(0, 0.5, 80)[codes]
    runs = []
    for plan, shown in zip(plans, exposures, strict=True):
        rows = np.flatnonzero(plan.partition != "train")
        logit = (2 * labels - 1) * (0.4 + gain * shown.exposed) + tilt + rng.normal(0, 1, len(codes))
        chance = np.zeros((len(rows), len(classes)), np.float32)
        chance[:, 1] = np.round(1 / (1 + np.exp(-logit[rows])), 2)  # with ties
        chance[:, 0] = 1 - chance[:, 1]
        runs.append(Run(TrainConfig("m", plan.seed), plan.condition, plan.seed, rows, chance, {}, 0.0))
    return samples, grouping, plans, exposures, runs


def pick(found: list[Effect], what: str, condition: str, metric: str) -> Effect:
    (e,) = [e for e in found if (e.what, e.condition, e.metric, e.seed) == (what, condition, metric, None)]
    return e


def test_auroc_is_that_of_scikit_learn_and_its_change_is_paired():
    samples, grouping, plans, exposures, runs = corpus(gain=2.0)
    found = effects(samples, grouping, plans, exposures, runs, draws=300)
    truth = {}
    for condition in ("intact", "random"):
        areas = []
        for plan, run in zip(plans, runs, strict=True):
            if plan.condition == condition:
                test = plan.partition[run.rows] == "test"
                areas.append(roc_auc_score(samples.labels[run.rows[test]], run.probabilities[test, 1]))
        truth[condition] = np.mean(areas)
        e = pick(found, "score", condition, "auroc")
        assert e.estimate == pytest.approx(truth[condition])
        assert e.low < e.estimate < e.high
        assert "positive = ill" in e.method
    rise = pick(found, "inflation", "random", "auroc")
    assert rise.estimate == pytest.approx(truth["random"] - truth["intact"])
    assert rise.low > 0


def test_without_an_effect_the_interval_covers_none():
    held = []
    for seed in range(6):
        found = effects(*corpus(seed=seed), draws=200)
        rise = pick(found, "inflation", "random", "auroc")
        held.append(rise.low <= 0 <= rise.high)
    assert sum(held) >= 5


def test_thresholds_look_at_validation_only():
    samples, grouping, plans, exposures, runs = corpus()
    run, plan = runs[0], plans[0]
    cut = threshold(samples, run, plans)
    val, test = (plan.partition[run.rows] == p for p in ("val", "test"))
    truth, chance = samples.labels[run.rows], run.probabilities[:, 1]

    def youden(c: float) -> float:
        return (chance[val & (truth == 1)] >= c).mean() + (chance[val & (truth == 0)] < c).mean()

    assert youden(cut) == max(youden(c) for c in np.linspace(0, 1, 101))
    other = run.probabilities.copy()
    other[test] = other[test][:, ::-1]
    assert threshold(samples, dataclasses.replace(run, probabilities=other), plans) == cut
    found = effects(samples, grouping, plans, exposures, runs, draws=100)
    expected = []
    for plan, run in zip(plans, runs, strict=True):
        if plan.condition == "intact":
            ill = (plan.partition[run.rows] == "test") & (samples.labels[run.rows] == 1)
            expected.append((run.probabilities[ill, 1] >= threshold(samples, run, plans)).mean())
    e = pick(found, "score", "intact", "sensitivity_at_val_threshold")
    assert e.estimate == pytest.approx(np.mean(expected))


def test_without_validation_that_is_said_and_three_classes_have_none_of_it():
    samples, grouping, plans, _, runs = corpus()
    bare = [SplitPlan.of(p.condition, p.seed, np.where(p.partition == "val", "unused", p.partition)) for p in plans]
    kept = [dataclasses.replace(r, rows=r.rows) for r in runs]
    found = effects(samples, grouping, bare, [exposure(p, grouping) for p in bare], kept, draws=50)
    e = pick(found, "score", "intact", "specificity_at_val_threshold")
    assert np.isnan(e.estimate)
    assert "not evaluated" in e.method
    three = effects(*corpus(classes=("a", "b", "c")), draws=50)
    assert not [e for e in three if "auroc" in e.metric or "threshold" in e.metric]
