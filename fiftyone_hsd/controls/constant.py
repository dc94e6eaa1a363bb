"""Constant picture: every image the same grey. It must read as chance, or the measurement itself is broken."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
SIDE = 32


def constant(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read nothing at all: 32 x 32 pixels of one grey for every image."""
    return look(study, Look("constant", "grey 128", "a constant grey", True, _grey), progress=progress)


def _grey(_row: int, _picture: Pixels) -> Pixels:
    return np.full((SIDE, SIDE, 3), 128, np.uint8)
