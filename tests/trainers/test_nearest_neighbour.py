"""1-NN against a loop, and its ties."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.model import Descriptors, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.trainers.nearest_neighbour import nearest_neighbour


def unit(x: np.ndarray) -> np.ndarray:
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)


def test_is_the_label_of_the_most_similar_train_sample() -> None:
    rng = np.random.default_rng(0)
    x, labels = unit(rng.normal(size=(60, 5))), rng.integers(0, 4, 60)
    part = np.where(np.arange(60) < 40, "train", "test")
    ids = tuple(f"{i:02d}" for i in range(60))
    samples = Samples(ids, ids, labels, tuple("abcd"), np.full(60, ""), {}, "")
    run = nearest_neighbour(samples, SplitPlan.of("random", 0, part), Descriptors("x", x), TrainConfig("1nn"))
    expected = [labels[max(range(40), key=lambda j: float(x[j] @ x[i]))] for i in range(40, 60)]
    assert run.predicted.tolist() == expected
    assert set(np.unique(run.probabilities)) == {0.0, 1.0}


def test_equal_neighbours_are_decided_by_the_smallest_id() -> None:
    """Three identical train images with three labels: the smallest id wins, in whatever order they come."""
    rng = np.random.default_rng(1)
    base = unit(rng.normal(size=(1, 300)))
    x = np.vstack([np.repeat(base, 4, axis=0), unit(rng.normal(size=(40, 300)))])
    labels = np.r_[[0, 1, 2, 0], rng.integers(0, 3, 40)]
    part = np.array(["train"] * 3 + ["test"] + ["train"] * 40)
    for order in (np.arange(44), np.arange(44)[::-1], rng.permutation(44)):
        for smallest in range(3):
            names = [f"m{i:02d}" for i in range(44)]
            names[smallest] = "a"
            ids = tuple(names[i] for i in order)
            samples = Samples(ids, ids, labels[order], tuple("abc"), np.full(44, ""), {}, "")
            plan = SplitPlan.of("random", 0, part[order])
            run = nearest_neighbour(samples, plan, Descriptors("x", x[order]), TrainConfig("1nn"))
            assert run.predicted.tolist() == [smallest]


def test_what_differs_by_rounding_only_is_equal() -> None:
    base = unit(np.random.default_rng(2).normal(size=(1, 64)))
    near = base.copy()
    near[0, 0] = np.nextafter(np.nextafter(near[0, 0], np.float32(2)), np.float32(2))
    away = unit(np.eye(1, 64))
    x = np.vstack([near, base, away, base])
    samples = Samples(tuple("abcd"), tuple("abcd"), np.array([0, 1, 2, 0]), tuple("xyz"), np.full(4, ""), {}, "")
    plan = SplitPlan.of("random", 0, np.array(["train"] * 3 + ["test"]))
    assert nearest_neighbour(samples, plan, Descriptors("x", x), TrainConfig("1nn")).predicted.tolist() == [0]
    swapped = Samples(tuple("bacd"), tuple("bacd"), np.array([0, 1, 2, 0]), tuple("xyz"), np.full(4, ""), {}, "")
    assert nearest_neighbour(swapped, plan, Descriptors("x", x), TrainConfig("1nn")).predicted.tolist() == [1]
