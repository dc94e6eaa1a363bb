"""Intervals, supports, ICC and multiplicity against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from fiftyone_hsd.stats import (
    Interval,
    Support,
    adjusted,
    design_effect,
    intraclass_correlation,
    seed_interval,
)


def support(groups: int, classes: int) -> Support:
    return Support((float(groups),) * classes, float(groups * classes))


def test_support_counts_equal_groups_and_discounts_large_ones() -> None:
    groups, labels = np.repeat([0, 1, 2, 3], 5), np.repeat([0, 0, 1, 1], 5)
    equal = Support.of(groups, labels)
    assert equal.held == pytest.approx((2, 2))
    assert equal.groups == pytest.approx(4)
    assert equal.df == pytest.approx(2)
    # class 0: groups of 9 and 1: (9 + 1)^2 / (81 + 1)
    uneven = Support.of(np.r_[np.zeros(9), [1]], np.zeros(10))
    assert uneven.held == pytest.approx((100 / 82,))
    assert equal.fewest(uneven) is uneven
    assert Support.of([], []).df == 0


def test_support_counts_mixed_groups_once() -> None:
    groups, labels = np.tile(np.arange(6), 4), np.repeat(np.arange(4), 6)
    mixed = Support.of(groups, labels)
    assert mixed.held == pytest.approx((6, 6, 6, 6))
    assert mixed.df == pytest.approx(5)  # not 4 * 5


def test_support_does_not_need_every_class() -> None:
    assert Support.of([0, 1], [2, 2]).held == pytest.approx((2,))


def test_interval_is_bootstrap_plus_seed_variance() -> None:
    seeds, draws = [0.1, 0.2, 0.3], np.array([0.1, 0.3])
    found = seed_interval(0.2, seeds, draws, support(5, 2), paired=True)
    error = math.sqrt(0.02 + 0.01 / 3)
    assert found.error == pytest.approx(error)
    assert found.high == pytest.approx(0.2 + t.ppf(0.975, 8) * error)
    assert found.low == pytest.approx(0.2 - t.ppf(0.975, 8) * error)
    assert found.p == pytest.approx(2 * t.sf(0.2 / error, 8))


def test_a_level_gets_what_the_weights_miss() -> None:
    seeds, draws = [0.1, 0.2, 0.3], np.array([0.1, 0.3])
    level = seed_interval(0.2, seeds, draws, support(5, 2), paired=False)
    assert level.error == pytest.approx(math.sqrt(0.02 * 6 / 4 + 0.01 / 3))
    # One seed: the spread over seeds is unknown, so a difference gets the factor too.
    single = seed_interval(0.2, [0.2], draws, support(5, 2), paired=True)
    assert single.error == pytest.approx(math.sqrt(0.02 * 6 / 4))


def test_no_interval_without_groups_or_numbers() -> None:
    for held in (support(1, 2), Support((), 0.0)):
        found = seed_interval(0.2, [0.1, 0.3], [0.1, 0.3], held, paired=True)
        assert found.estimate == 0.2
        assert np.isnan([found.low, found.high, found.p]).all()
    assert np.isnan(seed_interval(0.2, [0.1, np.nan], [0.1, 0.3], support(9, 2), paired=True).low)
    # A level with a class of one test group: nothing is known about the spread of that class.
    assert np.isnan(seed_interval(0.2, [0.1, 0.3], [0.1, 0.3], Support((1.0, 9.0), 10.0), paired=False).low)


def test_no_variation_is_not_certainty() -> None:
    found = seed_interval(0.0, [0.0, 0.0], [0.0, 0.0], support(10, 4), paired=True)
    half = (1 - 0.05 ** (1 / 10)) / 4
    assert (found.low, found.high, found.p) == (pytest.approx(-half), pytest.approx(half), 1.0)
    claimed = seed_interval(1.0, [1.0, 1.0], [1.0, 1.0], support(10, 4), paired=True)
    assert claimed.low == pytest.approx(1 - half)
    assert np.isnan(claimed.p)


def test_within_cuts_only_what_exists() -> None:
    assert Interval(0.9, 0.7, 1.2).within(0, 1).high == 1
    assert np.isnan(Interval(0.9).within(0, 1).high)


def test_icc_of_whole_groups_and_of_none() -> None:
    groups = np.repeat(np.arange(10), 4)
    labels = groups % 2
    whole = np.repeat([1, 1, 0, 0, 1, 1, 0, 0, 1, 0], 4)
    assert intraclass_correlation(whole, groups, labels) == pytest.approx(1.0)
    inside = np.tile([1, 1, 0, 0], 10)  # every group has the same mean: -1 / (m - 1)
    assert intraclass_correlation(inside, groups, labels) == pytest.approx(-1 / 3)


def test_icc_by_hand() -> None:
    # Two groups of two in one class: means 1 and .5, grand .75. MSB = 2 * 2 * .0625 = .25, MSW = .5 / 2 = .25.
    assert intraclass_correlation([1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(0.0)
    # A difference between classes is no dependence: it is taken out.
    assert intraclass_correlation([1, 1, 1, 1, 0, 0, 0, 0], np.repeat(range(4), 2), np.repeat([0, 1], 4)) != 1


def test_icc_recovers_the_truth() -> None:
    rng = np.random.default_rng(0)
    p = np.repeat(rng.beta(0.7 * 4, 0.3 * 4, 4000), 5)  # ICC = 1 / (4 + 1)
    groups = np.repeat(np.arange(4000), 5)
    assert intraclass_correlation(rng.random(20000) < p, groups, groups % 3) == pytest.approx(0.2, abs=0.02)


def test_icc_not_estimable() -> None:
    assert np.isnan(intraclass_correlation([], [], []))
    assert np.isnan(intraclass_correlation([1, 0, 1], [0, 1, 2], [0, 0, 0]))  # singletons
    assert np.isnan(intraclass_correlation([1, 0], [0, 0], [0, 0]))  # one group
    assert np.isnan(intraclass_correlation([1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]))  # no variation


def test_design_effect() -> None:
    assert design_effect([0, 0, 0, 1], 0.5) == pytest.approx(1 + (10 / 4 - 1) * 0.5)
    assert design_effect([0, 0, 1, 1], -0.3) == 1
    assert np.isnan(design_effect([0, 1], float("nan")))
    assert np.isnan(design_effect([], 0.1))


def test_benjamini_and_hochberg_by_hand() -> None:
    assert adjusted([0.01, 0.04, 0.03, float("nan"), 0.5]) == pytest.approx(
        [0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, np.nan, 0.5], nan_ok=True
    )
    assert len(adjusted([])) == 0
