"""No sample is judged by a model that saw it, and in group folds by none that saw a mate."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.drawn import SMALL, vectors
from fiftyone_hsd.errors import FieldError, InfeasibleError, InputError
from fiftyone_hsd.model import Descriptors, Grouping, Links, Samples
from fiftyone_hsd.out_of_fold import KINDS, group_folds, out_of_fold, random_folds

NONE = Links.of([], [], "")


def corpus(labels, values, classes="abcdef"):
    n = len(labels)
    ids = tuple(f"{i:04d}.png" for i in range(n))
    unit = np.asarray(values, np.float64)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    samples = Samples(ids, tuple(f"/x/{i}" for i in ids), labels, tuple(classes), np.full(n, ""), {}, "/x")
    return samples, Descriptors("drawn", unit.astype(np.float32))


@pytest.fixture(scope="module")
def drawn():
    found = vectors(SMALL)
    return found.samples, Grouping(found.groups, NONE), found.descriptors


@pytest.mark.parametrize("kind", KINDS)
def test_every_labelled_sample_is_in_one_fold_and_gets_a_distribution(drawn, kind):
    found = out_of_fold(*drawn, kind=kind, k=4, seeds=2)
    assert found.evaluated.all()
    assert np.allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    assert len({p.digest for p in found.plans}) == 2
    for plan in found.plans:
        assert set(plan.partition.tolist()) == {f"fold{i}" for i in range(4)}
        torn = sum(len(set(plan.partition[drawn[1].codes == g])) > 1 for g in range(drawn[1].n_groups))
        assert torn == 0 if kind == "group" else torn > drawn[1].n_groups / 2


def test_random_folds_hold_every_class_evenly_whatever_the_order_of_rows(drawn):
    samples = drawn[0]
    plan = random_folds(samples, 5, 1)[0]
    for c in range(3):
        counts = [int(((samples.labels == c) & (plan.partition == f"fold{i}")).sum()) for i in range(5)]
        assert max(counts) - min(counts) <= 1
    order = np.random.default_rng(0).permutation(len(samples))
    assert random_folds(samples.take(order), 5, 1)[0].digest == plan.digest


def test_a_noise_vector_that_only_mates_share_helps_in_random_folds_alone():
    """Groups of four with vectors of their own and random labels: 1-NN finds the mate, and knows nothing without it."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(60), 4)
    labels = rng.integers(0, 2, 60)[codes].astype(np.int32)
    samples, vectors_ = corpus(labels, rng.normal(size=(60, 16))[codes] + 0.01 * rng.normal(size=(240, 16)), "ab")
    right = {
        kind: (
            out_of_fold(samples, Grouping(codes, NONE), vectors_, "nearest_neighbour", kind=kind).probabilities.argmax(
                1
            )
            == labels
        ).mean()
        for kind in KINDS
    }
    assert right["random"] == 1
    assert 0.3 < right["group"] < 0.7


def test_what_cannot_be_learned_is_not_evaluated_and_said_by_name():
    rng = np.random.default_rng(1)
    labels = np.array([0] * 20 + [1] * 20 + [2] * 4 + [-1] * 2, np.int32)
    codes = np.r_[np.arange(40) // 4, [10] * 4, [11, 12]]
    samples, vectors_ = corpus(labels, rng.normal(size=(46, 8)), "abc")
    found = out_of_fold(samples, Grouping(codes, NONE), vectors_)
    assert np.flatnonzero(~found.evaluated).tolist() == list(range(40, 46))
    (note,) = found.notes
    assert (note.level, note.count, note.examples) == ("not evaluated", 4, ("c",))
    assert (found.plans[0].partition[44:] == "unused").all()
    assert out_of_fold(samples, Grouping(codes, NONE), vectors_, kind="random").evaluated.sum() == 44


def test_one_seed_one_result(drawn):
    first, again = (out_of_fold(*drawn, kind="random", seeds=2) for _ in range(2))
    assert np.array_equal(first.probabilities, again.probabilities)


def test_what_has_no_folds():
    samples, vectors_ = corpus(np.array([0, 0, 1, 1], np.int32), np.eye(4), "ab")
    one = Grouping(np.zeros(4, np.int64), NONE)
    with pytest.raises(InfeasibleError, match="one group"):
        group_folds(samples, one, 5, 1)
    with pytest.raises(InfeasibleError, match="1 classes"):
        out_of_fold(samples.take([0, 1]), Grouping([0, 1], NONE), vectors_.take([0, 1]), kind="random")
    with pytest.raises(InputError, match="kind"):
        out_of_fold(samples, one, vectors_, kind="whole")
    with pytest.raises(InputError, match="length"):
        out_of_fold(samples, Grouping([0], NONE), vectors_)
    with pytest.raises(FieldError, match="linear_probe"):
        out_of_fold(samples, one, vectors_, "nothing")
