"""The way of every control that looks at pictures: change them, read, compare with chance and with whole pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import FieldError, InputError
from ..model import ControlSheet, Descriptors, Ints, Note, Run
from ..progress import Progress
from ._boxes import Box, cut, place
from ._readers import described, prepared, read
from ._study import Look, Outcome, Study
from ._two_by_two import compared

Pixels = NDArray[np.uint8]
FULL = "full_picture"
SHOWN = 12
SHEET_SIDE = 96
BLANK = 0.05
"""Share of crops that are not blank above which the reading says so."""


def look(
    study: Study,
    how: Look,
    *,
    models: tuple[str, ...] = (),
    notes: tuple[Note, ...] = (),
    remarks: dict[int, str] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run one experiment on pictures.

    Args:
        models: readers; default those of the preset.
        notes: what the experiment found by itself; they stand behind the reading.
        remarks: row -> what is said below its picture on the sheet; such rows are shown first.
        progress: `progress(done, total, label)`.
    """
    readers = models or study.models
    vectors = vectors_of(study, how, progress)
    runs = read(study, vectors, readers, (how.control, how.variant), progress)
    whole = full_runs(study, readers, progress) if how.control != FULL else []
    results, reading = compared(study, how, runs, whole, doubt=_doubt(study, remarks or {}))
    return Outcome(tuple(results), (*reading, *notes), tuple(runs), (sheet(study, how, remarks or {}),))


def _doubt(study: Study, remarks: dict[int, str]) -> str:
    """Why what is left may hold something of the object all the same; "" if all but a few crops are blank."""
    n = int((study.samples.labels >= 0).sum())
    share = len(remarks) / n if n else 0.0
    return f", unless the object shows there ({share:.0%} of the crops are not blank)" if share > BLANK else ""


def full_runs(study: Study, models: tuple[str, ...], progress: Progress | None = None) -> list[Run]:
    """The same readers on whole pictures, trained once a corpus."""
    missing = tuple(m for m in models if f"{FULL}|{m}" not in study.kept)
    if missing:
        vectors = vectors_of(study, whole_picture(), progress)
        for model in missing:
            runs = read(study, vectors, (model,), (FULL, "whole"), progress)
            study.kept[f"{FULL}|{model}"] = tuple(runs)
    return [r for m in models for r in study.kept[f"{FULL}|{m}"]]


def whole_picture() -> Look:
    """Nothing is changed; pictures larger than a network sees are made smaller."""
    return Look(FULL, "whole", "whole pictures", False, lambda _row, picture: picture)


def crop_look(study: Study) -> Look:
    """The background crop that was asked for, as it is named everywhere."""
    return Look("background_crop", _crop_variant(study), _crop_left(study), True, partial(_crop, study))


def crop_place(study: Study, row: int, picture: Pixels) -> Box:
    """Where the background crop of an image lies."""
    field = study.settings.box_field
    if field is None:
        return place(study.settings, None, picture.shape)
    with named(study, row, field):
        return place(study.settings, str(study.samples.column(field)[row]), picture.shape)


class CellError(InputError):
    """One cell of a column that was named cannot be used."""


@contextlib.contextmanager
def named(study: Study, row: int, field: str) -> Iterator[None]:
    """An InputError about a cell says which image and column it is of."""
    try:
        yield
    except FieldError:  # there is no such column
        raise
    except InputError as error:
        raise CellError(f"{study.samples.ids[row]}, column {field}: {error}") from error


def _crop_variant(study: Study) -> str:
    s = study.settings
    if s.box_field is not None:
        return f"column {s.box_field}"
    return f"box {s.box}" if s.box is not None else f"{s.size} {s.corner}"


def _crop_left(study: Study) -> str:
    s = study.settings
    if s.box_field is not None:
        return f"the pixels in the box of column {s.box_field}"
    return f"the pixels in the box {s.box}" if s.box is not None else f"the {s.size} pixels at the {s.corner}"


def _crop(study: Study, row: int, picture: Pixels) -> Pixels:
    return cut(picture, crop_place(study, row, picture))


def vectors_of(study: Study, how: Look, progress: Progress | None) -> Descriptors:
    """Vectors of all images for the readers of the preset."""
    rows = range(len(study.samples))
    label = f"{how.control.replace('_', ' ')}: reading pictures"
    made = study.gallery.each(lambda row, p: prepared(study, how.change(row, p)), rows, label, progress)
    return described(study, made, how.variant)


def sheet(study: Study, how: Look, remarks: dict[int, str]) -> ControlSheet:
    """Up to 12 pictures as the model saw them: those with a remark (half of them at most), then classes in turn."""
    marked = sorted(remarks)
    rows = marked[:: max(1, -(-len(marked) // (SHOWN // 2)))]
    for row in _in_turn(study):
        if len(rows) >= SHOWN:
            break
        if row not in rows and row not in remarks:
            rows.append(row)
    rows = (rows + [r for r in marked if r not in rows])[:SHOWN]
    pictures = study.gallery.each(lambda row, p: _shown(how.change(row, p)), rows, f"{how.control}: sheet")
    lines = tuple(remarks.get(r, "") for r in rows)
    stack = np.stack(pictures) if pictures else np.zeros((0, SHEET_SIDE, SHEET_SIDE, 3), np.uint8)
    return ControlSheet(how.control, how.variant, np.array(rows, np.int64), stack, lines, f"What is left: {how.left}.")


def _in_turn(study: Study) -> list[int]:
    """Labelled rows, classes taking turns, of different groups first."""
    labels = study.samples.labels
    queues: list[list[int]] = []
    for c in range(len(study.samples.classes)):
        rows: Ints = np.flatnonzero(labels == c)
        first = np.unique(study.grouping.codes[rows], return_index=True)[1]
        queues.append([*rows[first].tolist(), *np.delete(rows, first).tolist()])
    longest = max((len(q) for q in queues), default=0)
    return [q[k] for k in range(min(longest, SHOWN)) for q in queues if k < len(q)]


def _shown(picture: Pixels) -> Pixels:
    """A square of 96 pixels with the picture in the middle, small ones enlarged without smoothing."""
    import cv2

    h, w = picture.shape[:2]
    scale = SHEET_SIDE / max(h, w)
    size = (max(1, round(w * scale)), max(1, round(h * scale)))
    way = cv2.INTER_NEAREST if scale > 1 else cv2.INTER_AREA
    inner = cv2.resize(np.ascontiguousarray(picture), size, interpolation=way)
    square = np.full((SHEET_SIDE, SHEET_SIDE, 3), 255, np.uint8)
    y, x = (SHEET_SIDE - inner.shape[0]) // 2, (SHEET_SIDE - inner.shape[1]) // 2
    square[y : y + inner.shape[0], x : x + inner.shape[1]] = inner
    return square
