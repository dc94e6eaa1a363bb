"""The permutation null against enumeration, its calibration, and what it refuses to test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from fiftyone_hsd.controls._null import Null, over_seeds, permutation_null, vote_null

SCORES = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f1": lambda t, p: f1_score(t, p, average="macro"),
}


@pytest.mark.parametrize("metric", sorted(SCORES))
def test_is_the_share_of_permutations_that_score_as_high(metric: str) -> None:
    """Five groups of two, one of three: all 120 orders of the five are tried by hand with scikit-learn's scores."""
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1, 2, 3, 4, 5], [2, 2, 2, 2, 2, 3])
    truth = np.array([0, 0, 1, 1, 0, 1, 2, 2, 0, 0, 2, 2, 1])
    guess = rng.integers(0, 3, 13)
    guess[:6] = truth[:6]
    vectors = truth[:10].reshape(5, 2)
    every = [
        SCORES[metric](np.r_[vectors[list(order)].ravel(), truth[10:]], guess)
        for order in itertools.permutations(range(5))
    ]
    exact = np.mean(np.array(every) >= SCORES[metric](truth, guess) - 1e-9)
    found = permutation_null(truth, guess, groups, metric, draws=9999)
    assert found.p == pytest.approx(exact, abs=0.02)
    assert found.mean == pytest.approx(np.mean(every), abs=0.005)
    # 0,0 and 0,0 are the same vector: 5! / 2! ways, all alike for groups of equal vectors
    assert found.smallest == pytest.approx(1 / 60)


def test_is_calibrated_where_images_of_a_group_agree() -> None:
    """Images of one group get one prediction: a null that permutes images would find something every third time."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(24), 5)
    p_values = []
    for seed in range(300):
        truth, guess = rng.permutation(24) % 2, rng.integers(0, 2, 24)
        p = permutation_null(truth[groups], guess[groups], groups, "balanced_accuracy", draws=199, seed=seed).p
        p_values.append(p)
    hits = int((np.array(p_values) <= 0.05).sum())
    assert binomtest(hits, 300, 0.05, alternative="greater").pvalue > 0.01
    assert hits > 3


def test_constant_predictions_are_never_above_chance() -> None:
    truth = np.repeat([0, 1], [90, 10])
    for metric in SCORES:
        assert permutation_null(truth, np.zeros(100, int), np.arange(100), metric).p == 1


def test_groups_that_have_no_partner_cannot_be_tested() -> None:
    truth, groups = np.array([0, 1, 1, 0, 0, 0]), np.array([0, 1, 1, 2, 2, 2])
    assert permutation_null(truth, truth, groups, "accuracy") == Null(1.0, 1.0, 1.0)


@pytest.mark.parametrize("together", [False, True])
def test_votes_are_calibrated_where_sizes_differ(together: bool) -> None:
    """Sizes 1 to 12, predictions alike within groups; `together`: groups of class 1 are three times as large."""
    rng = np.random.default_rng(1)
    hits = 0
    for seed in range(300):
        label = rng.permutation(24) % 2
        size = rng.integers(1, 13, 24) * (1 + 2 * label if together else 1)
        lean = rng.beta(0.5, 0.5, 24)
        groups = np.repeat(np.arange(24), size)
        guess = (rng.random(len(groups)) < lean[groups]).astype(int)
        hits += vote_null(label[groups], guess, groups, draws=199, seed=seed).p <= 0.05
    assert binomtest(hits, 300, 0.05, alternative="greater").pvalue > 0.01
    assert hits > 3


def test_votes_find_what_there_is_and_leave_mixed_groups_out() -> None:
    label, size = np.arange(20) % 2, np.arange(1, 21)
    groups = np.repeat(np.arange(20), size)
    truth = label[groups]
    assert permutation_null(truth, truth, groups, "accuracy").smallest == 1
    found = vote_null(truth, truth, groups)
    assert found.p < 0.01
    mixed = truth.copy()
    mixed[np.flatnonzero(np.diff(groups, prepend=-1))[2:]] = 1 - mixed[np.flatnonzero(np.diff(groups, prepend=-1))[2:]]
    assert vote_null(mixed, truth, groups).smallest == pytest.approx(1 / 2)


def test_twice_the_median_over_seeds() -> None:
    nulls = [Null(p, 0.001, 0.5) for p in (0.9, 0.01, 0.02, 0.03, 0.8)]
    assert over_seeds(nulls).p == 0.06
    assert over_seeds(nulls).smallest == 0.002
    assert over_seeds(nulls[1:2]).p == 0.01
    assert over_seeds(nulls[1:3]).p == 0.04
