"""What the numbers in names say: is one the view number of something?

All tests compare with what chance would give; the limits are our choice and stated beside each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Ints
from ._fields import Column

REUSED = 0.34
"""Effective number of values per name below which values count as used again and again. Numbers that belong to one
file each have 1; n random draws from 10,000 values, the widest random suffix that augmenters write, stay above .34
until n = 20,000."""
FEW = 512
"""Views of one thing that a small, re-used set of numbers can hold without other evidence."""
FOLLOWING = 0.3
"""Share of neighbours inside a group that differ by one, for the numbers to count as a run."""


def combine(a: Ints, b: Ints) -> Ints:
    """Codes 0.. of the pairs (a, b), in order of the pairs."""
    if not len(a):
        return a
    pair: Ints = np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1].astype(np.int64)
    return pair


def distinct_rows(parent: Ints, child: Ints) -> Ints:
    """Rows of one member of every pair (parent, child)."""
    pair = parent * (int(child.max(initial=0)) + 1) + child
    return np.sort(np.unique(pair, return_index=True)[1])


def shared(codes: Ints) -> float:
    """Share of the names whose group has two or more."""
    count = np.bincount(codes) if len(codes) else np.zeros(1, int)
    return float(count[count > 1].sum() / max(len(codes), 1))


@dataclass(frozen=True)
class Step:
    """How a column divides the groups above it.

    Attributes:
        kind: "" (it does not divide them), views, run, coordinate, when, unexplained.
        text: the finding in words.
    """

    kind: str
    text: str


def step(parent: Ints, column: Column, name: str, coordinate: bool, numbers: Ints | None) -> Step:
    """Whether the values of `column` inside the groups `parent` look like views of one thing.

    Args:
        parent: int64 (m,), group codes.
        name: how to call the column in words.
        coordinate: whether a word beside it says it is a position.
        numbers: int64 (m,), its number in each name, if it is one.
    """
    rows = distinct_rows(parent, column.codes)
    above = parent[rows]
    several = np.bincount(above, minlength=int(parent.max()) + 1) > 1
    keep = several[above]
    if keep.sum() < 2 or (len(rows) - len(several)) < 0.01 * (len(parent) - len(several)):
        return Step("", "")
    rows, above = rows[keep], above[keep]
    share = np.bincount(column.codes[rows], minlength=column.distinct) / len(rows)
    effective = float(1 / (share**2).sum())
    used = int((share > 0).sum())
    if column.kind == "opaque":
        return Step("", "")  # a finer thing's own identity: neither for nor against
    views = effective <= REUSED * len(rows) and (effective <= FEW or len(rows) / several.sum() >= effective / 5)
    if column.kind == "date" and views:
        return Step("views", f"{name} takes {used} values again and again in {int(several.sum())} groups")
    if column.kind in ("date", "time", "year"):
        return Step("when", f"{name} says when")
    if shared(column.codes) >= 0.5 and int(combine(parent, column.codes).max()) + 1 <= 1.03 * column.distinct:
        return Step("", "")  # names of finer things that several files show
    if coordinate:
        return Step("coordinate", f"{name} is a position inside it")
    if views:
        return Step("views", f"{name} takes {used} values again and again in {int(several.sum())} groups")
    following = _following(above, numbers[rows]) if numbers is not None else 0.0
    if following:
        return Step("run", f"{name} runs on inside the groups ({following:.0%} of neighbours follow each other)")
    return Step("unexplained", f"{name} does not look like a count of views")


def _following(parent: Ints, numbers: Ints) -> float:
    """Share of neighbours in a group that differ by one, 0 unless it is far above that of shuffled numbers."""
    real = _neighbours(parent, numbers)
    shuffled = _neighbours(parent, np.random.default_rng(0).permutation(numbers))
    return real if real >= FOLLOWING and real >= 3 * shuffled else 0.0


def _neighbours(parent: Ints, numbers: Ints) -> float:
    order = np.lexsort((numbers, parent))
    same = np.diff(parent[order]) == 0
    return float((np.diff(numbers[order])[same] == 1).mean()) if same.any() else 0.0
