"""Linear probe: regularised linear classifier on frozen descriptors."""

from __future__ import annotations

import time

import numpy as np

from ..model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from . import task

STRENGTH = 1e-2
"""Ridge strength per train sample, on standardised features; fixed for all conditions, so never tuned on a leak."""


def linear_probe(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """Ridge classifier (least squares on one-hot targets, class-balanced weights), standardised on train only.

    Deterministic and closed-form. Probabilities are the softmax of the scores of the classes present in train; other
    classes get 0. Option `strength` (float) replaces the ridge strength.
    """
    from sklearn.linear_model import Ridge

    start = time.perf_counter()
    todo = task(samples, plan)
    x, y = descriptors.values[todo.train].astype(np.float64), samples.labels[todo.train]
    mean, spread = x.mean(axis=0), x.std(axis=0)
    # A feature that train hardly ever shows would blow up in test: its spread is bounded from below.
    scale = np.maximum(spread, 0.05 * max(float(spread.max()), 1e-12))
    target = (y[:, None] == todo.present[None, :]).astype(np.float64)
    weight = (1 / target.sum(axis=0))[np.searchsorted(todo.present, y)]
    weight *= len(y) / weight.sum()
    model = Ridge(alpha=float(config.option("strength", STRENGTH)) * len(y), solver="cholesky")
    model.fit((x - mean) / scale, target, sample_weight=weight)
    scores = model.predict((descriptors.values[todo.predict].astype(np.float64) - mean) / scale)
    scores = np.asarray(scores).reshape(len(todo.predict), len(todo.present))
    # Scores of one-hot least squares live around [0, 1]; the factor gives the softmax a useful range.
    exponent = np.exp(5 * (scores - scores.max(axis=1, keepdims=True)))
    probabilities = np.zeros((len(todo.predict), len(samples.classes)), np.float32)
    probabilities[:, todo.present] = exponent / exponent.sum(axis=1, keepdims=True)
    guarded(progress)(1, 1, "linear probe")
    seconds = time.perf_counter() - start
    return Run(
        config, plan.condition, plan.seed, todo.predict, probabilities, {"numpy": np.__version__}, seconds, todo.notes
    )
