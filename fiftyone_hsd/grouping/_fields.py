"""Names taken apart: families of names with the same separators, and the columns of fields inside a family."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model import Ints

# UUIDs, DICOM UIDs (six arcs or more) and written-out dates hold separators of their own.
_TOKEN = re.compile(
    r"(?<![^\W_])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![^\W_])"
    r"|(?<![^\W_])(?<!\.)(?:\d+\.){5,}\d+(?![^\W_])"
    r"|(?<![^\W_])(?:19|20)\d\d[-_.](?:0[1-9]|1[0-2])[-_.](?:0[1-9]|[12]\d|3[01])(?![^\W_])"
    r"|[^\W_]+|[\W_]+"
)
_DATE = re.compile(r"(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])$")
_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d[0-5]\d\d{0,3}[a-z]?$|(?:[01]\d|2[0-3])-[0-5]\d-[0-5]\d$")
_STAMP = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d\d{0,6}$")
_RUNS = re.compile(r"\d+|\D+")
_LONG = re.compile(r"[0-9a-f-]{36}$|[0-9.]+$")
_HEX = re.compile(r"[0-9a-f]{8,}$")
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

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Family:
    """Names that are cut by the same separators.

    Attributes:
        rows: int64 (m,), which names.
        fields: k lists of m texts, as written.
        separators: k - 1 texts between the fields.
        columns: the fields, constant ones included, in the order of the name.
    """

    rows: Ints
    fields: tuple[tuple[str, ...], ...]
    separators: tuple[str, ...]
    columns: tuple[Column, ...]


def factorise(values: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Codes in order of first appearance and the distinct values."""
    index: dict[str, int] = {}
    codes = [index.setdefault(v, len(index)) for v in values]
    return np.array(codes, np.int64), tuple(index)


def families(cores: Sequence[str]) -> list[Family]:
    """The families of a corpus, the largest first.

    Names that differ only in how many words stand side by side (`black footed albatross 12`, `crested auklet 7`) come
    into one family, the words as one field.

    Args:
        cores: n paths without extension.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    tokens: list[list[str]] = []
    for i, core in enumerate(cores):
        parts = _TOKEN.findall(core)
        if not parts or not parts[0][0].isalnum():
            parts.insert(0, "")
        if len(parts) % 2 == 0:
            parts.append("")
        tokens.append(parts)
        found.setdefault(tuple(parts[1::2]), []).append(i)
    cut = [(np.array(rows, np.int64), seps, _transposed(tokens, rows)) for seps, rows in found.items()]
    merged = [part for whole in _join_words(cut) for kind in _by_kinds(whole) for part in _without_odd_ones(kind)]
    return [_family(*c) for c in sorted(merged, key=lambda c: (-len(c[0]), c[1]))]


def _transposed(tokens: list[list[str]], rows: Sequence[int]) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[i][::2] for i in rows), strict=True))


Cut = tuple[Ints, tuple[str, ...], list[tuple[str, ...]]]


def _join_words(cut: list[Cut]) -> list[Cut]:
    shapes: dict[tuple[str, ...], list[int]] = {}
    for number, (_, seps, fields) in enumerate(cut):
        words = [_are_words(f) for f in fields]
        shape = [sep for i, sep in enumerate(seps) if not (words[i] and words[i + 1] and "/" not in sep)]
        runs = [w for i, w in enumerate(words) if not (i and w and words[i - 1] and "/" not in seps[i - 1])]
        shapes.setdefault((*shape, "".join("w" if w else "x" for w in runs)), []).append(number)
    result: list[Cut] = []
    for members in shapes.values():
        if len({len(cut[m][1]) for m in members}) == 1:
            result += [cut[m] for m in members]
        else:
            joined = [_collapsed(cut[m]) for m in members]
            rows = np.concatenate([j[0] for j in joined])
            fields = [sum(columns, ()) for columns in zip(*(j[2] for j in joined), strict=True)]
            result.append((rows, joined[0][1], fields))
    return result


def _by_kinds(cut: Cut) -> list[Cut]:
    """Names apart whose fields change between words and numbers in step: `IM-12-1-2` and `SECOND-IM-12-1`.

    One changing field (`TCGA-02`, `TCGA-DU`) is a code that happens to have digits or not, unless it is one fixed word.
    """
    rows, seps, fields = cut
    kinds = np.zeros((len(fields), len(rows)), bool)
    for i, values in enumerate(fields):
        codes, distinct = factorise(values)
        kinds[i] = np.array([any(c.isdigit() for c in v) for v in distinct])[codes]
    forms, codes = np.unique(kinds, axis=1, return_inverse=True)
    codes = codes.reshape(-1)
    if forms.shape[1] == 1 or forms.shape[1] > 50:
        return [cut]
    group = np.arange(forms.shape[1])
    for a in range(len(group)):
        for b in range(a):
            differs = np.flatnonzero(forms[:, a] != forms[:, b])
            if len(differs) == 1 and not _fixed_word(cut, int(differs[0]), forms[differs[0]], codes, a, b):
                group[group == group[a]] = group[b]
    kept = [group[codes] == g for g in np.unique(group)]
    return [(rows[m], seps, [tuple(v for v, k in zip(f, m, strict=True) if k) for f in fields]) for m in kept]


def _fixed_word(cut: Cut, place: int, digits: NDArray[np.bool_], codes: Ints, a: int, b: int) -> bool:
    """Whether the field of the form without digits is one word in a good part of the names, and no folder by itself."""
    word = a if not digits[a] else b
    rows = np.flatnonzero(codes == word)
    before, after = "/" if not place else cut[1][place - 1], "".join(cut[1][place : place + 1])
    whole = before.endswith("/") and after.startswith("/")
    return not whole and len(rows) >= 0.05 * len(codes) and len({cut[2][place][r] for r in rows}) == 1


def _without_odd_ones(cut: Cut) -> list[Cut]:
    """The family without the few names one of whose fields has another form, and those names as a second family."""
    rows, seps, fields = cut
    odd = np.zeros(len(rows), bool)
    for values in fields:
        codes, forms = factorise([_form(v) for v in values])
        count = np.bincount(codes)
        if len(forms) > 1 and count.max() >= MOST * len(rows):
            odd |= codes != count.argmax()
    if not odd.any() or odd.sum() > (1 - MOST) * len(rows):
        return [cut]
    return [(rows[m], seps, [tuple(v for v, k in zip(f, m, strict=True) if k) for f in fields]) for m in (~odd, odd)]


def _are_words(values: Sequence[str]) -> bool:
    some = values[:LOOK]
    return sum(v.isalpha() for v in some) >= 0.99 * len(some)


def _collapsed(cut: Cut) -> Cut:
    rows, seps, fields = cut
    words = [_are_words(f) for f in fields]
    out, between = [fields[0]], []
    for i, sep in enumerate(seps):
        if words[i] and words[i + 1] and "/" not in sep:
            out[-1] = tuple(a + sep + b for a, b in zip(out[-1], fields[i + 1], strict=True))
        else:
            out.append(fields[i + 1])
            between.append(sep)
    return rows, tuple(between), out


def _family(rows: Ints, separators: tuple[str, ...], fields: list[tuple[str, ...]]) -> Family:
    order = np.argsort(rows, kind="stable")
    if (order != np.arange(len(rows))).any():
        rows, fields = rows[order], [tuple(f[i] for i in order) for f in fields]
    depth = np.concatenate([[0], np.cumsum(["/" in s for s in separators])]).astype(int)
    columns: list[Column] = []
    hint = ""
    for place, values in enumerate(fields):
        if place and depth[place] != depth[place - 1]:
            hint = ""
        made = _columns(values, place, int(depth[place]), bool(depth[place] < depth[-1]), hint)
        columns += made
        last = made[-1]
        # A constant word names the number after it; anything that varies ends its reach.
        text = last.values[0] if last.kind == "const" else ""
        hint = text if text.isalpha() else ""
    return Family(rows, tuple(fields), separators, tuple(_with_times(columns)))


def _with_times(columns: list[Column]) -> list[Column]:
    """Times of day (`123310`, `12-33-10`) are only told from numbers by the date before them."""
    for i, column in enumerate(columns):
        if column.kind != "date":
            continue
        after = columns[i + 1 : i + 4]
        if after and _is_time(after[0]):
            columns[i + 1] = replace(after[0], kind="time", numbers=None)
        elif len(after) == 3 and all(map(_is_clock, after, (24, 60, 60))):
            columns[i + 1 : i + 4] = [replace(c, kind="time", numbers=None) for c in after]
    return columns


def _is_clock(column: Column, below: int) -> bool:
    two = all(len(v) == 2 for v in column.values)
    return two and all(v.isdigit() and int(v) < below for v in column.values)


def _columns(values: tuple[str, ...], place: int, depth: int, folder: bool, hint: str) -> list[Column]:
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
    form = _form(distinct[0])
    if len(form) < 2 or len(form) > 9 or not distinct[0].isalnum():
        return None
    step = max(1, len(distinct) // LOOK)
    some = distinct[::step]
    if sum(_form(v) == form for v in some) < len(some) or any(_opaque(v) for v in some[:50]):
        return None
    runs = [_RUNS.findall(v) for v in distinct]
    if any(len(r) != len(form) for r in runs):
        return None
    parts = [list(p) for p in zip(*runs, strict=True)]
    varying = [len(set(p)) > 1 for p in parts]
    numbers = sum(v and f == "0" for v, f in zip(varying, form, strict=True))
    unique = len(distinct) >= 0.98 * n
    if numbers >= 2 or (unique and sum(varying) >= 2) or (form in ("a0", "0a") and sum(varying) == 1):
        return parts
    return None


def _form(text: str) -> str:
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
        return len(_form(text)) >= 3
    return len(text) >= 10 and len(_form(text)) >= 5


def _column(place: int, part: int, codes: Ints, values: tuple[str, ...], hint: str, folder: bool, depth: int) -> Column:
    kind, numbers = _kind(values)
    return Column(place, part, codes, values, kind, numbers, hint if kind != "word" else "", folder, depth)


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
    if sum(bool(_opaque(v)) for v in some) >= 0.6 * len(some):
        return "opaque", None
    if sum(not any(c.isdigit() for c in v) for v in some) >= need:
        # Ten different words of one short length are codes: languages do not make them.
        long = len(values[0])
        coded = len(values) >= 10 and long <= 8 and all(len(v) == long and v.isalpha() for v in some)
        return "code" if coded else "word", None
    return "code", None


def _is_time(column: Column) -> bool:
    """Whether a column that follows a date looks like a time of day."""
    some = column.values[:LOOK]
    return column.kind in ("number", "code", "time") and sum(bool(_TIME.match(v)) for v in some) >= MOST * len(some)
