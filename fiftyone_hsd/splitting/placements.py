"""The smallest change of a split that keeps groups whole, as an integer programme over what may happen to each group.

A group may come together in a partition (its other samples move there or, where that is allowed, are set aside), or be
set aside as a whole. Groups with the same samples in the same partitions are one integer variable a placement: the
solver does not try them in all orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InfeasibleError
from ..model import Bools, Floats, Ints

ASIDE = -1
"""Target of a group that is set aside whole."""
SECONDS = 60.0
"""Bound on the solver's time for one programme; what was found by then is used, with a bound on what may be better."""
PROVEN = 10_000
"""Samples up to which also the fewest set aside are proven; above, the number that changes is (to half a sample)."""
NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class Corpus:
    """Groups of one content counted once.

    Attributes:
        counts: int64 (K, S, C), samples of class c in partition s of a group of kind k; classes may overlap.
        sizes: int64 (K, S), samples.
        many: int64 (K,), groups of each kind.
        frozen: bool (S,), partitions that no sample may enter or leave.
    """

    counts: Ints
    sizes: Ints
    many: Ints
    frozen: Bools


@dataclass(frozen=True, eq=False)
class Placements:
    """All that may happen to a group of each kind; one row a placement.

    Attributes:
        kind, target: int64 (P,), kind of group; partition it is in afterwards, ASIDE = none.
        moving: bool (P,), True = samples of other partitions move to the target, False = they are set aside.
        changed, aside: int64 (P,), samples that move or are set aside; of these, set aside.
        size: int64 (P, S), samples of the group afterwards.
        counts: int64 (P, S, C), the same a class.
    """

    kind: Ints
    target: Ints
    moving: Bools
    changed: Ints
    aside: Ints
    size: Ints
    counts: Ints


def placements(corpus: Corpus, *, free: bool) -> Placements:
    """Every placement that the frozen partitions allow.

    Args:
        free: samples may be set aside of any group; False = only of a group with samples in the frozen partition.

    Raises:
        InfeasibleError: a group lies in two frozen partitions.
    """
    _, s, c = corpus.counts.shape
    rows, sizes, tables = [], [], []
    for kind, (size, counts) in enumerate(zip(corpus.sizes, corpus.counts, strict=True)):
        for target, moving, stays, comes in _of_group(size, corpus.frozen, free):
            after, table = np.zeros(s, np.int64), np.zeros((s, c), np.int64)
            if target != ASIDE:
                after[target] = stays + comes
                table[target] = counts.sum(axis=0) if moving else counts[target]
            gone = int(size.sum()) - stays - comes
            rows.append((kind, target, moving, comes + gone, gone))
            sizes.append(after)
            tables.append(table)
    kind_, target_, moving_, changed, aside = (np.array(v) for v in zip(*rows, strict=True))
    return Placements(kind_, target_, moving_.astype(bool), changed, aside, np.array(sizes), np.array(tables))


def _of_group(size: Ints, frozen: Bools, free: bool) -> Iterator[tuple[int, bool, int, int]]:
    """(target, whether others move there, samples that stay, samples that come) of one group."""
    held = np.flatnonzero(frozen & (size > 0)).tolist()
    if len(held) > 1:
        raise InfeasibleError("a group lies in two frozen partitions", "one frozen partition", "freeze only one")
    n = int(size.sum())
    if held:
        yield held[0], n == size[held[0]], int(size[held[0]]), 0
        return
    for s in np.flatnonzero(~frozen).tolist():
        yield s, True, int(size[s]), n - int(size[s])
        if free and 0 < size[s] < n:
            yield s, False, int(size[s]), 0
    if free:
        yield ASIDE, False, 0, 0


@dataclass(frozen=True)
class Bounds:
    """What must hold afterwards over the partitions that are not frozen.

    Attributes:
        share: largest |n'_s / n' - f_s|, f_s the shares before.
        by_class: the same for the samples of each class.
    """

    share: float
    by_class: float


@dataclass(frozen=True, eq=False)
class Solution:
    """How many groups of each kind are placed how.

    Attributes:
        chosen: int64 (P,), number of groups.
        least: a proven lower bound on the number of samples that change under the same bounds.
        change: float64 (1 + C,), largest |n'_s / n' - f_s| of all samples and of each class; 0 where there are none.
        absent: bool (S, C), a class that was in the partition before and is not any more.
    """

    chosen: Ints
    least: int
    change: Floats
    absent: Bools


def smallest_change(corpus: Corpus, options: Placements, bounds: Bounds, seconds: float = SECONDS) -> Solution:
    """The placements that change the fewest samples within the bounds, and of these set the fewest aside.

    Where no placement keeps the bounds, and every class in the partitions it was in, these are first broken as little
    as possible: least sum of widenings (as shares) and absences.

    Raises:
        InfeasibleError: a partition would be empty, or nothing was found in the time.
    """
    programme = _Programme(corpus, options, bounds, seconds)
    weight = 0.25 / (1 + float(corpus.many @ corpus.sizes.sum(axis=1)))
    price = options.changed + weight * options.aside
    found = programme.solve(price, 0.0)
    bound = getattr(found, "mip_dual_bound", None)
    forced = (options.aside == 0) | ((options.target != ASIDE) & corpus.frozen[options.target])
    if found.x is None and found.status == 1 and not forced.all():
        # Nothing was found in the time: a change that sets nothing more aside than it must is one of those looked for.
        found = programme.solve(price, 0.0, only=forced)
    if found.x is None and found.status == 2:
        tight = programme.solve(None, np.inf)
        if tight.x is not None:
            # Presence is counted in whole numbers, widenings are continuous: the solver's tolerance is left to them.
            found = programme.solve(price, float(tight.fun) + NEGLIGIBLE)
            bound = getattr(found, "mip_dual_bound", None)
            found = tight if found.x is None else found
    if found.x is None:
        raise InfeasibleError(
            f"no repair leaves every partition a sample, or none was found in {seconds:g} s a step ({found.message})",
            "at least one whole group a partition",
            "freeze nothing, or leave the bounds out",
        )
    # The price of what is set aside is below a quarter of a sample in all.
    least = 0 if bound is None or not np.isfinite(bound) else int(np.ceil(bound - 0.25 - 1e-6))
    # Without any bound every group takes its own cheapest placement.
    cheapest = np.full(len(corpus.many), np.iinfo(np.int64).max)
    np.minimum.at(cheapest, options.kind, options.changed)
    return programme.read(found, max(int(corpus.many @ cheapest), least))


class _Programme:
    """The mixed-integer programme (HiGHS): numbers of groups, widenings of bounds, absences."""

    def __init__(self, corpus: Corpus, options: Placements, bounds: Bounds, seconds: float) -> None:
        self.corpus, self.options, self.seconds = corpus, options, seconds
        self.open = np.flatnonzero(~corpus.frozen)
        # Column 0 is about all samples, column 1 + c about class c.
        have = np.c_[
            corpus.many @ corpus.sizes[:, self.open], np.einsum("k,ksc->sc", corpus.many, corpus.counts)[self.open]
        ]
        x = np.concatenate([options.size[:, self.open, None], options.counts[:, self.open]], axis=2)
        total = have.sum(axis=0)
        self.bounded = np.flatnonzero(total > 0) if len(self.open) > 1 else np.zeros(0, np.int64)
        self.there = np.argwhere(have[:, 1:] > 0)
        self.share = have[:, self.bounded] / total[self.bounded]
        self.rows, self.low, self.high = self._rules(x, total, bounds)

    def _rules(self, x: Ints, total: Ints, bounds: Bounds) -> tuple[Any, Floats, Floats]:
        """All constraints but the one on the sum of widenings and absences."""
        from scipy.sparse import coo_array, csr_array, hstack, vstack

        p, r, h, parts = len(x), len(self.bounded), len(self.there), len(self.open)
        kinds = coo_array((np.ones(p), (self.options.kind, np.arange(p))), shape=(len(self.corpus.many), p))
        inside = x[:, :, self.bounded].astype(float)
        off = inside - self.share * inside.sum(axis=1, keepdims=True)
        wide = inside.sum(axis=1) * np.where(self.bounded == 0, bounds.share, bounds.by_class)
        give = np.kron(np.diag(total[self.bounded].astype(float)), np.ones((parts, 1)))
        none = np.zeros((r * parts, h))
        rules: list[tuple[Any, Any, Any, Any]] = [
            (kinds, np.zeros((kinds.shape[0], r + h)), self.corpus.many, self.corpus.many)
        ]
        for sign in (1, -1):
            left = (sign * off - wide[:, None]).transpose(2, 1, 0).reshape(r * parts, p)
            rules.append((left, np.c_[-give, none], np.full(r * parts, -np.inf), np.zeros(r * parts)))
        presence = x[:, self.there[:, 0], 1 + self.there[:, 1]].T
        rules.append((presence, np.c_[np.zeros((h, r)), np.eye(h)], np.ones(h), np.full(h, np.inf)))
        rules.append((x[:, :, 0].T, np.zeros((parts, r + h)), np.ones(parts), np.full(parts, np.inf)))
        rows = vstack([hstack([csr_array(a), csr_array(b)]) for a, b, *_ in rules if a.shape[0]], format="csr")
        low, high = (
            np.concatenate([np.asarray(v, float) for v in side]) for side in zip(*[t[2:] for t in rules], strict=True)
        )
        return rows, low, high

    def solve(self, price: Floats | None, allowed: float, only: Bools | None = None) -> Any:
        """The cheapest placement with at most this sum of widenings and absences; no price: that sum is the price.

        `only`: bool (P,), the placements that may be used.
        """
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        p, r, h = len(self.options.kind), len(self.bounded), len(self.there)
        slack = np.r_[np.zeros(p), np.ones(r + h)]
        rules = [LinearConstraint(self.rows, self.low, self.high)]
        if 0 < allowed < np.inf:
            rules.append(LinearConstraint(slack[None], -np.inf, allowed))
        most = np.r_[np.full(r, np.inf), np.ones(h)] if allowed else np.zeros(r + h)
        groups = self.corpus.many[self.options.kind] * (True if only is None else only)
        n = float(self.corpus.many @ self.corpus.sizes.sum(axis=1))
        found: Any = milp(
            slack if price is None else np.r_[price, np.zeros(r + h)],
            integrality=np.r_[np.ones(p), np.zeros(r), np.ones(h)],
            bounds=Box(0, np.r_[groups.astype(float), most]),
            constraints=rules,
            options={"time_limit": self.seconds, "mip_rel_gap": 0.0 if n <= PROVEN else 0.5 / n},
        )
        return found

    def read(self, found: Any, least: int) -> Solution:
        """The solver's result in whole groups, and what it did to the shares, counted anew."""
        chosen = np.rint(found.x[: len(self.options.kind)]).astype(np.int64)
        size = chosen @ self.options.size
        after = np.einsum("p,psc->sc", chosen, self.options.counts)
        absent = np.zeros(after.shape, bool)
        s, c = self.open[self.there[:, 0]], self.there[:, 1]
        absent[s, c] = after[s, c] == 0
        change = np.zeros(1 + after.shape[1])
        held = np.c_[size, after][np.ix_(self.open, self.bounded)]
        total = held.sum(axis=0)
        change[self.bounded] = np.where(total > 0, np.abs(held / np.maximum(total, 1) - self.share), 0).max(
            axis=0, initial=0
        )
        return Solution(chosen, least, change, absent)
