"""Colour only: which colours occur and how often, without any place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
SIDE = 32
MOST = 8192
"""About as many pixels are sorted, every k-th of a larger picture."""


def colour_only(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Every picture is 32 x 32 of its own pixels, an even sample of them sorted from dark to bright."""
    left = "the colours that occur, without places"
    return look(study, Look("colour_only", "sorted pixels", left, False, _sorted), progress=progress)


def _sorted(_row: int, picture: Pixels) -> Pixels:
    flat = picture.reshape(-1, 3)[:: max(1, picture.shape[0] * picture.shape[1] // MOST)]
    order = np.argsort(flat.sum(axis=1, dtype=np.int32), kind="stable")
    at = np.linspace(0, len(flat) - 1, SIDE * SIDE).round().astype(np.int64)
    return flat[order[at]].reshape(SIDE, SIDE, 3)
