"""Folds, sources left out, and time: what must never cross."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fiftyone_hsd.errors import InfeasibleError, InputError
from fiftyone_hsd.splitting.checks import crossing_groups, seed_overlap
from fiftyone_hsd.splitting.folds import fold_as_split, folds, leave_one_source_out, time_forward


def topics(plan):
    return Counter(n.topic for n in plan.notes)


def test_folds_hold_whole_groups_of_every_class_and_repeats_differ():
    groups = np.repeat(np.arange(40), 3)
    plans = folds(groups % 3, groups, 4, seed=7, repeats=3)
    assert [p.seed for p in plans] == [7, 8, 9]
    for plan in plans:
        assert sorted(set(plan.partition.tolist())) == ["fold0", "fold1", "fold2", "fold3"]
        assert not len(crossing_groups(plan.partition, groups))
        assert len(set(zip((groups % 3).tolist(), plan.partition.tolist(), strict=True))) == 12
    assert len({p.digest for p in plans}) == 3
    assert 0 <= seed_overlap(plans, "fold0") < 0.5
    assert np.isnan(seed_overlap(plans[:1]))


def test_one_fold_as_test():
    plan = folds(np.zeros(9, int), np.arange(9), 3, seed=0)[0]
    split = fold_as_split(plan, "fold1")
    assert (split.partition == np.where(plan.partition == "fold1", "test", "train")).all()
    with pytest.raises(InputError):
        fold_as_split(plan, "fold9")


def test_numbers_of_folds_that_make_no_sense():
    with pytest.raises(InputError):
        folds([0, 1], [0, 1], 1, seed=0)
    with pytest.raises(InfeasibleError):
        folds([0, 0], [0, 1], 3, seed=0)


def test_each_source_is_left_out_once_and_groups_do_not_cross():
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    source = np.array(["a", "b", "a", "a", "b", "b", "c", "c", "c"])
    labels = np.array([0, 0, 1, 1, 0, 1, 0, 1, 2])
    plans = leave_one_source_out(labels, groups, source, names=("x", "y", "z"))
    assert [p.condition for p in plans] == ["without a", "without b", "without c"]
    for plan, s in zip(plans, "abc", strict=True):
        assert ((plan.partition == "test") == (source == s)).all()
        assert not len(crossing_groups(plan.partition, groups))
    assert plans[0].partition.tolist() == ["test", "unused", "test", "test"] + ["train"] * 5
    assert topics(plans[0])["groups in several sources"] == 1
    (note,) = (n for n in plans[2].notes if n.topic == "class absent")
    assert "class z is in test but not in train" in note.text


def test_class_equal_to_source_is_refused():
    with pytest.raises(InfeasibleError, match="every class comes from one source only") as caught:
        leave_one_source_out([0, 0, 1, 1], [0, 1, 2, 3], ["a", "a", "b", "b"])
    assert "no split identifies performance" in caught.value.advice
    with pytest.raises(InfeasibleError, match="one source"):
        leave_one_source_out([0, 1], [0, 1], ["a", "a"])


@pytest.mark.parametrize("seed", range(10))
def test_train_is_older_than_test(seed, three):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 120, 600)
    start = rng.random(120) * 1000
    times = start[groups] + rng.random(600) * 20
    plan = time_forward(groups % 2, groups, times, three)
    assert not len(crossing_groups(plan.partition, groups))
    by = {s: times[plan.partition == s] for s in three}
    assert by["train"].max() < by["val"].min() <= by["val"].max() < by["test"].min()
    assert (plan.partition == "train").mean() == pytest.approx(0.7, abs=0.08)


def test_a_group_that_lasts_throughout_is_set_aside():
    groups, times = np.r_[np.arange(20), 99, 99], np.r_[np.arange(20), 0, 19]
    plan = time_forward(np.zeros(22, int), groups, times, {"train": 0.5, "test": 0.5})
    assert plan.partition[-2:].tolist() == ["unused", "unused"]
    assert topics(plan)["groups across time"] == 1
    days = times.astype("datetime64[D]")
    assert time_forward(np.zeros(22, int), groups, days, {"train": 0.5, "test": 0.5}).digest == plan.digest


def test_time_that_cannot_split_is_refused():
    with pytest.raises(InfeasibleError):
        time_forward([0, 0, 0], [0, 1, 2], [5, 5, 5], {"train": 0.5, "test": 0.5})
    with pytest.raises(InputError):
        time_forward([0, 0], [0, 1], [5.0, float("nan")], {"train": 0.5, "test": 0.5})
