"""What every trainer promises; runs over every file of the folder that needs descriptors only."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from fiftyone_hsd import trainers
from fiftyone_hsd.errors import EmptyError, FieldError
from fiftyone_hsd.model import Descriptors, Run, Samples, SplitPlan, TrainConfig

CHEAP = ("linear_probe", "nearest_neighbour", "random_forest")


def corpus(n: int = 120, d: int = 10, seed: int = 0) -> tuple[Samples, SplitPlan, Descriptors]:
    """Three classes around three directions; the last tenth has no label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    x = np.eye(3, d)[labels] * 2 + rng.normal(0, 0.4, (n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    labels[-n // 10 :] = -1
    part = rng.choice(["train", "val", "test", "sentinel", "unused"], n, p=[0.5, 0.1, 0.2, 0.1, 0.1])
    ids = tuple(f"{i:04d}" for i in rng.permutation(n))
    samples = Samples(ids, ids, labels, ("a", "b", "c", "never"), np.full(n, ""), {}, "")
    return samples, SplitPlan.of("intact", 3, part), Descriptors("x", x.astype(np.float32))


def fit(name: str, samples: Samples, plan: SplitPlan, vectors: Descriptors) -> Run:
    return trainers.by_name(name)(samples, plan, vectors, TrainConfig(name, plan.seed))


def test_the_folder_is_the_registry() -> None:
    assert set(CHEAP) <= set(trainers.names())
    for found in pkgutil.iter_modules(trainers.__path__):
        if found.name.startswith("_"):
            continue
        module = importlib.import_module(f"{trainers.__name__}.{found.name}")
        own = [n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__]
        assert found.name in [n for n in own if not n.startswith("_")]
    with pytest.raises(FieldError, match="lenet5, linear_probe, nearest_neighbour, random_forest"):
        trainers.by_name("__init__")


@pytest.mark.parametrize("name", CHEAP)
class TestEveryTrainer:
    def test_predicts_every_labelled_row_outside_train_and_unused(self, name: str) -> None:
        samples, plan, vectors = corpus()
        run = fit(name, samples, plan, vectors)
        outside = (plan.partition != "train") & (plan.partition != "unused") & (samples.labels >= 0)
        assert run.rows.tolist() == np.flatnonzero(outside).tolist()
        assert run.probabilities.shape == (outside.sum(), 4)
        assert run.probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert (run.condition, run.seed, run.config.model) == ("intact", 3, name)
        assert (run.predicted == samples.labels[run.rows]).mean() > 0.9

    def test_a_class_without_train_samples_has_probability_zero_and_a_note(self, name: str) -> None:
        samples, plan, vectors = corpus()
        part = np.where((samples.labels == 2) & (plan.partition == "train"), "test", plan.partition)
        run = fit(name, samples, SplitPlan.of("intact", 0, part), vectors)
        assert (run.probabilities[:, [2, 3]] == 0).all()
        assert [(n.level, n.examples) for n in run.notes] == [("warning", ("c",))]

    def test_only_train_rows_count(self, name: str) -> None:
        samples, plan, vectors = corpus()
        run = fit(name, samples, plan, vectors)
        changed = vectors.values.copy()
        changed[plan.partition == "val"] = np.roll(changed[plan.partition == "val"], 3, axis=1)
        changed[(samples.labels < 0) & (plan.partition == "train")] = 0
        again = fit(name, samples, plan, Descriptors("x", changed))
        test = plan.partition[run.rows] == "test"
        assert np.array_equal(run.probabilities[test], again.probabilities[test])

    def test_row_order_does_not_matter(self, name: str) -> None:
        samples, plan, vectors = corpus()
        order = np.random.default_rng(1).permutation(len(samples))
        run = fit(name, samples, plan, vectors)
        moved = SplitPlan.of("intact", 3, plan.partition[order])
        other = fit(name, samples.take(order), moved, vectors.take(order))
        back = {samples.ids[r]: p for r, p in zip(run.rows, run.probabilities, strict=True)}
        for r, p in zip(other.rows, other.probabilities, strict=True):
            assert p == pytest.approx(back[samples.ids[order[r]]], abs=1e-6)

    def test_twice_the_same(self, name: str) -> None:
        first, second = fit(name, *corpus()), fit(name, *corpus())
        assert np.array_equal(first.probabilities, second.probabilities)

    def test_a_sample_without_a_vector_gets_the_shares_of_train(self, name: str) -> None:
        samples, plan, vectors = corpus()
        values = vectors.values.copy()
        row = int(np.flatnonzero((plan.partition == "test") & (samples.labels >= 0))[0])
        values[row] = 0
        run = fit(name, samples, plan, Descriptors("x", values))
        train = samples.labels[(plan.partition == "train") & (samples.labels >= 0)]
        shares = np.bincount(train, minlength=4) / len(train)
        assert run.probabilities[run.rows.tolist().index(row)] == pytest.approx(shares, abs=1e-6)

    def test_degenerate_tasks(self, name: str) -> None:
        samples, plan, vectors = corpus()
        for part in ("train", "test", "unused"):
            with pytest.raises(EmptyError):
                fit(name, samples, SplitPlan.of("intact", 0, np.full(len(samples), part)), vectors)
        one = np.where(samples.labels == 0, "train", "test")
        assert (fit(name, samples, SplitPlan.of("intact", 0, one), vectors).predicted == 0).all()
        same = Descriptors("x", np.tile(np.eye(1, 10, dtype=np.float32), (len(samples), 1)))
        assert np.isfinite(fit(name, samples, plan, same).probabilities).all()
        blank = Descriptors("x", np.zeros((len(samples), 10), np.float32))
        assert np.isfinite(fit(name, samples, plan, blank).probabilities).all()

    def test_progress_that_fails_ends_nothing(self, name: str) -> None:
        samples, plan, vectors = corpus()

        def broken(done: int, total: int, label: str) -> None:
            raise RuntimeError(label)

        trainers.by_name(name)(samples, plan, vectors, TrainConfig(name), progress=broken)

    def test_inputs_stay_as_they_are(self, name: str) -> None:
        samples, plan, vectors = corpus()
        before = (samples.labels.copy(), plan.partition.copy(), vectors.values.copy())
        fit(name, samples, plan, vectors)
        after = (samples.labels, plan.partition, vectors.values)
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
