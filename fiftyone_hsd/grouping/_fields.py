"""The columns of fields inside a family of names: what kind of text each holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Ints
from . import _words

_DATE = re.compile(
    r"(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])$"
    r"|(?:0[1-9]|[12]\d|3[01])[-_.](?:0[1-9]|1[0-2])[-_.](?:19|20)\d\d$"
    r"|(?:0[1-9]|1[0-2])[-_.](?:0[1-9]|[12]\d|3[01])[-_.](?:19|20)\d\d$"
)
_SIZE = re.compile(r"\d{2,5}x\d{2,5}$")
_STAMP = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d\d{0,6}$")
_WELL = re.compile(r"([a-p])(0?[1-9]|1\d|2[0-4])$")
_RUNS = re.compile(r"\d+|\D+")
_ISO = re.compile(r"(?:19|20)\d\d-\d\d-\d\dt\d\d[-:.]?\d\d[-:.]?\d\d$")
_DIGITS = re.compile(r"\d+")
_LONG = re.compile(r"[0-9a-f-]{36}$|[0-9.]+$")
_HEX = re.compile(r"[0-9a-f]{8,}$")
MOST_LETTERS = 12
"""Different letters in one place of a code from which on they are no words (views, sides, rows)."""
LOOK = 3000
"""Distinct values looked at to tell what a column holds; more would not change a share that must be near 1."""
MOST = 0.97
"""Share of the values that must have a form before a column is read in that form."""


@dataclass(frozen=True, eq=False)
class Column:
    """One field of all names of a family.

    Attributes:
        place: number of the field in the name, from 0 at the start of the path; -1 = the label.
        part: number of the part inside a field such as `img12a`, or -1 for the whole field.
        codes: int64 (m,), index into `values`.
        values: the distinct texts in lower case.
        kind: const, word, number, code (letters and digits), opaque (hash, UUID, UID), date,
            time, year.
        numbers: int64 per distinct value, for kind number.
        hint: the constant word beside the number (`patient` in `patient_012`), "" = none.
        folder: whether the field belongs to a directory.
        depth: which component of the path.
        before, after: what stands directly before and behind it in its component in every name: separators and
            constant text; "" at the ends of the component.
    """

    place: int
    part: int
    codes: Ints
    values: tuple[str, ...]
    kind: str
    numbers: Ints | None
    hint: str
    folder: bool
    depth: int
    before: str = ""
    after: str = ""

    @property
    def at(self) -> tuple[int, int]:
        """Where it stands in the name: what is compared to tell before from behind."""
        return self.place, self.part

    @property
    def well(self) -> bool:
        """Whether the values are wells of a plate (A01 to P24), whose names start again on every plate."""
        found = [_WELL.match(v) for v in self.values]
        rows, columns = {m[1] for m in found if m}, {m[2] for m in found if m}
        return self.kind == "code" and all(found) and len(rows) >= 3 and len(columns) >= 3

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len(self.values)


def factorise(values: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Codes in order of first appearance and the distinct values."""
    index: dict[str, int] = {}
    codes = [index.setdefault(v, len(index)) for v in values]
    return np.array(codes, np.int64), tuple(index)


def columns_of(values: tuple[str, ...], place: int, depth: int, folder: bool, hint: str) -> list[Column]:
    codes, distinct = factorise([v.lower() for v in values])
    if len(distinct) == 1:
        return [Column(place, -1, codes, distinct, "const", None, "", folder, depth)]
    split = _parts(distinct, len(values))
    if split is None:
        return [_column(place, -1, codes, distinct, hint, folder, depth)]
    made: list[Column] = []
    for part, texts in enumerate(split):
        again, kept = factorise(texts)
        if len(kept) == 1:
            hint = kept[0] if kept[0].isalpha() else ""
            made.append(Column(place, part, again[codes], kept, "const", None, "", folder, depth))
        else:
            made.append(_column(place, part, again[codes], kept, hint, folder, depth))
            hint = ""
    return made


def _parts(distinct: tuple[str, ...], n: int) -> list[list[str]] | None:
    """Values cut where letters meet digits, if nearly all have the same form and the parts say more than the whole.

    They say more where a value holds two numbers (`P012V3`), or where every file has its own value and a word or
    letter is part of it (`01L`, `EBO12`). A code such as `22549G` that repeats stays whole: which of its characters
    count is not for us to know.
    """
    form = shape_of(distinct[0])
    if all(_SIZE.match(v) for v in distinct[:LOOK]):
        return None
    if len(form) < 2 or len(form) > 19 or not distinct[0].isalnum():
        return None
    step = max(1, len(distinct) // LOOK)
    some = distinct[::step]
    if sum(shape_of(v) == form for v in some) < len(some):
        return None
    # Letters that never change (`r02c13f02p01`) are words beside numbers however long the text is.
    fixed = form[0] == "a" and len({_DIGITS.sub("", v) for v in some}) == 1
    # `H06f00d0`: so are those behind the letter of a row.
    letters = [_RUNS.findall(v)[::2] for v in some] if form[0] == "a" else []
    fixed |= len(form) >= 4 and bool(letters) and all(len(v[0]) == 1 and v[1:] == letters[0][1:] for v in letters)
    if not fixed and (len(form) > 9 or any(_opaque(v) for v in some[:50])):
        return None
    runs = [_RUNS.findall(v) for v in distinct]
    if any(len(r) != len(form) for r in runs):
        return None
    parts = [list(p) for p in zip(*runs, strict=True)]
    varying = [len(set(p)) > 1 for p in parts]
    numbers = sum(v and f == "0" for v, f in zip(varying, form, strict=True))
    unique = len(distinct) >= 0.98 * n
    # Letters that vary in several places (`A9J9`) are characters of a code.
    if sum(len(set(p)) > MOST_LETTERS for p, f in zip(parts, form, strict=True) if f == "a") > 1:
        return None
    # `01L`, `01R`: few single letters behind numbers that return are sides.
    sides = form == "0a" and len(set(parts[1])) <= 6 and len(set(parts[0])) <= 0.75 * len(distinct)
    if sides and all(len(v) == 1 for v in set(parts[1])):
        return parts
    if numbers >= 2 or (unique and sum(varying) >= 2) or (form in ("a0", "0a") and sum(varying) == 1):
        return parts
    return None


def shape_of(text: str) -> str:
    if text.isalpha():
        return "a"
    if text.isdigit():
        return "0"
    return "".join("0" if r[0].isdigit() else "a" for r in _RUNS.findall(text))


def _opaque(text: str) -> bool:
    if not text.isalnum():
        return bool(_LONG.match(text))
    if len(text) > 18:
        return True
    if len(text) >= 8 and _HEX.match(text) and any(c.isdigit() for c in text) and any(c.isalpha() for c in text):
        return len(shape_of(text)) >= 3
    return len(text) >= 10 and len(shape_of(text)) >= 5


def _random_codes(some: Sequence[str]) -> bool:
    """Whether values of one length mix letters and digits in ever different places (`9E5QGYA0F`)."""
    if len(some) < 20 or len(some[0]) < 8 or len({len(v) for v in some}) > 1 or not all(v.isalnum() for v in some):
        return False
    return len({"".join("0" if x.isdigit() else "a" for x in v) for v in some[:100]}) > 0.5 * len(some[:100])


def _column(place: int, part: int, codes: Ints, values: tuple[str, ...], hint: str, folder: bool, depth: int) -> Column:
    kind, numbers = _kind(values)
    if kind == "word" or (kind in ("date", "time") and hint in _words.ATTRIBUTE):
        hint = ""  # a stamp behind `frame` is no number of a frame
    return Column(place, part, codes, values, kind, numbers, hint, folder, depth)


def _kind(values: tuple[str, ...]) -> tuple[str, Ints | None]:
    some = values[:: max(1, len(values) // LOOK)]
    need = MOST * len(some)
    if sum(v.isascii() and v.isdigit() for v in some) >= need and max(map(len, values)) <= 18:
        if all(len(v) == 8 for v in some) and sum(bool(_DATE.match(v)) for v in some) >= need:
            return "date", None
        if sum(bool(_STAMP.match(v)) for v in some) >= need:
            return "time", None
        if len(values) < 40 and all(len(v) == 4 and 1950 <= int(v) < 2050 for v in some):
            return "year", None
        if all(v.isascii() and v.isdigit() for v in values):
            return "number", np.array([int(v) for v in values], np.int64)
        return "code", None
    if sum(bool(_DATE.match(v)) for v in some) >= need:
        return "date", None
    if sum(bool(_ISO.match(v)) for v in some) >= need:
        return "time", None
    if all(_SIZE.match(v) for v in some):
        return "word", None
    if _random_codes(some):
        return "opaque", None
    if sum(bool(_opaque(v)) for v in some) >= 0.6 * len(some):
        return "opaque", None
    if sum(not any(c.isdigit() for c in v) for v in some) >= need:
        # Ten different words of one short length are codes: languages do not make them.
        long = len(values[0])
        coded = len(values) >= 10 and long <= 8 and all(len(v) == long and v.isalpha() for v in some)
        return "code" if coded else "word", None
    return "code", None
