"""Names taken apart: families of names with the same separators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model import Ints
from . import _words
from ._fields import LOOK, MOST, Column, columns_of, factorise, shape_of

# UUIDs, DICOM UIDs (six arcs or more) and written-out dates hold separators of their own.
_TOKEN = re.compile(
    r"(?<![^\W_])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![^\W_])"
    r"|(?<![^\W_])(?<!\.)(?:\d+\.){5,}\d+(?![^\W_])"
    r"|(?<![^\W_])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T[0-2]\d[-:.]?[0-5]\d[-:.]?[0-5]\d(?![^\W_])"
    r"|(?<![^\W_])(?:0[1-9]|1[0-2])[-_.](?:0[1-9]|[12]\d|3[01])[-_.](?:19|20)\d\d(?![^\W_])"
    r"|(?<![^\W_])(?:0[1-9]|[12]\d|3[01])[-_.](?:0[1-9]|1[0-2])[-_.](?:19|20)\d\d(?![^\W_])"
    r"|(?<![^\W_])(?:19|20)\d\d[-_.](?:0[1-9]|1[0-2])[-_.](?:0[1-9]|[12]\d|3[01])(?![^\W_])"
    r"|[^\W_]+|[\W_]+"
)
_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d[0-5]\d\d{0,3}[a-z]?$|(?:[01]\d|2[0-3])-[0-5]\d-[0-5]\d$")


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
        codes, forms = factorise([shape_of(v) for v in values])
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
        made = columns_of(values, place, int(depth[place]), bool(depth[place] < depth[-1]), hint)
        columns += made
        last = made[-1]
        # A constant word names the number after it; anything that varies ends its reach.
        text = last.values[0] if last.kind == "const" else ""
        hint = text if text.isalpha() else ""
    return Family(rows, tuple(fields), separators, tuple(_with_surroundings(_with_times(columns), separators)))


def _with_surroundings(columns: list[Column], separators: tuple[str, ...]) -> list[Column]:
    """The constant text around each column, as a reader would point at it (`_IMG`)."""

    def between(a: Column, b: Column) -> str:
        return separators[b.place - 1] if a.place != b.place else ""

    def text(beside: list[Column], forward: bool) -> str:
        here, out = beside[0], ""
        for c in beside[1:]:
            if c.depth != here.depth:
                return out
            gap = between(here, c) if forward else between(c, here)
            constant = c.values[0] if c.kind == "const" else ""
            out = out + gap + constant if forward else constant + gap + out
            if c.kind != "const":
                return out
            here = c
        return out

    return [
        replace(c, before=text(columns[i::-1], False), after=text(columns[i:], True)) for i, c in enumerate(columns)
    ]


def _with_times(columns: list[Column]) -> list[Column]:
    """Times of day (`123310`, `12-33-10`) are told from numbers by the date before them, days by their word."""
    columns = [
        replace(c, kind="date", numbers=None) if c.kind == "number" and c.hint in _words.WHEN else c for c in columns
    ]
    for i, column in enumerate(columns):
        if column.kind != "date":
            continue
        # ISO 8601 writes `20180707T185328`.
        i += i + 1 < len(columns) and columns[i + 1].kind == "const" and columns[i + 1].values == ("t",)
        after = columns[i + 1 : i + 4]
        if after and _is_time(after[0]):
            columns[i + 1] = replace(after[0], kind="time", numbers=None, hint="")
        elif len(after) == 3 and all(map(_is_clock, after, (24, 60, 60))):
            columns[i + 1 : i + 4] = [replace(c, kind="time", numbers=None) for c in after]
    return columns


def _is_clock(column: Column, below: int) -> bool:
    two = all(len(v) == 2 for v in column.values)
    return two and all(v.isdigit() and int(v) < below for v in column.values)


def _is_time(column: Column) -> bool:
    """Whether a column that follows a date looks like a time of day."""
    some = column.values[:LOOK]
    return column.kind in ("number", "code", "time") and sum(bool(_TIME.match(v)) for v in some) >= MOST * len(some)
