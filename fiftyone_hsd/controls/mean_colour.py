"""Mean colour: one number a channel. An acquisition control that carries stain and exposure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
SIDE = 32


def mean_colour(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Every picture is 32 x 32 pixels of its own mean colour. The object has its share in that mean."""
    return look(study, Look("mean_colour", "mean", "the mean colour", False, _mean), progress=progress)


def _mean(_row: int, picture: Pixels) -> Pixels:
    import cv2

    mean = np.rint(cv2.mean(np.ascontiguousarray(picture))[:3]).astype(np.uint8)
    return np.broadcast_to(mean, (SIDE, SIDE, 3))
