"""Fourier log-magnitude: what frequencies there are, not where (Erukude & Shamir 2024)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
SIDE = 128


def fourier(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read the logarithm of the amplitude spectrum of grey, at 128 x 128 pixels (ours), on one scale for all images."""
    left = "frequencies without places"
    return look(study, Look("fourier", "log magnitude", left, False, _spectrum), progress=progress)


def _spectrum(_row: int, picture: Pixels) -> Pixels:
    import cv2

    grey = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    magnitude = np.log1p(np.abs(np.fft.fftshift(np.fft.fft2(small))))
    # The largest value that 128 x 128 pixels of 8 bits can have.
    scaled = magnitude / np.log1p(255.0 * SIDE * SIDE) * 255
    return np.repeat(np.rint(scaled).astype(np.uint8)[..., None], 3, axis=2)
