"""The probe against scikit-learn's Ridge on standardised features, and its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Descriptors, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.trainers import linear_probe as file
from fiftyone_hsd.trainers.linear_probe import linear_probe


def task(n: int = 90, d: int = 20) -> tuple[Samples, SplitPlan, Descriptors]:
    rng = np.random.default_rng(0)
    labels = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    x = np.eye(3, d)[labels] + rng.normal(0, 0.5, (n, d))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    ids = tuple(f"{i:03d}" for i in range(n))
    samples = Samples(ids, ids, labels, ("a", "b", "c"), np.full(n, ""), {}, "")
    return samples, SplitPlan.of("random", 0, np.where(np.arange(n) % 3 > 0, "train", "test")), Descriptors("x", x)


def expected(samples: Samples, plan: SplitPlan, vectors: Descriptors, strength: float) -> np.ndarray:
    train, test = plan.rows("train"), plan.rows("test")
    x, y = vectors.values[train].astype(float), samples.labels[train]
    scaled = (vectors.values.astype(float) - x.mean(0)) / x.std(0)
    weight = (len(y) / 3 / np.bincount(y))[y]
    model = Ridge(alpha=strength * len(y)).fit(scaled[train], np.eye(3)[y], sample_weight=weight)
    scores = np.exp(5 * model.predict(scaled[test]))
    return np.asarray(scores / scores.sum(1, keepdims=True))


@pytest.mark.parametrize("strength", [0.01, 1.0])
@pytest.mark.parametrize("block", [7, 8192])
def test_is_weighted_ridge_on_standardised_features(
    strength: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "BLOCK", block)
    samples, plan, vectors = task()
    run = linear_probe(samples, plan, vectors, TrainConfig("linear_probe", 0, (("strength", strength),)))
    assert run.probabilities == pytest.approx(expected(samples, plan, vectors, strength), abs=1e-5)


def test_more_features_than_samples() -> None:
    samples, plan, vectors = task(30, 200)
    run = linear_probe(samples, plan, vectors, TrainConfig("linear_probe"))
    assert run.probabilities == pytest.approx(expected(samples, plan, vectors, 0.01), abs=1e-4)


def test_a_feature_that_train_hardly_shows_does_not_rule() -> None:
    samples, plan, vectors = task()
    x, test = vectors.values.astype(float), plan.rows("test")
    x[:, 19] = 1e-6 * np.random.default_rng(3).random(len(x))
    calm = unit(x)
    x[test, 19] = 0.2
    wild = unit(x)
    before, after = (linear_probe(samples, plan, Descriptors("x", v), TrainConfig("m")) for v in (calm, wild))
    assert (before.predicted == after.predicted).mean() > 0.9


def unit(x: np.ndarray) -> np.ndarray:
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("strength", [0, -1, float("inf"), float("nan")])
def test_impossible_strength(strength: float) -> None:
    samples, plan, vectors = task()
    with pytest.raises(InputError, match="strength"):
        linear_probe(samples, plan, vectors, TrainConfig("linear_probe", 0, (("strength", strength),)))
