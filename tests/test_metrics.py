"""Metrics against hand-computed numbers and scikit-learn, and the draws against a loop."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.metrics import Predictions, Totals, group_draws, score, totals

TRUTH = np.array([0, 0, 0, 0, 1, 1, 2, 2])
PREDICTED = np.array([0, 0, 0, 1, 1, 0, 2, 1])
GROUPS = np.array([0, 0, 1, 1, 2, 3, 4, 4])


def made(n_classes: int = 3) -> Predictions:
    return Predictions(GROUPS, TRUTH, PREDICTED, n_classes)


def test_by_hand() -> None:
    sums = totals(made())
    assert float(score(sums, "accuracy")) == pytest.approx(5 / 8)
    assert float(score(sums, "balanced_accuracy")) == pytest.approx((3 / 4 + 1 / 2 + 1 / 2) / 3)
    # F1: class 0: 2*3/(4+4), class 1: 2*1/(2+3), class 2: 2*1/(2+1)
    assert float(score(sums, "macro_f1")) == pytest.approx((6 / 8 + 2 / 5 + 2 / 3) / 3)
    assert float(score(sums, "recall:0")) == pytest.approx(0.75)
    assert float(score(sums, "f1:2")) == pytest.approx(2 / 3)


def test_a_class_that_is_not_tested_moves_nothing() -> None:
    wide = totals(made(5))
    for metric in ("accuracy", "balanced_accuracy", "macro_f1"):
        assert float(score(wide, metric)) == pytest.approx(float(score(totals(made()), metric)))
    assert np.isnan(score(wide, "recall:4"))
    assert np.isnan(score(wide, "f1:3"))


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    groups = rng.integers(0, 30, 200)
    weight = rng.exponential(size=30)[groups]
    parts = [truth == predicted, np.ones(200, bool), np.ones(200, bool)]
    values = [truth, truth, predicted]
    sums = [np.bincount(v[u], weight[u], 4) for v, u in zip(values, parts, strict=True)]
    weighted = Totals(*sums, np.ones(4, bool))
    assert float(score(weighted, "balanced_accuracy")) == pytest.approx(
        balanced_accuracy_score(truth, predicted, sample_weight=weight)
    )
    assert float(score(weighted, "macro_f1")) == pytest.approx(
        f1_score(truth, predicted, average="macro", sample_weight=weight)
    )


def test_unknown_metric_and_impossible_values() -> None:
    for name in ("kappa", "recall:", "recall:9", "f1:x"):
        with pytest.raises(InputError):
            score(totals(made()), name)
    with pytest.raises(InputError):
        Predictions(GROUPS, TRUTH, PREDICTED, 2)
    with pytest.raises(InputError):
        Predictions(GROUPS[:3], TRUTH, PREDICTED, 3)


def test_nothing_tested() -> None:
    empty = totals(Predictions(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), 3))
    assert all(np.isnan(score(empty, m)) for m in ("accuracy", "balanced_accuracy", "macro_f1", "recall:0"))


def test_draws_are_weighted_sums_shared_by_all_parts() -> None:
    first, second = made(), Predictions(np.array([4, 4, 0]), np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    drawn = group_draws([first, second], 6, 7, seed=3)
    weights = np.random.default_rng([3, 4]).exponential(size=(7, 6))
    for part, sums in zip((first, second), drawn, strict=True):
        for b in range(7):
            w = weights[b][part.groups]
            ok = part.truth == part.predicted
            assert sums.hits[b] == pytest.approx(np.bincount(part.truth[ok], w[ok], part.n_classes))
            assert sums.true[b] == pytest.approx(np.bincount(part.truth, w, part.n_classes))
            assert sums.predicted[b] == pytest.approx(np.bincount(part.predicted, w, part.n_classes))


def test_draws_do_not_depend_on_the_block_or_on_the_company() -> None:
    whole = group_draws([made()], 6, 20, seed=0)[0]
    pieces = group_draws([made()], 6, 20, seed=0, block_bytes=6 * 8 * 3)[0]
    other = group_draws([Predictions(np.array([5]), np.array([0]), np.array([0]), 1), made()], 6, 20, seed=0)[1]
    assert np.array_equal(whole.hits, pieces.hits)
    assert np.allclose(whole.hits, other.hits)
    assert not np.allclose(whole.hits, group_draws([made()], 6, 20, seed=1)[0].hits)
    assert group_draws([], 6, 20, seed=0) == []
