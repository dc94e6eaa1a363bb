"""Background crop: can classes be told apart in a corner that holds no object (Dhar & Shamir 2021)?"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..model import ControlResult, Effect
from ..progress import Progress
from ..stats import NAN
from ._blank import COVERED, blank_note, blankness
from ._boxes import Box, cut, overlap, place, several
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
NAME = "background_crop"


def background_crop(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read a crop at a corner, in a box, or in a box of each image, and say where it is not blank.

    The paper's own test: 20 x 20 or 21 x 21 pixels at a corner. A crop is called not blank by its deviation of grey, by
    its edges, or if boxes of objects that the user gave cover more than 5 % of it (thresholds ours).

    Raises:
        FieldError: a column that was named does not exist.
        InputError: a box lies outside its picture, or crops differ in size where the preset is `paper`.
    """
    crop = partial(_crop, study)
    rows = [int(r) for r in np.flatnonzero(study.samples.labels >= 0)]
    said = study.gallery.each(partial(_remark, study), rows, "background crop: is it blank?", progress)
    remarks = {row: text for row, text in zip(rows, said, strict=True) if text}
    left = _left(study)
    how = Look(NAME, _variant(study), left, True, crop)
    note = blank_note(study.samples, remarks, left, NAME)
    found = look(study, how, notes=(note,), remarks=remarks, progress=progress)
    return Outcome((*found.results, _share(study, remarks, len(rows))), found.notes, found.runs, found.sheets)


def _variant(study: Study) -> str:
    """The place of the crop in words."""
    s = study.settings
    if s.box_field is not None:
        return f"column {s.box_field}"
    return f"box {s.box}" if s.box is not None else f"{s.size} {s.corner}"


def _left(study: Study) -> str:
    s = study.settings
    if s.box_field is not None:
        return f"the pixels in the box of column {s.box_field}"
    return f"the pixels in the box {s.box}" if s.box is not None else f"the {s.size} pixels at the {s.corner}"


def _place(study: Study, row: int, picture: Pixels) -> Box:
    field = study.settings.box_field
    return place(study.settings, None if field is None else str(study.samples.column(field)[row]), picture.shape)


def _crop(study: Study, row: int, picture: Pixels) -> Pixels:
    return cut(picture, _place(study, row, picture))


def _remark(study: Study, row: int, picture: Pixels) -> str:
    """Why the crop is not background, "" if it seems to be."""
    box, field = _place(study, row, picture), study.settings.objects_field
    if field is not None:
        share = overlap(box, several(str(study.samples.column(field)[row]), picture.shape))
        if share > COVERED:
            return f"not blank: {share:.0%} lies in boxes of objects"
    return blankness(cut(picture, box))


def _share(study: Study, remarks: dict[int, str], n: int) -> ControlResult:
    how = "share of images whose crop is not blank, by deviation and edges of grey and given boxes"
    value = len(remarks) / n if n else NAN
    effect = Effect("not_blank", "", "", None, "", "", "", value, NAN, NAN, NAN, n, how)
    return ControlResult(NAME, _variant(study), NAN, effect)
