"""The forest against scikit-learn's own, and its options."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fiftyone_hsd.model import Descriptors, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.trainers.random_forest import random_forest


def test_is_the_balanced_forest_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 6))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    labels = (x[:, 0] > 0.1).astype(np.int32)
    part = np.where(np.arange(80) < 60, "train", "test")
    ids = tuple(f"{i:02d}" for i in range(80))
    samples = Samples(ids, ids, labels, ("a", "b"), np.full(80, ""), {}, "")
    config = TrainConfig("random_forest", 4, (("trees", 25),))
    run = random_forest(samples, SplitPlan.of("random", 0, part), Descriptors("x", x), config)
    forest = RandomForestClassifier(25, min_samples_leaf=3, class_weight="balanced", random_state=4).fit(
        x[:60], labels[:60]
    )
    assert np.allclose(run.probabilities, forest.predict_proba(x[60:]), atol=1e-6)
    assert (run.predicted == labels[60:]).mean() > 0.8
