"""Local search over assignments of groups to partitions: moves and swaps while they help."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Floats, Ints

BATCH = 3000
"""Moves or swaps looked at in one step."""
PENALTY = 10.0
"""Cost of a missing group where one is asked for; above any gain in class shares."""


def improve(
    codes: Ints,
    features: Floats,
    weights: Floats,
    f: Floats,
    counts: Ints,
    need: Ints,
    rng: np.random.Generator,
    *,
    steps: int = 4000,
    patience: int = 25,
) -> Ints:
    """Repeat the best move or swap of a random batch until `patience` batches in a row bring nothing.

    Args:
        codes: int64 (G,), the start.
        features: (G, F), amounts whose sum over each partition should be f_s.
        weights: (F,), weight of each feature in the L1 objective.
        f: (S,), shares.
        counts: int64 (G, C), samples of each class in each group.
        need: int64 (S, C), groups of each class a partition should hold.
        rng: the draw of batches.
        steps: bound on accepted steps.
        patience: batches without gain before the search ends.

    Returns:
        int64 (G,), never worse than the start.
    """
    codes = codes.copy()
    x = features * weights
    target = f[:, None] * x.sum(axis=0)
    excess = np.zeros((len(f), x.shape[1]))
    np.add.at(excess, codes, x)
    excess -= target
    has = (counts > 0).astype(np.int64)
    held = np.zeros((len(f), counts.shape[1]), np.int64)
    np.add.at(held, codes, has)
    hard = bool((need > 0).any())
    idle, done = 0, 0
    while done < steps and idle < patience and len(codes) > 1:
        first, second, to = _proposals(codes, len(f), rng)
        gain = _gains(codes, x, excess, first, second, to)
        if hard:
            gain += _hard_gains(codes, has, held, need, first, second, to)
        best = int(gain.argmax())
        if gain[best] <= 1e-12:
            idle += 1
            continue
        idle, done = 0, done + 1
        for g, s in ((first[best], to[best]), (second[best], codes[first[best]])):
            if g >= 0:
                excess[codes[g]] -= x[g]
                excess[s] += x[g]
                held[codes[g]] -= has[g]
                held[s] += has[g]
        a, b, target_of_a = int(first[best]), int(second[best]), int(to[best])
        if b >= 0:
            codes[b] = codes[a]
        codes[a] = target_of_a
    return codes


def _proposals(codes: Ints, parts: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Half moves (second = -1), half swaps; all ends differ in partition."""
    n = len(codes)
    size = min(BATCH, max(64, 4 * n * parts))
    first = rng.integers(0, n, size)
    other = rng.integers(0, n, size)
    is_swap = (np.arange(size) % 2 == 0) & (codes[first] != codes[other])
    shift = rng.integers(1, parts, size) if parts > 1 else np.zeros(size, np.int64)
    to = np.where(is_swap, codes[other], (codes[first] + shift) % parts)
    return first, np.where(is_swap, other, -1), to


def _change(values: NDArray[np.float64] | Ints, first: Ints, second: Ints) -> NDArray[np.float64]:
    """What leaves the partition of `first` (and arrives at the other): its own amounts less those that come back."""
    back = np.where(second[:, None] >= 0, values[second], 0)
    return np.asarray(values[first] - back, np.float64)


def _gains(codes: Ints, x: Floats, excess: Floats, first: Ints, second: Ints, to: Ints) -> Floats:
    delta = _change(x, first, second)
    source, target = excess[codes[first]], excess[to]
    before = np.abs(source).sum(axis=1) + np.abs(target).sum(axis=1)
    return np.asarray(before - np.abs(source - delta).sum(axis=1) - np.abs(target + delta).sum(axis=1))


def _hard_gains(codes: Ints, has: Ints, held: Ints, need: Ints, first: Ints, second: Ints, to: Ints) -> Floats:
    delta = _change(has, first, second)
    source, target = codes[first], to

    def missing(groups: NDArray[Any], where: Ints) -> Floats:
        return np.asarray((np.maximum(0, need[where] - groups) / np.maximum(1, need[where])).sum(axis=1))

    before = missing(held[source], source) + missing(held[target], target)
    after = missing(held[source] - delta, source) + missing(held[target] + delta, target)
    return PENALTY * (before - after)
