"""A key as a regular expression, and as the text of each name that it captures."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ._families import Family
from ._fields import Column
from ._wrappers import BEFORE

_CLASSES = {"number": r"\d+", "year": r"\d{4}"}


def spans(family: Family, key: Sequence[Column]) -> list[list[Column]]:
    """The stretches of text that make the key: constant and key columns side by side, up to the last key column."""
    wanted = {(c.place, c.part) for c in key}
    found: list[list[Column]] = []
    run: list[Column] = []
    for i, column in enumerate(family.columns):
        belongs = column.kind == "const" or (column.place, column.part) in wanted
        if run and (not belongs or column.depth != run[-1].depth):
            found.append(run)
            run = []
        if belongs and (run or column.values != ("",)):
            run.append(column)
        if i + 1 == len(family.columns) and run:
            found.append(run)
    trimmed = [_up_to_key(run, wanted) for run in found]
    return [run for run in trimmed if run]


def _up_to_key(run: list[Column], wanted: set[tuple[int, int]]) -> list[Column]:
    last = max((i for i, c in enumerate(run) if (c.place, c.part) in wanted), default=-1)
    return run[: last + 1]


def group_texts(family: Family, key: Sequence[Column]) -> list[str]:
    """m texts: what the pattern of the key captures in each name of the family, in lower case."""
    columns = [c for c in key if c.place >= 0]
    codes = np.zeros(len(family.rows), np.int64)
    for c in columns:
        codes = np.unique(codes * c.distinct + c.codes, return_inverse=True)[1]
    first = np.unique(codes, return_index=True)[1]
    runs = spans(family, key)
    texts = ["/".join(_text(family, run, int(row)) for run in runs) for row in first]
    label = next((c for c in key if c.place < 0), None)
    if label is None:
        return [texts[c] for c in codes]
    return [f"{texts[c]}/{label.values[v]}" for c, v in zip(codes, label.codes, strict=True)]


def _text(family: Family, run: list[Column], row: int) -> str:
    out = ""
    for i, c in enumerate(run):
        if i and run[i - 1].place != c.place:
            out += family.separators[c.place - 1]
        out += c.values[c.codes[row]]
    return out.lower()


def pattern_of(family: Family, key: Sequence[Column], wrapped: bool, single: bool) -> str:
    """A regular expression (syntax of the `regex` module) whose groups hold the key.

    Args:
        wrapped: whether wrappers may stand before the name.
        single: one group `group`; otherwise `group_1`, `group_2`, ...
    """
    runs = spans(family, key)
    opens = {(run[0].place, run[0].part) for run in runs}
    closes = {(run[-1].place, run[-1].part) for run in runs}
    last = max((run[-1].depth, run[-1].place, run[-1].part) for run in runs)
    out, depth, number = "^", -1, 0
    keyed = {c.depth for run in runs for c in run}
    for i, c in enumerate(family.columns):
        new = c.depth != depth
        depth = c.depth
        if c.depth not in keyed:
            out += "[^/]+/" if new else ""
            continue
        if new and not c.folder and wrapped:
            out += f"(?:{BEFORE})?"
        if not new and family.columns[i - 1].place != c.place:
            out += re.escape(family.separators[c.place - 1])
        if (c.place, c.part) in opens:
            number += 1
            out += "(?P<group>" if single else f"(?P<group_{number}>"
        out += _field(c)
        out += ")" if (c.place, c.part) in closes else ""
        if (c.depth, c.place, c.part) == last:
            return out + _end(family, i)
        if i + 1 < len(family.columns) and family.columns[i + 1].depth != depth:
            out += re.escape(family.separators[c.place])
    return out


def _field(column: Column) -> str:
    if column.kind == "const":
        return re.escape(column.values[0])
    if column.kind in _CLASSES:
        return _CLASSES[column.kind]
    some = column.values[:200]
    if all(v.isalpha() for v in some):
        return r"[^\W\d_]+"
    if all(v.isalnum() for v in some):
        return r"[^\W_]+"
    return r"[^/]+?"


def _end(family: Family, i: int) -> str:
    if i + 1 == len(family.columns):
        return r"(?=[\W_]|$)"
    here, after = family.columns[i], family.columns[i + 1]
    if after.place == here.place:
        return r"(?=\d)" if after.values[0][:1].isdigit() else r"(?=[^\W\d_])"
    # A form with less behind the key follows the same pattern, with or without its extension.
    return rf"(?={re.escape(family.separators[here.place])}|(?:\.\w+)*$)"
