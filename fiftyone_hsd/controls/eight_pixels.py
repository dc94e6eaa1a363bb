"""Eight background pixels and a random forest: the cheapest question, so it is asked first (Noyan 2022)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Descriptors
from ..pixel_rows import long_rows
from ..progress import Progress
from ._experiment import full_runs, sheet
from ._readers import read
from ._study import Look, Outcome, Study
from ._two_by_two import compared

Pixels = NDArray[np.uint8]
NAME, READER = "eight_pixels", "random_forest"


def eight_pixels(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read eight single pixels of the border: the four corners and the middles of the four sides.

    The pixels lie 2 pixels inside, as cameras and scanners often leave a line at the very edge (our choice).
    """
    left = "eight single pixels of the border"
    made = study.gallery.each(_eight, range(len(study.samples)), "eight pixels: reading pictures", progress)
    rows = long_rows(np.stack(made).reshape(len(made), -1).astype(np.float32) / 255 - 0.5)
    runs = read(study, Descriptors(NAME, rows), (READER,), (NAME, "border"), progress)
    how = Look(NAME, "border", left, True, lambda row, p: _eight(row, p).reshape(2, 4, 3))
    results, notes = compared(study, how, runs, full_runs(study, (READER,), progress))
    return Outcome(tuple(results), tuple(notes), tuple(runs), (sheet(study, how, {}),))


def _eight(_row: int, picture: Pixels) -> Pixels:
    h, w = picture.shape[:2]
    y = [min(2, h - 1), h // 2, max(0, h - 3)]
    x = [min(2, w - 1), w // 2, max(0, w - 3)]
    places = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    return np.stack([picture[y[i], x[j]] for i, j in places])
