"""1-NN: the label of the most similar train sample. The plainest measure of what a split lets a model look up."""

from __future__ import annotations

import time

import numpy as np

from ..model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from ..similarity import neighbours
from . import task


def nearest_neighbour(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """Predict by the nearest train sample in cosine similarity; ties go to the smallest sample id.

    Probabilities are one-hot; a sample without a vector gets the class shares of train.
    """
    start = time.perf_counter()
    todo = task(samples, plan)
    _, index = neighbours(descriptors.values[todo.predict], 1, descriptors.values[todo.train])
    found = index[:, 0] >= 0
    shares = np.bincount(samples.labels[todo.train], minlength=len(samples.classes)) / len(todo.train)
    probabilities = np.tile(shares.astype(np.float32), (len(todo.predict), 1))
    probabilities[found] = 0
    probabilities[np.flatnonzero(found), samples.labels[todo.train[index[found, 0]]]] = 1
    guarded(progress)(1, 1, "1-NN")
    seconds = time.perf_counter() - start
    return Run(
        config, plan.condition, plan.seed, todo.predict, probabilities, {"numpy": np.__version__}, seconds, todo.notes
    )
