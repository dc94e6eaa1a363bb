"""The smallest change that keeps groups whole, against enumeration of everything that could be done."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fiftyone_hsd.errors import EmptyError, FieldError, InfeasibleError, InputError
from fiftyone_hsd.model import UNUSED
from fiftyone_hsd.splitting.checks import crossing_groups
from fiftyone_hsd.splitting.placements import Bounds, _Programme, placements
from fiftyone_hsd.splitting.repair import CLASS_BOUND, REASONS, SHARE_BOUND, _corpus, _members, repair

PARTS = ("test", "train", "val")


def random_split(n: int, rng: np.random.Generator, share=(0.15, 0.7, 0.15)) -> np.ndarray:
    part = rng.choice(PARTS, n, p=share).astype("<U6")
    part[rng.permutation(n)[:3]] = PARTS
    return part


def by_enumeration(labels, groups, part, freeze, free):
    """(violation, changed, set aside) of the best of all placements: tried one by one, counted sample by sample."""
    codes = np.unique(groups)
    best = (np.inf, np.inf, np.inf)
    for choice in itertools.product(range(7 if free else 4), repeat=len(codes)):
        after = part.copy()
        for g, c in zip(codes, choice, strict=True):
            inside = groups == g
            if freeze and (part[inside] == freeze).any():
                after[inside & (part != freeze)] = UNUSED
                if c:  # one way only
                    break
            elif c == 3:
                after[inside] = UNUSED
            elif c < 3:
                after[inside] = PARTS[c]
            else:
                after[inside & (part != PARTS[c - 4])] = UNUSED
            if c == 3 and not free:
                break
        else:
            found = value(labels, part, after, freeze)
            best = min(best, found)
    return best


def value(labels, part, after, freeze):
    names = [p for p in PARTS if p != freeze]
    if freeze and ((after == freeze) != (part == freeze)).any():
        return (np.inf,) * 3
    if any((after == p).sum() == 0 for p in names):
        return (np.inf,) * 3
    violation = 0.0
    for rows, bound in [(labels >= 0, SHARE_BOUND), *((labels == c, CLASS_BOUND) for c in range(2))]:
        have = np.array([(rows & (part == p)).sum() for p in names])
        got = np.array([(rows & (after == p)).sum() for p in names])
        if have.sum():
            wide = np.abs(got - have / have.sum() * got.sum()) - bound * got.sum()
            violation += max(0.0, wide.max() / have.sum())
        if bound == CLASS_BOUND:
            violation += int(((have > 0) & (got == 0)).sum())
    return (round(violation, 6), int((part != after).sum()), int(((after == UNUSED) & (part != UNUSED)).sum()))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("freeze", [None, "test", "train"])
def test_equals_the_optimum_by_enumeration(freeze: str | None, free: bool) -> None:
    solved = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(4 if free else 5), rng.integers(1, 6, 4 if free else 5))
        labels = np.where(rng.random(len(groups)) < 0.2, rng.integers(0, 2, len(groups)), groups % 2)
        part = random_split(len(groups), rng, (0.3, 0.4, 0.3))
        best = by_enumeration(labels, groups, part, freeze, free)
        if np.isinf(best[0]):
            with pytest.raises(InfeasibleError):
                repair(labels, groups, part, freeze=freeze, set_aside="free" if free else "forced")
            continue
        found = repair(labels, groups, part, freeze=freeze, set_aside="free" if free else "forced")
        assert value(labels, part, found.plan.partition, freeze)[1:] == best[1:], seed
        assert found.optimal
        assert found.least == best[1]
        solved += 1
    assert solved >= (2 if freeze else 10)


def test_promises_hold_on_random_corpora(draw_corpus) -> None:
    repaired = 0
    for seed in range(25):
        corpus = draw_corpus(seed)
        rng = np.random.default_rng([seed, 2])
        part = random_split(len(corpus.labels), rng)
        part[rng.random(len(part)) < 0.05] = UNUSED
        for freeze in (None, "test"):
            try:
                found = repair(corpus.labels, corpus.groups, part, freeze=freeze, ids=corpus.ids, seed=seed)
            except InfeasibleError:
                assert freeze  # every group holds a test sample
                continue
            after = found.plan.partition
            assert not len(crossing_groups(after, corpus.groups))
            assert set(after.tolist()) - {UNUSED} == set(PARTS)
            assert (after[part == UNUSED] == UNUSED).all()
            assert freeze is None or ((part == freeze) == (after == freeze)).all()
            assert freeze is not None or found.set_aside == 0
            assert found.rows.tolist() == np.flatnonzero(part != after).tolist()
            assert found.after.tolist() == after[found.rows].tolist()
            assert found.least <= len(found.rows) == found.moved + found.set_aside
            repaired += 1
    assert repaired >= 40


def test_the_fallback_of_a_free_search_is_the_forced_repair(draw_corpus) -> None:
    corpus = draw_corpus(4)
    part = random_split(len(corpus.labels), np.random.default_rng(4))
    groups, number = (np.unique(v, return_inverse=True)[1] for v in (corpus.groups, part))
    small, _ = _corpus(_members(corpus.labels), groups, number, np.zeros(3, bool))
    options = placements(small, free=True)
    programme = _Programme(small, options, Bounds(SHARE_BOUND, 1.0), 60.0)
    found = programme.solve(options.changed.astype(float), 0.0, only=options.aside == 0)
    forced = repair(corpus.labels, corpus.groups, part, class_bound=1.0)
    assert round(found.fun) == len(forced.rows)
    assert programme.read(found, 0).chosen[options.aside > 0].sum() == 0


def test_a_clean_split_stays_as_it_is(draw_corpus) -> None:
    corpus = draw_corpus(3)
    part = np.array(PARTS)[np.unique(corpus.groups, return_inverse=True)[1] % 3]
    found = repair(corpus.labels, corpus.groups, part)
    assert not len(found.rows)
    assert found.plan.partition.tolist() == part.tolist()
    assert found.optimal


def test_rows_may_come_in_any_order(draw_corpus) -> None:
    corpus = draw_corpus(5)
    rng = np.random.default_rng(1)
    part = random_split(len(corpus.labels), rng)
    order = rng.permutation(len(part))
    one = repair(corpus.labels, corpus.groups, part, ids=corpus.ids)
    other = repair(corpus.labels[order], corpus.groups[order], part[order], ids=[corpus.ids[i] for i in order])
    assert one.plan.partition[order].tolist() == other.plan.partition.tolist()
    assert one.plan.digest == other.plan.digest


def test_mates_of_a_frozen_test_are_set_aside_and_train_and_val_come_together() -> None:
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5])
    part = np.array(["test", "train", "val", "train", "train", "val", "train", "train", "val", "val", "train", "test"])
    found = repair(np.zeros(12, int), groups, part, freeze="test", share_bound=1, class_bound=1)
    after = dict(zip(found.rows.tolist(), found.after.tolist(), strict=True))
    assert after == {1: UNUSED, 2: UNUSED, 5: "train"}
    assert found.reason.tolist() == [REASONS[1], REASONS[1], REASONS[0]]
    assert dict(found.sizes) == {"test": (2, 2), "train": (6, 6), "val": (4, 2), UNUSED: (0, 2)}
    assert (found.moved, found.set_aside, found.freeze) == (1, 2, "test")


def test_a_train_that_reaches_every_group_cannot_be_frozen() -> None:
    groups, part = np.repeat(np.arange(4), 2), np.tile(["train", "test"], 4)
    with pytest.raises(InfeasibleError, match=r"every group has a sample in the frozen partition train.*left for test"):
        repair(np.zeros(8, int), groups, part, freeze="train")


def test_bounds_that_were_asked_for_hold_or_are_refused() -> None:
    rng = np.random.default_rng(0)
    groups, labels = np.repeat(np.arange(90), 6), np.repeat(np.arange(90) % 3, 6)
    part = random_split(540, rng)
    shares = {p: (part == p).mean() for p in PARTS}
    free, tight = (repair(labels, groups, part, share_bound=b, class_bound=1.0) for b in (1.0, 0.005))
    assert len(free.rows) < len(tight.rows)
    after = tight.plan.partition
    assert all(abs((after == p).mean() - shares[p]) <= 0.005 for p in PARTS)
    assert any(abs((free.plan.partition == p).mean() - shares[p]) > 0.05 for p in PARTS)
    assert [n.topic for n in tight.plan.notes] == ["repair"]
    with pytest.raises(InfeasibleError, match=r"share_bound 0\.\d+"):
        repair(labels, groups, part, share_bound=0.0001)


def test_default_bounds_are_widened_where_whole_groups_need_it_and_that_is_said() -> None:
    groups = np.array([0] * 6 + [1] * 6)
    part = np.array(["train"] * 5 + ["test"] + ["train"] * 5 + ["test"])
    found = repair(np.zeros(12, int), groups, part)
    assert sorted(np.unique(found.plan.partition, return_counts=True)[1].tolist()) == [6, 6]
    assert len(found.rows) == 6
    assert {n.topic: n.level for n in found.plan.notes} == {
        "repair": "info",
        "fractions": "warning",
        "class shares": "warning",
    }


def test_a_class_without_groups_enough_is_named() -> None:
    groups = np.array([*np.repeat(np.arange(9), 4), 9, 9])
    labels = np.array([0] * 36 + [1, 1])
    part = np.array([*np.repeat(["train", "val", "test"], 12), "train", "test"])
    found = repair(labels, groups, part, names=("common", "rare"))
    (note,) = [n for n in found.plan.notes if n.topic == "class absent"]
    assert "rare is absent from" in note.text
    assert len(found.rows) == 1


def test_several_labels_and_no_labels(draw_corpus) -> None:
    corpus = draw_corpus(8)
    rng = np.random.default_rng(0)
    part = random_split(len(corpus.labels), rng)
    several = np.eye(corpus.labels.max() + 1, dtype=bool)[corpus.labels]
    single = repair(corpus.labels, corpus.groups, part)
    assert repair(several, corpus.groups, part).plan.partition.tolist() == single.plan.partition.tolist()
    none = repair(np.full(len(part), -1), corpus.groups, part)
    assert not len(crossing_groups(none.plan.partition, corpus.groups))
    assert len(none.rows) <= len(single.rows)


def test_partitions_with_any_name(draw_corpus) -> None:
    corpus = draw_corpus(2)
    part = np.array(["fold \udcff", "a\nb", "c"])[np.arange(len(corpus.labels)) % 3]
    found = repair(corpus.labels, corpus.groups, part)
    assert set(found.plan.partition.tolist()) == {"fold \udcff", "a\nb", "c"}


def test_what_cannot_be_used_is_said() -> None:
    labels, groups, part = np.zeros(4, int), np.array([0, 0, 1, 1]), np.array(["train", "test", "train", "test"])
    with pytest.raises(FieldError, match="test, train"):
        repair(labels, groups, part, freeze="tset")
    with pytest.raises(EmptyError):
        repair(labels, groups, np.full(4, UNUSED))
    with pytest.raises(InputError, match="share_bound"):
        repair(labels, groups, part, share_bound=-0.1)
    with pytest.raises(InputError, match="forced"):
        repair(labels, groups, part, set_aside="never")
    with pytest.raises(InputError, match="n each"):
        repair(labels, groups[:3], part)
    with pytest.raises(InputError, match="-1"):
        repair(labels, np.array([0, 0, -1, 1]), part)


def test_nothing_of_the_caller_changes() -> None:
    groups, part = np.array([0, 0, 1, 1, 2, 2]), np.array(["train", "test"] * 3)
    copies = groups.copy(), part.copy()
    repair(np.zeros(6, int), groups, part)
    assert (groups == copies[0]).all()
    assert (part == copies[1]).all()


@pytest.mark.data
def test_a_leaking_split_of_real_images_needs_no_more_than_the_optimum(real_data) -> None:
    import csv

    with (real_data / "blood_cells" / "groups.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = np.unique([r["group"] for r in rows], return_inverse=True)[1]
    labels = np.unique([r["label"] for r in rows], return_inverse=True)[1]
    part = random_split(len(rows), np.random.default_rng(0))
    found = repair(labels, groups, part)
    # Without any bound each group would follow its largest part: nothing can change fewer samples.
    table = np.array([[((groups == g) & (part == p)).sum() for p in PARTS] for g in range(groups.max() + 1)])
    fewest = int((table.sum(axis=1) - table.max(axis=1)).sum())
    assert fewest < len(found.rows) == found.least
    assert repair(labels, groups, part, share_bound=1.0, class_bound=1.0).least >= fewest
