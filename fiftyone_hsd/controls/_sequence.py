"""In which order images were taken."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from ..errors import ImageError
from ..images import read_bytes
from ..model import Floats, Ints
from ._study import Study

ENOUGH = 0.95
"""Share of images that must have a time or a counter, and of counters that must differ (our choice)."""
_DIGITS = re.compile(r"\d+")
_EXIF, _TAKEN, _CHANGED = 0x8769, 36867, 306


@dataclass(frozen=True, eq=False)
class Sequence:
    """An order of acquisition.

    Attributes:
        rank: float64 (n,), nan = unknown.
        origin: where it comes from, in words.
        reason: why there is none; "" = there is one.
    """

    rank: Floats
    origin: str
    reason: str = ""


def sequence(study: Study) -> Sequence:
    """The order by the column that was named, else by EXIF time, else by the counter of file names.

    Raises:
        FieldError: the column does not exist.
    """
    field = study.settings.order_field
    if field is not None:
        values = study.samples.column(field)
        sortable = _sortable(values.tolist())
        rank = np.unique(sortable, return_inverse=True)[1].astype(float)
        rank[values == ""] = np.nan
        how = "" if sortable.dtype.kind == "f" else " sorted as text"
        return Sequence(rank, f"column {field}{how}")
    taken = [_taken(p) for p in study.samples.paths]
    if taken and sum(1 for t in taken if t) >= ENOUGH * len(taken):
        rank = np.unique(taken, return_inverse=True)[1].astype(float)
        rank[[not t for t in taken]] = np.nan
        return Sequence(rank, "EXIF time")
    return _counter(study)


def _sortable(values: list[str]) -> np.ndarray:
    """Numbers where all are numbers, else text with its numbers filled up with zeros."""
    try:
        return np.array([float(v) if v else np.inf for v in values])
    except ValueError:
        return np.array([_DIGITS.sub(lambda m: m[0].zfill(20), v) for v in values])


def _taken(path: str) -> str:
    """EXIF time of the exposure, as it stands (YYYY:MM:DD HH:MM:SS sorts as text); "" = none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(read_bytes(path))) as image:
            exif = image.getexif()
            found = exif.get_ifd(_EXIF).get(_TAKEN) or exif.get(_CHANGED)
    except (ImageError, OSError, ValueError, SyntaxError):
        return ""
    text = str(found or "").strip()
    return text if re.match(r"\d{4}:\d\d:\d\d \d\d:\d\d:\d\d", text) else ""


def _counter(study: Study) -> Sequence:
    """The last number of the file names, if all names follow one pattern and the numbers differ."""
    stems = [PurePosixPath(name).name.rsplit(".", 1)[0] for name in study.samples.names]
    nothing = np.full(len(stems), np.nan)
    patterns = Counter(_DIGITS.sub("#", s) for s in stems)
    pattern, many = patterns.most_common(1)[0] if patterns else ("", 0)
    if "#" not in pattern:
        return Sequence(nothing, "", "no EXIF time, and file names hold no counter")
    if many < ENOUGH * len(stems):
        text = f"no EXIF time, and file names follow {len(patterns)} patterns, so their counters are no one sequence"
        return Sequence(nothing, "", text)
    rank = np.array([float(_DIGITS.findall(s)[-1]) if _DIGITS.sub("#", s) == pattern else np.nan for s in stems])
    if len(np.unique(rank[np.isfinite(rank)])) < ENOUGH * many:
        return Sequence(nothing, "", "no EXIF time, and the counters in file names repeat, so they are no sequence")
    return Sequence(rank, f"counter in file names ({pattern})")


def first_of_groups(rank: Floats, codes: Ints, labels: Ints) -> tuple[Ints, Ints, int]:
    """Groups in order of their first image.

    Returns:
        their places, int64 (G,) from 0, equal for groups whose first images have one rank; the class that most images
        of each have, int64 (G,); how many groups have several classes.
    """
    use = np.flatnonzero(np.isfinite(rank) & (labels >= 0))
    group, row = np.unique(codes[use], return_inverse=True)
    first = np.full(len(group), np.inf)
    np.minimum.at(first, row, rank[use])
    counts = np.zeros((len(group), int(labels.max(initial=0)) + 1), np.int64)
    np.add.at(counts, (row, labels[use]), 1)
    in_order = np.argsort(first, kind="stable")
    place = np.unique(first, return_inverse=True)[1][in_order]
    mixed = int(((counts > 0).sum(axis=1) > 1).sum())
    return place.astype(np.int64), counts.argmax(axis=1)[in_order].astype(np.int64), mixed
