"""Objects against background: crops around objects and crops away from them, read by the same models (row 4 of P2)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import HsdError
from ..model import ControlResult, Grouping, Ints, Links, Note, Samples
from ..progress import Progress
from ._boxes import several
from ._experiment import named, sheet, vectors_of
from ._gallery import Gallery
from ._objects import crops_of, fitting, found_by_otsu, inside_boxes, parts_of
from ._readers import read
from ._study import Look, Outcome, Study
from ._study import study as study_of
from ._two_by_two import compared

Pixels = NDArray[np.uint8]
Crops = list[tuple[Pixels, Pixels]]
"""(around an object, away from all), both of one size."""
NAME = "objects_background"
LEAST = 20
AROUND = "crops around objects"


def objects_background(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Crops of 60 x 60 pixels around each object, and as many where there is none.

    Objects are connected pixels on the rarer side of Otsu's threshold, more than 40 of them (`object_pixels`), those of
    masks that were handed in, or the boxes of `objects_field`. Our choices: at most 4 crops an image, the largest
    objects first; a side of 60 (`object_side`) shrinks to half of a small picture; images without room for a crop of
    background take no part.

    Raises:
        FieldError: the column of boxes does not exist.
    """
    rows = [int(r) for r in np.flatnonzero(study.samples.labels >= 0)]
    pairs = study.gallery.each(partial(_pairs, study), rows, "objects and background: finding objects", progress)
    origin = np.array([row for row, found in zip(rows, pairs, strict=True) for _ in found], np.int64)
    topic, used = f"control: {NAME}", len(np.unique(origin))
    text = f"{len(origin)} objects with as many places without one in {used} of {len(rows)} images"
    notes = [Note("info", topic, f"objects and background: {text}, by {_origin(study)}")]
    if used < LEAST:
        return Outcome(notes=(Note("not evaluated", topic, f"objects and background: only {text}"),))
    crops = [pair for found in pairs for pair in found]
    try:
        inner = _crops(study, origin, [around for around, _ in crops])
    except HsdError as error:
        return Outcome(notes=(*notes, Note("not evaluated", topic, f"objects and background: {error}")))
    if study.per_image:
        notes.append(Note("warning", topic, "each class is one group: here whole images take the place of groups"))
    return _read(inner, origin, crops, notes, progress)


def _read(inner: Study, origin: Ints, crops: Crops, notes: list[Note], progress: Progress | None) -> Outcome:
    """Background in the role of the control, objects in that of whole pictures."""
    around = Look(NAME, "objects", AROUND, False, lambda row, _: crops[row][0])
    away = Look(NAME, "background", "crops without an object", True, lambda row, _: crops[row][1], AROUND)
    runs, results, reading, sheets = {}, [], [], []
    for how in (around, away):
        runs[how.variant] = read(inner, vectors_of(inner, how, progress), inner.models, (NAME, how.variant), progress)
        found, said = compared(inner, how, runs[how.variant], runs["objects"] if how is away else [])
        results += [_renamed(r) for r in found]
        reading += said
        made = sheet(inner, how, {})
        sheets.append(replace(made, rows=origin[made.rows]))
    # Predictions are about crops, so they are no runs over the images of the corpus.
    return Outcome(tuple(results), (*reading, *notes), (), tuple(sheets))


def _renamed(result: ControlResult) -> ControlResult:
    what = result.effect.what.replace("whole_picture", "objects")
    return replace(result, effect=replace(result.effect, what=what))


def _pairs(study: Study, row: int, picture: Pixels) -> Crops:
    settings = study.settings
    if study.masks is not None:
        given = fitting(study.masks.get(study.samples.ids[row]), picture.shape)
        mask, boxes = parts_of(given, settings.object_pixels)
        mask = given  # a speck is no object, but it is no background either
    elif settings.objects_field is not None:
        with named(study, row, settings.objects_field):
            boxes = several(str(study.samples.column(settings.objects_field)[row]), picture.shape)
        mask = inside_boxes(picture.shape, boxes)
    else:
        mask, boxes = found_by_otsu(picture, settings.object_pixels)
    return crops_of(picture, mask, boxes, settings.object_side, np.random.default_rng([row, 12]))


def _origin(study: Study) -> str:
    field = study.settings.objects_field
    if study.masks is not None:
        return f"masks of {field}" if field is not None else "the given masks"
    return f"Otsu's threshold, over {study.settings.object_pixels} pixels" if field is None else f"column {field}"


def _crops(study: Study, origin: Ints, crops: list[Pixels]) -> Study:
    """The crops as a corpus: a crop has the label and the group of its image.

    Raises:
        InfeasibleError: they cannot be split.
    """
    seen: dict[int, int] = {}
    ids = []
    for row in origin.tolist():
        seen[row] = seen.get(row, -1) + 1
        ids.append(f"{study.samples.ids[row]}#{seen[row]}")
    part = study.samples
    samples = Samples(
        ids=tuple(ids),
        paths=tuple(part.paths[r] for r in origin),
        labels=part.labels[origin],
        classes=part.classes,
        split=part.split[origin],
        metadata={k: v[origin] for k, v in part.metadata.items()},
        root=part.root,
    )
    codes = origin if study.per_image else study.grouping.codes[origin]
    grouping = Grouping(codes, Links.of([], [], ""))
    made = study_of(samples, study.scan.take(origin), grouping, study.settings, Gallery.holding(crops))
    return replace(made, state=study.state)
