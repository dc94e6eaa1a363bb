"""1-NN: the label of the most similar train sample. The plainest measure of what a split lets a model look up."""

from __future__ import annotations

import time

import numpy as np

from ..model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from ..similarity import neighbours
from . import task, train_shares

NEAREST = 8
SAME = 1e-6
"""Cosines of float32 vectors closer than this are equal: rounding depends on how a product is blocked."""


def nearest_neighbour(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """Predict by the nearest train sample in cosine similarity; of equal ones (1e-6) that with the smallest id.

    Probabilities are one-hot; a sample without a vector gets the class shares of train. No seed, nothing random.

    Args:
        samples, plan, descriptors, config: one task; rows agree.
        progress: called once.

    Raises:
        EmptyError: no labelled sample in train, or none outside.
    """
    start = time.perf_counter()
    todo = task(samples, plan)
    value, index = neighbours(descriptors.values[todo.predict], NEAREST, descriptors.values[todo.train])
    found = index[:, 0] >= 0
    # Train rows stand in order of ids, so the smallest index among equals is the smallest id.
    equal = (index >= 0) & (value >= value[:, :1] - SAME)
    nearest = np.where(equal, index, len(todo.train)).min(axis=1)[found]
    probabilities = np.tile(train_shares(samples, todo), (len(todo.predict), 1))
    probabilities[found] = 0
    probabilities[np.flatnonzero(found), samples.labels[todo.train[nearest]]] = 1
    guarded(progress)(1, 1, "1-NN")
    seconds = time.perf_counter() - start
    return Run(
        config, plan.condition, plan.seed, todo.predict, probabilities, {"numpy": np.__version__}, seconds, todo.notes
    )
