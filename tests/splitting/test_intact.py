"""Whole groups, class-stratified: what must hold, and what must be said where it cannot."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from fiftyone_hsd.errors import EmptyError, InfeasibleError, InputError
from fiftyone_hsd.splitting import intact


def objective(labels, partition, fractions):
    total = 0.0
    for c in np.unique(labels):
        inside = labels == c
        total += sum(
            abs((inside & (partition == s)).sum() - f * inside.sum()) / inside.sum() for s, f in fractions.items()
        )
    return total


def groups_per_partition(labels, groups, partition):
    held = defaultdict(set)
    for c, g, p in zip(labels.tolist(), groups.tolist(), partition.tolist(), strict=True):
        held[c, p].add(g)
    return held


def disjoint(groups, partition):
    where = defaultdict(set)
    for g, p in zip(groups.tolist(), partition.tolist(), strict=True):
        where[g].add(p)
    return all(len(p) == 1 for p in where.values())


def notes_of(plan, topic):
    return [n for n in plan.notes if n.topic == topic]


@pytest.mark.parametrize("block", range(5))
def test_random_corpora(block, draw_corpus, three):
    for seed in range(20 * block, 20 * block + 20):
        c = draw_corpus(seed)
        plan = intact(c.labels, c.groups, three, seed=seed, ids=c.ids)
        assert disjoint(c.groups, plan.partition)
        assert set(plan.partition.tolist()) == set(three)
        held = groups_per_partition(c.labels, c.groups, plan.partition)
        for k in np.unique(c.labels):
            absent = [s for s in three if not held[k, s]]
            named = [n for n in notes_of(plan, "class absent") if n.examples == (f"class {k}",)]
            assert bool(absent) == bool(named)
            if absent:
                assert all(s in named[0].text for s in absent)
                assert len(np.unique(c.groups[c.labels == k])) < 3, "a class with three groups or more is absent"
        assert len(notes_of(plan, "fractions")) == 1


@pytest.mark.parametrize("seed", range(8))
def test_the_objective_is_optimal_on_small_corpora(seed):
    """Against every assignment of 8 groups to 2 or 3 partitions that keeps the same classes everywhere."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 8)
    groups = np.repeat(np.arange(8), sizes)
    labels = np.where(rng.random(len(groups)) < 0.3, rng.integers(0, 2, len(groups)), groups % 2)
    fractions = {"a": 0.6, "b": 0.4} if seed % 2 else {"a": 0.5, "b": 0.25, "c": 0.25}
    names = np.array(list(fractions))
    plan = intact(labels, groups, fractions, seed=seed)
    full = {(c, s) for c in (0, 1) for s in fractions}
    best = min(
        (
            objective(labels, names[np.array(codes)][groups], fractions)
            for codes in product(range(len(names)), repeat=8)
            if {k for k, v in groups_per_partition(labels, groups, names[np.array(codes)][groups]).items() if v} == full
        ),
    )
    assert objective(labels, plan.partition, fractions) == pytest.approx(best, abs=1e-9)


def test_test_holds_five_groups_of_each_class_where_its_share_allows_it(three):
    groups = np.repeat(np.arange(80), np.r_[np.full(40, 1), np.full(40, 8)])
    plan = intact(groups % 2, groups, three, seed=0)
    held = groups_per_partition(groups % 2, groups, plan.partition)
    assert all(len(held[c, "test"]) >= 5 for c in (0, 1))


def test_group_size_does_not_follow_the_partition(three):
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, np.round(rng.lognormal(2, 1, 600)).astype(int))
    groups = np.repeat(np.arange(600), sizes)
    ratios = []
    for seed in range(5):
        plan = intact(groups % 3, groups, three, seed=seed)
        mean = {s: sizes[np.unique(groups[plan.partition == s])].mean() for s in three}
        ratios.append(mean["test"] / mean["train"])
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


def test_different_seeds_put_different_groups_into_test(three):
    groups = np.repeat(np.arange(60), 4)
    tests = [frozenset(groups[intact(groups % 3, groups, three, seed=s).partition == "test"]) for s in range(5)]
    assert len(set(tests)) == 5


def test_rare_classes_are_named_and_go_to_train_and_test_first(odd_corpora, three):
    c = odd_corpora["rare classes of 1, 2, 3 groups"]
    plan = intact(c.labels, c.groups, three, seed=0, names=("a", "b", "one", "two", "three"))
    held = groups_per_partition(c.labels, c.groups, plan.partition)
    assert [s for s in three if held[2, s]] == ["train"]
    assert [s for s in three if held[3, s]] == ["train", "test"]
    assert [s for s in three if held[4, s]] == ["train", "val", "test"]
    absent = {n.examples[0]: n.text for n in notes_of(plan, "class absent")}
    assert set(absent) == {"one", "two"}
    assert "1 group for 3 partitions" in absent["one"]
    assert "nothing can be said about it in val and test" in absent["one"]
    assert "2 groups for 3 partitions" in absent["two"]


def test_a_giant_group_is_named(odd_corpora, three):
    c = odd_corpora["giant group"]
    plan = intact(c.labels, c.groups, three, seed=0)
    (note,) = notes_of(plan, "giant group")
    assert "40.0%" in note.text
    assert "val, test" in note.text


@pytest.mark.parametrize("folder", ["coil20", "yale_a"])
@pytest.mark.data
def test_one_group_a_class_is_refused_by_name(folder, real_data, three):
    with (real_data / folder / "groups.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    key = "group" if "group" in rows[0] else next(k for k in rows[0] if k not in ("path", "label"))
    names = sorted({r["label"] for r in rows})
    labels = np.array([names.index(r["label"]) for r in rows])
    groups = np.unique([r[key] for r in rows], return_inverse=True)[1]
    with pytest.raises(InfeasibleError, match="every class is one single group") as caught:
        intact(labels, groups, three, seed=0, names=names)
    assert names[0] in str(caught.value)
    assert "collect more groups a class" in caught.value.advice


def test_fewer_groups_than_partitions_are_refused(three):
    with pytest.raises(InfeasibleError, match="there are 2 groups for 3 partitions"):
        intact([0, 0, 0], [0, 1, 1], three, seed=0)
    with pytest.raises(InfeasibleError, match="the only class is one single group"):
        intact([0, 0], [5, 5], three, seed=0)
    with pytest.raises(InfeasibleError, match="one single group holds all classes"):
        intact([0, 1, 2], [5, 5, 5], three, seed=0)


def test_no_partition_is_empty_even_where_every_class_has_too_few_groups(three):
    labels, groups = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 3])
    assert set(intact(labels, groups, three, seed=0).partition.tolist()) == set(three)


@pytest.mark.parametrize(
    ("labels", "groups", "options"),
    [
        ([0, -1, 0], [0, 1, 2], {}),
        ([0, 1, 0], [0, -1, 2], {}),
        ([0, 1], [0, 1, 2], {}),
        ([0.5, 1, 0], [0, 1, 2], {}),
        ([0, 1, 0], [0, 1, 2], {"ids": ["a", "a", "b"]}),
        ([0, 1, 0], [0, 1, 2], {"unknown": "drop"}),
        ([[0, 2], [1, 0], [0, 1]], [0, 1, 2], {}),
        ([0, 1, 0], [0, 1, 2], {"source": [1, 2]}),
    ],
)
def test_unusable_input_is_refused(labels, groups, options, three):
    with pytest.raises(InputError):
        intact(labels, groups, three, seed=0, **options)


def test_no_samples_are_refused(three):
    with pytest.raises(EmptyError):
        intact(np.zeros(0, int), np.zeros(0, int), three, seed=0)


@pytest.mark.parametrize(
    "fractions",
    [{"train": 1.0}, {"train": 0.7, "test": 0.2}, {"train": 1.2, "test": -0.2}, {"train": 0.7, "unused": 0.3},
     {"train": float("nan"), "test": 0.5}],
)  # fmt: skip
def test_unusable_fractions_are_refused(fractions):
    with pytest.raises(InputError):
        intact([0, 0, 1, 1], [0, 1, 2, 3], fractions, seed=0)


def test_unknown_groups_become_singletons_on_request(three):
    groups = np.r_[np.repeat(np.arange(20), 3), np.full(40, -1)]
    plan = intact(np.arange(100) % 2, groups, three, seed=0, unknown="singleton")
    assert disjoint(groups[groups >= 0], plan.partition[groups >= 0])
    assert len(set(plan.partition[groups < 0].tolist())) == 3


def test_the_callers_arrays_and_the_global_state_stay(three):
    labels, groups = np.arange(60) % 2, np.repeat(np.arange(20), 3)
    before, state = (labels.copy(), groups.copy()), np.random.get_state()[1].copy()  # noqa: NPY002
    intact(labels, groups, three, seed=0)
    assert (labels == before[0]).all()
    assert (groups == before[1]).all()
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_sources_are_spread_where_classes_allow_it(three):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 4)
    source = rng.integers(0, 3, 300)[groups]
    plan = intact(np.zeros(len(groups), int), groups, three, seed=0, source=source)
    for s in range(3):
        for part, f in three.items():
            assert (plan.partition[source == s] == part).mean() == pytest.approx(f, abs=0.02)


def test_several_labels_a_sample(three):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(200), 3)
    several = rng.random((600, 4)) < [0.5, 0.2, 0.1, 0.05]
    plan = intact(several, groups, three, seed=0)
    assert disjoint(groups, plan.partition)
    for column in [*several.T, ~several.any(axis=1)]:
        for part, f in three.items():
            assert (plan.partition[column] == part).mean() == pytest.approx(f, abs=max(0.01, 1.5 / column.sum()))
