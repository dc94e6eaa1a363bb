"""One training as a value: what goes in, what comes out. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model import Ints, Samples
from . import Task
from ._recipes import Recipe


@dataclass(frozen=True, eq=False)
class Job:
    """One training.

    Attributes:
        recipe, network, seed: what to do.
        samples, todo: on what; rows of `todo` in order of ids.
        val: int64, the rows of `todo.predict` in the validation partition.
        steps: optimiser steps.
        key: SHA-256 over all that.
    """

    recipe: Recipe
    network: str
    seed: int
    samples: Samples
    todo: Task
    val: Ints
    steps: int
    key: str


@dataclass(frozen=True, eq=False)
class Trained:
    """What a finished training left.

    Attributes:
        key: of the job.
        rows: int64 (t,), predicted rows.
        last, best: float32 (t, C), by the last weights and by those that were best on validation (equal without one).
        best_step, best_score: when and how good, 0 and nan without validation.
        failed: int64, rows whose image could not be read.
        seconds: of all attempts together, up to the checkpoint each went on from.
        machine, weights: in words.
    """

    key: str
    rows: Ints
    last: NDArray[np.float32]
    best: NDArray[np.float32]
    best_step: int
    best_score: float
    failed: Ints
    seconds: float
    machine: str
    weights: str


@dataclass(frozen=True)
class Cost:
    """What a short trial measured: seconds to get ready, for a step, and for predicting one image."""

    start: float
    step: float
    image: float
