"""Background crop: can classes be told apart in a corner that holds no object (Dhar & Shamir 2021)?"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..model import ControlResult, Effect
from ..progress import Progress
from ..stats import NAN
from ._blank import COVERED, blank_note, blankness
from ._boxes import cut, overlap, several
from ._experiment import crop_look, crop_place, look, named
from ._objects import fitting
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]


def background_crop(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read a crop at a corner, in a box, or in a box of each image, and say where it is not blank.

    The paper's own test: 20 x 20 or 21 x 21 pixels at a corner. A crop is called not blank by its deviation of grey, by
    its edges, or if boxes of objects that the user gave cover more than 5 % of it (thresholds ours).

    Raises:
        FieldError: a column that was named does not exist.
        InputError: a box lies outside its picture.
    """
    rows = [int(r) for r in np.flatnonzero(study.samples.labels >= 0)]
    said = study.gallery.each(partial(_remark, study), rows, "background crop: is it blank?", progress)
    remarks = {row: text for row, text in zip(rows, said, strict=True) if text}
    how = crop_look(study)
    note = blank_note(study.samples, remarks, how.left, how.control)
    found = look(study, how, notes=(note,), remarks=remarks, progress=progress)
    share = _share(how, len(remarks), len(rows))
    return Outcome((*found.results, share), found.notes, found.runs, found.sheets)


def _remark(study: Study, row: int, picture: Pixels) -> str:
    """Why the crop is not background, "" if it seems to be."""
    box, field = crop_place(study, row, picture), study.settings.objects_field
    if study.masks is not None:
        inside = fitting(study.masks.get(study.samples.ids[row]), picture.shape)
        x, y, width, height = box
        share = float(inside[y : y + height, x : x + width].mean())
        if share > COVERED:
            return f"not blank: {share:.0%} lies in masks of objects"
    elif field is not None:
        with named(study, row, field):
            share = overlap(box, several(str(study.samples.column(field)[row]), picture.shape))
        if share > COVERED:
            return f"not blank: {share:.0%} lies in boxes of objects"
    return blankness(cut(picture, box))


def _share(how: Look, bad: int, n: int) -> ControlResult:
    method = "share of images whose crop is not blank, by deviation and edges of grey and given boxes"
    effect = Effect("not_blank", "", "", None, "", "", "", bad / n if n else NAN, NAN, NAN, NAN, n, method)
    return ControlResult(how.control, how.variant, NAN, effect)
