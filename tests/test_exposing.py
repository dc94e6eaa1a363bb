"""Each exposed sample names the train samples that expose it, and the links that lead there."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.errors import FieldError, InputError
from fiftyone_hsd.exposing import exposing
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import Descriptors, Grouping, Links, SplitPlan


def plan_of(*parts: str) -> SplitPlan:
    return SplitPlan.of("existing", 0, parts)


def chain() -> Grouping:
    """0 - 1 - 2 - 3 by three kinds of evidence, 0 - 1 by two of them; 4 alone; 5 - 6 turned down."""
    links = Links.concat(
        [
            Links.of([0], [1], "name", "n", 0.9),
            Links.of([1], [0], "bytes", "b", 1.0),
            Links.of([1], [2], "similarity", "s", 0.6),
            Links.of([2], [3], "given", "g", 0.8),
            Links(np.array([5]), np.array([6]), ["similarity"], [0.4], ["no"], [False]),
        ]
    )
    return Grouping([0, 0, 0, 0, 1, 2, 3], links)


def test_evidence_is_that_of_the_way_and_direct_links_come_first() -> None:
    found = exposing(plan_of("test", "train", "val", "train", "train", "test", "train"), chain())
    table = {
        (a, b): (e, t, w)
        for a, b, e, t, w in zip(found.sample, found.train, found.evidence, found.through, found.weakest, strict=True)
    }
    assert table == {
        (0, 1): ("bytes+name", 0, 1.0),
        (0, 3): ("bytes+given+name+similarity", 2, 0.6),
        (2, 1): ("similarity", 0, 0.6),
        (2, 3): ("given", 0, 0.8),
    }
    assert found.total == 4
    assert found.sample.tolist() == [0, 0, 2, 2]
    assert np.isnan(found.similarity).all()


def test_bounded_in_number_with_the_total() -> None:
    codes = np.zeros(40, int)
    plan = plan_of(*["train"] * 30, *["test"] * 10)
    for grouping in (codes, Grouping(codes, Links.from_codes(codes, "given", "g", 0.5))):
        found = exposing(plan, grouping, most=3)
        assert len(found) == 30
        assert found.total == 300
        assert np.bincount(found.sample)[30:].tolist() == [3] * 10
    linked = exposing(plan, Grouping(codes, Links.from_codes(codes, "given")), most=100)
    assert len(linked) == linked.total == 300
    # a star: directly to its hub, over it to all others
    assert sorted(linked.through.tolist()) == [0] * 10 + [1] * 290


def test_without_links_the_pairs_stand_without_evidence() -> None:
    found = exposing(plan_of("train", "test", "test"), [4, 4, 9])
    assert (found.sample.tolist(), found.train.tolist()) == ([1], [0])
    assert (found.evidence.tolist(), found.through.tolist()) == ([""], [-1])


def test_every_exposed_sample_of_a_random_split_and_no_other() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        codes = rng.integers(0, 30, 100)
        plan = plan_of(*np.random.default_rng(seed).choice(["train", "val", "test", "unused"], 100))
        found = exposing(plan, Grouping(codes, Links.from_codes(codes, "given")), most=1000)
        expected = {
            (a, b)
            for a in range(100)
            for b in range(100)
            if codes[a] == codes[b] and plan.partition[b] == "train" and plan.partition[a] in ("val", "test")
        }
        assert set(zip(found.sample.tolist(), found.train.tolist(), strict=True)) == expected
        assert len(found) == found.total == len(expected)
        assert set(found.sample.tolist()) == set(np.flatnonzero(exposure(plan, codes).exposed).tolist())
        assert (found.evidence == "given").sum() >= (found.through >= 0).sum()


def test_levels_train_and_similarity() -> None:
    vectors = Descriptors("d", np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))
    plan = plan_of("train", "val", "test")
    found = exposing(plan, {"patient": [0, 0, 0], "slide": [0, 0, 1]}, vectors)
    assert list(zip(found.level.tolist(), found.sample.tolist(), strict=True)) == [
        ("patient", 1),
        ("patient", 2),
        ("slide", 1),
    ]
    np.testing.assert_allclose(found.similarity, [0.6, 0, 0.6], atol=1e-6)
    both = exposing(plan, [0, 0, 0], vectors, train=("train", "val"))
    assert (both.sample.tolist(), both.train.tolist()) == ([2, 2], [0, 1])


def test_nothing_exposed_is_an_empty_list() -> None:
    found = exposing(plan_of("train", "test"), [0, 1])
    assert (len(found), found.total, len(found.evidence)) == (0, 0, 0)


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(InputError, match="most"):
        exposing(plan_of("train", "test"), [0, 0], most=0)
    with pytest.raises(InputError, match="descriptors"):
        exposing(plan_of("train", "test"), [0, 0], Descriptors("d", np.eye(3, dtype=np.float32)))
    with pytest.raises(FieldError):
        exposing(plan_of("a", "b"), [0, 0])
