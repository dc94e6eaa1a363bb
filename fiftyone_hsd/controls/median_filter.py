"""Median filter: 5 x 5, so that fine texture and noise go (Erukude & Shamir 2024)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]


def median_filter(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read pictures after a 5 x 5 median. A score that falls with it rested on fine texture: noise, compression."""
    return look(
        study, Look("median_filter", "5 x 5", "the picture without fine texture", False, _median), progress=progress
    )


def _median(_row: int, picture: Pixels) -> Pixels:
    import cv2

    return np.asarray(cv2.medianBlur(np.ascontiguousarray(picture), 5), np.uint8)
