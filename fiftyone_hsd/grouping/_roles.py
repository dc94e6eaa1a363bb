"""The columns of a family by what they do, and how to call them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Ints
from . import _words
from ._families import Family
from ._fields import Column
from ._witness import Witness

PURE = 0.98
"""Share of the names for which a column must say no more than the label to count as the class."""
IDENTIFIERS = ("number", "code", "opaque", "date", "time")


_NOUNS = {"number": "number", "date": "date", "time": "time", "year": "year", "word": "word"}
LISTED = 4
"""Words listed one by one in a rule."""


def called(column: Column) -> str:
    """How to point a reader at a column: by what stands around it, with an example."""
    if column.place < 0:
        return "the label"
    where = f"folder {column.depth + 1}" if column.folder else "the name"
    noun = _NOUNS.get(column.kind, "text")
    example = f"(such as `{_short(column.values[0])}`)"
    if column.kind == "word" and column.distinct <= LISTED:
        example = "(" + " or ".join(f"`{_short(v)}`" for v in column.values) + ")"
    if column.hint:
        return f"the {noun} after `{column.hint}` {example}"
    if not column.before and not column.after:
        return f"{where if column.folder else 'the whole name'} {example}"
    inside = f" of {where}" if column.folder else ""
    if not column.before:
        return f"the {noun} before {_mark(column.after, 'first')}{inside} {example}"
    if not column.after:
        return f"the {noun} after {_mark(column.before, 'last')}{inside} {example}"
    return f"the {noun} between `{column.before}` and `{column.after}`{inside} {example}"


def _mark(text: str, which: str) -> str:
    return f"`{_short(text)}`" if any(c.isalnum() for c in text) else f"the {which} `{_short(text)}`"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def rule_of(key: tuple[Column, ...]) -> str:
    """The key in words: columns that stand side by side from the start of the name are one text."""
    stretches: list[list[Column]] = []
    for c in key:
        last = stretches[-1][-1] if stretches else None
        beside = (
            last is not None and c.depth == last.depth and 0 <= c.place - last.place <= 1 and c.before == last.after
        )
        if beside:
            stretches[-1].append(c)
        else:
            stretches.append([c])
    return " together with ".join(_stretch(s) for s in stretches)


def _stretch(columns: list[Column]) -> str:
    if len(columns) == 1:
        return called(columns[0])
    first, last = columns[0], columns[-1]
    text = "".join(c.values[c.codes[0]] + (c.after if c is not last else "") for c in columns)
    example = f"(such as `{_short(text)}`)"
    where = f" of folder {first.depth + 1}" if first.folder else ""
    parts = f"{last.place - first.place + 1} parts" if last.place > first.place else "part"
    if not first.before and not last.after:
        return f"folder {first.depth + 1} {example}" if first.folder else f"the whole name {example}"
    if not first.before:
        mark = _mark(last.after, "first")
        return f"the text before {mark}{where} {example}" if mark[0] == "`" else f"the first {parts}{where} {example}"
    if not last.after:
        mark = _mark(first.before, "last")
        return f"the text after {mark}{where} {example}" if mark[0] == "`" else f"the last {parts}{where} {example}"
    return f"the text between `{_short(first.before)}` and `{_short(last.after)}`{where} {example}"


@dataclass(frozen=True)
class Roles:
    """Columns of a family by what they do."""

    identifiers: tuple[Column, ...]
    words: tuple[Column, ...]
    like_class: frozenset[int]
    split: frozenset[int]
    varying: tuple[Column, ...]
    images: Witness | None = None


def roles(family: Family, labels: Ints | None, images: Witness | None = None) -> Roles:
    """Sort the varying columns into identifiers and words; say which repeat the label or a split."""
    varying = tuple(c for c in family.columns if c.kind != "const")
    like_class, split = set(), set()
    named = False
    for i, c in enumerate(varying):
        if c.distinct <= 12 and all(v in _words.SPLIT for v in c.values):
            split.add(i)
        elif labels is not None and pure(labels, c.codes) >= PURE:
            like_class.add(i)
        elif (c.hint in _words.PACKING and not named and c.distinct <= (50 if c.folder else 12)) or any(
            _packs(c, d) for d in varying
        ):
            split.add(i)
        else:
            named |= c.kind in IDENTIFIERS
    names: list[Column] = []
    words: list[Column] = []
    for i, c in enumerate(varying):
        if i in like_class or i in split or c.kind not in IDENTIFIERS:
            words.append(c)
        else:
            names.append(c)
    return Roles(
        tuple(names),
        tuple(words),
        frozenset(id(varying[i]) for i in like_class),
        frozenset(id(varying[i]) for i in split),
        varying,
        images,
    )


ROUND = (100, 200, 250, 500, 1000, 2000, 2500, 5000, 10000)
"""Files a folder that packers use."""


def _packs(folder: Column, count: Column) -> bool:
    """Whether folders cut a count into equal ranges (`0000-0999/`, `1000-1999/`)."""
    numbers = numbers_of(count)
    if not folder.folder or count.folder or numbers is None or folder.kind != "number":
        return False
    low, high = np.full(folder.distinct, np.iinfo(np.int64).max), np.full(folder.distinct, -1)
    np.minimum.at(low, folder.codes, numbers)
    np.maximum.at(high, folder.codes, numbers)
    for size in ROUND:
        for first in (0, 1):
            shelf = (low - first) // size
            if (shelf == (high - first) // size).all() and len(np.unique(shelf)) == len(shelf):
                return bool((high - low).max() > size // 2)
    return False


def pure(given: Ints, codes: Ints) -> float:
    """Share of names whose `codes` is the usual one of their `given` value: 1 = determined by it."""
    known = given >= 0
    if not known.any():
        return 0.0
    pair = given[known] * (int(codes.max()) + 1) + codes[known]
    values, count = np.unique(pair, return_counts=True)
    owner = values // (int(codes.max()) + 1)
    best = np.zeros(int(owner.max()) + 1, np.int64)
    np.maximum.at(best, owner, count)
    return float(best.sum() / known.sum())


def numbers_of(column: Column) -> Ints | None:
    return None if column.numbers is None else column.numbers[column.codes]
