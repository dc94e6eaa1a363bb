"""Linear probe: regularised linear classifier on frozen descriptors."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..model import Descriptors, Floats, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from . import task, train_shares

STRENGTH = 1e-2
"""Ridge strength per train sample, on standardised features; fixed for all conditions, so never tuned on a leak."""
FLOOR = 0.05
"""Smallest spread of a feature, in units of the largest: one that train hardly ever shows would blow up in test."""
SHARPNESS = 5.0
"""Scores of least squares on one-hot targets live around [0, 1]; this gives the softmax a useful range."""
BLOCK = 8192


def linear_probe(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """Ridge classifier: least squares on one-hot targets, classes weighted equally, standardised on train only.

    Closed form, so there is no iteration to converge and no seed; memory grows with d^2, not with n. Probabilities are
    the softmax of the scores of the classes present in train; other classes get 0. A sample without a vector gets the
    class shares of train. Option `strength` (float > 0) replaces the ridge strength.

    Args:
        samples, plan, descriptors, config: one task; rows agree.
        progress: called once.

    Raises:
        EmptyError: no labelled sample in train, or none outside.
        InputError: the strength is not above 0.
    """
    from scipy.linalg import cho_factor, cho_solve

    start = time.perf_counter()
    todo = task(samples, plan)
    strength = float(config.option("strength", STRENGTH))
    if not 0 < strength < float("inf"):
        raise InputError(f"strength = {strength}", "a number above 0")
    y = np.searchsorted(todo.present, samples.labels[todo.train])
    share = np.bincount(y) / len(y)
    weight = (1 / (share * len(share)))[y]
    mean, scale = _spread(descriptors.values, todo.train)
    d, c = descriptors.values.shape[1], len(todo.present)
    gram, moment, centre, target = np.zeros((d, d)), np.zeros((d, c)), np.zeros(d), np.zeros(c)
    for at in _blocks(len(y)):
        x = (descriptors.values[todo.train[at]] - mean) / scale
        t = (y[at, None] == np.arange(c)[None, :]).astype(float)
        weighted = x * weight[at, None]
        gram += x.T @ weighted
        moment += weighted.T @ t
        centre += weighted.sum(axis=0)
        target += (weight[at, None] * t).sum(axis=0)
    total = float(weight.sum())
    gram -= np.outer(centre, centre) / total
    moment -= np.outer(centre, target) / total
    gram[np.diag_indices(d)] += strength * len(y)
    slopes = cho_solve(cho_factor(gram, overwrite_a=True), moment)
    offset = target / total - centre / total @ slopes
    probabilities = np.zeros((len(todo.predict), len(samples.classes)), np.float32)
    for at in _blocks(len(todo.predict)):
        scores = (descriptors.values[todo.predict[at]] - mean) / scale @ slopes + offset
        exponent = np.exp(SHARPNESS * (scores - scores.max(axis=1, keepdims=True)))
        probabilities[np.ix_(at, todo.present)] = exponent / exponent.sum(axis=1, keepdims=True)
    blank = ~(descriptors.values[todo.predict] != 0).any(axis=1)
    probabilities[blank] = train_shares(samples, todo)
    guarded(progress)(1, 1, "linear probe")
    seconds = time.perf_counter() - start
    return Run(
        config, plan.condition, plan.seed, todo.predict, probabilities, {"numpy": np.__version__}, seconds, todo.notes
    )


def _blocks(n: int) -> Iterable[NDArray[np.int64]]:
    return (np.arange(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK))


def _spread(values: NDArray[np.float32], rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """float64 (d,) mean and bounded standard deviation over the train rows."""
    d = values.shape[1]
    first, second = np.zeros(d), np.zeros(d)
    for at in _blocks(len(rows)):
        first += values[rows[at]].sum(axis=0, dtype=np.float64)
    mean = first / len(rows)
    for at in _blocks(len(rows)):
        second += ((values[rows[at]] - mean) ** 2).sum(axis=0)
    spread = np.sqrt(second / len(rows))
    largest = float(spread.max(initial=0.0))
    # All train rows equal: nothing can be learned, and any scale is as good as 1.
    return mean, np.maximum(spread, FLOOR * largest) if largest > 1e-6 else np.ones(d)
