"""Disjoint sets that grow link by link, and what the links between them say."""

from __future__ import annotations

import numpy as np

from ..model import Bools, Floats, Ints


class Sets:
    """Disjoint sets with sizes."""

    def __init__(self, size: Ints) -> None:
        self.parent = np.arange(len(size), dtype=np.int64)
        self.size = size

    def root(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = int(self.parent[i])
        return i

    def join(self, a: int, b: int) -> tuple[int, int]:
        """(root that stays, root that goes)."""
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return a, b


class _Votes:
    """How many pairs speak for joining two sets, less how many speak against it."""

    def __init__(self, a: Ints, b: Ints, weight: Ints) -> None:
        self.of: dict[int, dict[int, int]] = {}
        for i, j, w in zip(a.tolist(), b.tolist(), weight.tolist(), strict=True):
            if i != j:
                self._add(i, j, w)
                self._add(j, i, w)

    def _add(self, i: int, j: int, weight: int) -> None:
        mine = self.of.setdefault(i, {})
        mine[j] = mine.get(j, 0) + weight

    def balance(self, i: int, j: int) -> int:
        return self.of.get(i, {}).get(j, 0)

    def join(self, stays: int, goes: int) -> None:
        for other, weight in self.of.pop(goes, {}).items():
            if other == stays:
                self.of[stays].pop(goes, None)
                continue
            self.of[other].pop(goes, None)
            self._add(stays, other, weight)
            self._add(other, stays, weight)


def outvoted(n: int, a: Ints, b: Ints, score: Floats, vote: Ints) -> Bools:
    """Pairs that would join two sets most pairs between which speak against it.

    Two photographs of one field agree in a few of their copies and disagree in the others; joining them by the few
    that agree is what chains groups. Pairs are taken from the highest score down, sets grow as they are joined.

    Args:
        n: number of samples.
        a, b: int64 (m,), pairs that were looked at.
        score: float64 (m,).
        vote: int64 (m,), 1 = joins, -1 = speaks against, 0 = says nothing.

    Returns:
        bool (m,), True for pairs with vote 1 that must not join.
    """
    sets = Sets(np.ones(n, np.int64))
    votes = _Votes(a, b, vote)
    joins = np.flatnonzero(vote == 1)
    held = []
    for row in joins[np.argsort(-score[joins], kind="stable")].tolist():
        one, two = sets.root(int(a[row])), sets.root(int(b[row]))
        if one == two:
            continue
        if votes.balance(one, two) < 0:
            held.append(row)
        else:
            votes.join(*sets.join(one, two))
    # what was held early may lie inside one set by now
    out = np.zeros(len(a), bool)
    out[[r for r in held if sets.root(int(a[r])) != sets.root(int(b[r]))]] = True
    return out
