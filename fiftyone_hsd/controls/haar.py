"""Haar approximation: the coarse part of a wavelet transform (Erukude & Shamir 2024)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
LEVELS = 2


def haar(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read the approximation of a two-level Haar transform: means of 4 x 4 pixels (two levels are our choice)."""
    return look(study, Look("haar", f"{LEVELS} levels", "the coarse picture", False, _coarse), progress=progress)


def _coarse(_row: int, picture: Pixels) -> Pixels:
    import cv2

    size = 2**LEVELS
    h, w = (max(1, s // size) * size for s in picture.shape[:2])
    if min(picture.shape[:2]) < size:
        return picture
    # Area interpolation by a whole factor is the mean of each block.
    whole = np.ascontiguousarray(picture[:h, :w])
    return np.asarray(cv2.resize(whole, (w // size, h // size), interpolation=cv2.INTER_AREA), np.uint8)
