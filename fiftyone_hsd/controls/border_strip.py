"""Border strip: only the frame of a picture, its middle painted over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._blank import blank_note, blankness
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
NAME = "border_strip"
SHARE = 0.06
"""Width of the strip as a share of the shorter side (ours); at least 2 pixels."""


def border_strip(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read the outermost 6 % on each side; the rest is grey. The strip is checked for blankness side by side."""
    rows = [int(r) for r in np.flatnonzero(study.samples.labels >= 0)]
    said = study.gallery.each(_remark, rows, "border strip: is it blank?", progress)
    remarks = {row: text for row, text in zip(rows, said, strict=True) if text}
    left = "the outermost 6 % of the picture on each side"
    note = blank_note(study.samples, remarks, left, NAME)
    how = Look(NAME, "6 % a side", left, True, _frame)
    return look(study, how, notes=(note,), remarks=remarks, progress=progress)


def _width(picture: Pixels) -> int:
    shorter = int(min(picture.shape[:2]))
    return min(max(2, round(SHARE * shorter)), max(1, shorter // 2))


def _frame(_row: int, picture: Pixels) -> Pixels:
    k, frame = _width(picture), picture.copy()
    frame[k:-k, k:-k] = 128
    return frame


def _remark(_row: int, picture: Pixels) -> str:
    k = _width(picture)
    sides = {"top": picture[:k], "bottom": picture[-k:], "left": picture[:, :k], "right": picture[:, -k:]}
    said = [f"{name} {text.removeprefix('not blank: ')}" for name, side in sides.items() if (text := blankness(side))]
    return "not blank: " + "; ".join(said) if said else ""
