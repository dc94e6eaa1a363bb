"""Exposure by the definition, chance by enumeration, and the numbers that the method states."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from fiftyone_hsd.errors import FieldError, InputError
from fiftyone_hsd.exposure import (
    chance_exposed,
    chances_exposed,
    crossing,
    exposure,
    exposure_levels,
    exposure_rate,
    fold_exposure,
    rates,
    relative_pair_leak,
    similar_to_train,
)
from fiftyone_hsd.model import Descriptors, Grouping, Links, SplitPlan

PARTITION = np.array(["train", "train", "test", "val", "test", "unused", "sentinel", "train", "test"])
GROUPS = np.array([0, 0, 0, 0, 1, 2, 0, 2, -1])
PLAN = SplitPlan.of("existing", 0, PARTITION)


def test_a_small_split_by_hand():
    result = exposure(PLAN, GROUPS)
    assert result.mates_in_train.tolist() == [1, 1, 2, 2, 0, 1, 2, 0, 0]
    assert result.evaluated.tolist() == [False, False, True, True, True, False, True, False, True]
    assert result.exposed.tolist() == [False, False, True, True, False, False, True, False, False]
    assert exposure_rate(result, PARTITION == "test") == pytest.approx(1 / 3)
    assert exposure_rate(result) == pytest.approx(3 / 5)
    assert np.isnan(exposure_rate(result, PARTITION == "no such"))
    assert (result.nearest_train == -1).all()
    assert np.isnan(result.nearest_similarity).all()


def test_test_against_train_and_val():
    partition = np.array(["train", "val", "test", "test"])
    plan = SplitPlan.of("existing", 0, partition)
    assert exposure(plan, [0, 1, 1, 2]).exposed.tolist() == [False, False, False, False]
    both = exposure(plan, [0, 1, 1, 2], train=("train", "val"))
    assert both.exposed.tolist() == [False, False, True, False]
    assert both.evaluated.tolist() == [False, False, True, True]


@pytest.mark.parametrize("seed", range(20))
def test_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    groups = rng.integers(-1, max(1, n // 3), n)
    partition = rng.choice(["train", "val", "test", "unused"], n)
    partition[0] = "train"
    result = exposure(SplitPlan.of("x", 0, partition), groups)
    for i in range(n):
        mates = [j for j in range(n) if j != i and partition[j] == "train" and groups[j] == groups[i] >= 0]
        assert result.mates_in_train[i] == len(mates)
        assert result.exposed[i] == (bool(mates) and partition[i] in ("val", "test"))


def test_a_grouping_and_its_codes_say_the_same():
    grouping = Grouping(GROUPS, Links.of([], [], ""))
    assert (exposure(PLAN, grouping).exposed == exposure(PLAN, GROUPS).exposed).all()
    assert crossing(PLAN, grouping) == crossing(PLAN, GROUPS)


def test_the_most_similar_train_sample():
    angle = np.deg2rad([0, 40, 10, 90, 35, 0, 0, 180, 0])
    values = np.c_[np.cos(angle), np.sin(angle)].astype(np.float32)
    values[8] = 0
    result = exposure(PLAN, GROUPS, Descriptors("angle", values))
    assert result.nearest_train.tolist() == [-1, -1, 0, 1, 1, -1, 0, -1, -1]
    assert result.nearest_similarity[[2, 3, 4]] == pytest.approx(np.cos(np.deg2rad([10, 50, 5])), abs=1e-6)
    assert np.isnan(result.nearest_similarity[[0, 1, 5, 7, 8]]).all()
    assert similar_to_train(result, 0.99).tolist() == [False, False, False, False, True, False, True, False, False]


def test_folds_are_each_tested_against_the_others():
    plan = SplitPlan.of("folds", 0, np.array(["a", "a", "b", "b", "c", "unused", "sentinel"]))
    values = np.eye(7, dtype=np.float32)
    values[4] = values[0]
    result = fold_exposure(plan, [0, 1, 0, 2, 2, 1, 0], Descriptors("x", values))
    assert result.mates_in_train.tolist() == [1, 0, 1, 1, 1, 0, 0]
    assert result.exposed.tolist() == [True, False, True, True, True, False, False]
    assert result.nearest_train[[0, 4]].tolist() == [4, 0]
    split = np.array(["test", "test", "train", "train", "train", "unused", "sentinel"])
    whole = exposure(SplitPlan.of("x", 0, split), [0, 1, 0, 2, 2, 1, 0])
    assert result.exposed[:2].tolist() == [bool(e) for e in whole.exposed[:2]]


def test_every_level_of_grouping():
    levels = exposure_levels(PLAN, {"patient": GROUPS, "field": np.arange(9)})
    assert {k: int(e.exposed.sum()) for k, e in levels.items()} == {"patient": 3, "field": 0}


def test_rates_overall_macro_and_per_class():
    partition = np.array(["train"] * 3 + ["test"] * 5)
    plan = SplitPlan.of("x", 0, partition)
    groups, labels = np.array([0, 1, 1, 0, 0, 1, 2, 3]), np.array([0, 1, 1, 0, 0, 1, 1, -1])
    table = {(r.partition, r.class_name): r for r in rates(exposure(plan, groups), plan, labels, ("a", "b", "none"))}
    assert (table["test", ""].rate, table["test", ""].n) == (pytest.approx(3 / 5), 5)
    assert (table["test", "a"].rate, table["test", "a"].dose) == (1, 1)
    assert (table["test", "b"].rate, table["test", "b"].dose) == (0.5, 1)
    assert (table["test", "(macro)"].rate, table["test", "(macro)"].n) == (0.75, 2)
    assert table["test", "none"].n == 0
    assert np.isnan(table["test", "none"].rate)


def test_crossing_counts_groups_of_two_or_more():
    partition = np.array(["train", "test", "train", "train", "val", "unused", "test"])
    plan = SplitPlan.of("x", 0, partition)
    groups, files, number = crossing(plan, [0, 0, 1, 1, 2, 1, 3])
    assert (groups, files, number) == (0.5, 0.5, 1)
    assert np.isnan(crossing(plan, np.arange(7))[0])


def test_the_pair_leak_of_a_random_deal_is_one_and_of_whole_groups_nought():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(2000), 4)
    names = np.array(["train", "val", "test"])
    whole = names[rng.choice(3, 2000, p=[0.7, 0.15, 0.15])][groups]
    assert relative_pair_leak(SplitPlan.of("x", 0, whole), groups) == 0
    assert relative_pair_leak(SplitPlan.of("x", 0, rng.permutation(whole)), groups) == pytest.approx(1, abs=0.05)
    assert np.isnan(relative_pair_leak(SplitPlan.of("x", 0, whole), np.arange(8000)))


def test_the_pair_leak_by_hand():
    plan = SplitPlan.of("x", 0, np.array(["train", "train", "test", "test", "sentinel", "unused"]))
    # Mate pairs without sentinel and unused: (0, 1), (0, 2), (1, 2); two of three are apart; 1 - 2 * .5^2 = .5.
    assert relative_pair_leak(plan, [0, 0, 0, 1, 0, 0]) == pytest.approx(2 / 3 / 0.5)


def test_the_chances_of_the_method():
    """About 0, .70, .91, .97, .99 for groups of 1 to 5 at 70 % train (section 4, point 9)."""
    chances = [chance_exposed([m], [100_000], [70_000], 0) for m in range(1, 6)]
    assert [round(c, 2) for c in chances] == [0, 0.70, 0.91, 0.97, 0.99]


def test_the_chance_is_that_of_every_deal():
    """Two cells; the test file holds a test place of the first; all deals of the train places are enumerated."""
    cells, groups = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 0, 1, 1])
    train = np.array([1, 1, 0, 0, 1, 0, 0], bool)
    hits = [
        any(groups[j] == groups[0] for j in (*first, *second))
        for first, second in product(combinations([1, 2, 3], 2), combinations([4, 5, 6], 1))
    ]
    assert chance_exposed([2, 1], [4, 3], [2, 1], 0) == pytest.approx(np.mean(hits))
    assert chances_exposed(groups, cells, train)[0] == pytest.approx(np.mean(hits))


@pytest.mark.parametrize("seed", range(5))
def test_all_chances_at_once_are_the_single_ones(seed):
    rng = np.random.default_rng(seed)
    n = 60
    groups, cells, train = rng.integers(0, 20, n), rng.integers(0, 3, n), rng.random(n) < 0.6
    found = chances_exposed(groups, cells, train)
    size, slots = np.bincount(cells, minlength=3), np.bincount(cells[train], minlength=3)
    for i in range(n):
        m = np.bincount(cells[groups == groups[i]], minlength=3)
        assert found[i] == pytest.approx(chance_exposed(m, size, slots, int(cells[i])))


def test_chances_at_the_edges():
    chance = chances_exposed([0, 0, 0, -1, 5], [0, 0, 0, 0, -1], [True, True, False, False, False])
    # Two train places for one outsider: a mate is certainly in train.
    assert chance[:3] == pytest.approx([1, 1, 1])
    assert chance[3] == 0
    assert np.isnan(chance[4])


def test_what_does_not_fit_is_refused():
    with pytest.raises(FieldError, match="no sample is in training"):
        exposure(PLAN, GROUPS, train=("training",))
    with pytest.raises(InputError):
        exposure(PLAN, GROUPS[:-1])
    with pytest.raises(InputError):
        exposure(PLAN, GROUPS, Descriptors("x", np.eye(4, dtype=np.float32)))
