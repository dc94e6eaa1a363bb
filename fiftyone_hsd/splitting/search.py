"""Heuristic search over assignments of groups to partitions: greedy start, moves and swaps while they help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..model import Floats, Ints
from .aim import IMPORTANCE, Aim
from .table import Table

BATCH = 3000
"""Moves or swaps looked at in one step; a neighbourhood of at most this size is looked at whole."""
FINE = 0.0005
"""Deviation of a class share that is not worked on any more."""
SMALL = 70
"""Groups of a class that `polish` works on."""
KICKS = 12
"""Restarts from a disturbed best, for corpora whose whole neighbourhood fits a batch."""


def greedy(corpus: Table, wanted: Mapping[str, float], rng: np.random.Generator) -> Ints:
    """int64 (G,), rarest class first; each group to the partition that lacks most of the class, ties at random.

    The relative deficit is (f_s N_c - n_sc) / (f_s N_c) (method, section 3, step 2).
    """
    f = np.array(list(wanted.values()))
    counts, held, total = corpus.counts, corpus.groups_of_class, corpus.counts.sum(axis=0)
    favour = np.array([IMPORTANCE.get(name, 1.0) for name in wanted]) * 1e-6
    codes = np.full(len(counts), -1, np.int64)
    placed = np.zeros((len(f), counts.shape[1]))
    tie = rng.random(len(counts))
    for c in np.lexsort((total, held)).tolist():
        members = np.flatnonzero((codes < 0) & (counts[:, c] > 0))
        noise = rng.random((len(members), len(f))) * 1e-7 + (favour if held[c] < len(f) else 0)
        for i, g in enumerate(members[np.lexsort((tie[members], -counts[members, c]))].tolist()):
            s = int(((f * total[c] - placed[:, c]) / (f * total[c]) + noise[i]).argmax())
            codes[g] = s
            placed[s] += counts[g]
    return codes


def improve(aim: Aim, codes: Ints, rng: np.random.Generator, *, steps: int = 6000, patience: int = 30) -> Ints:
    """Repeat the best move or swap of a batch until nothing helps; never worse than the start.

    A small neighbourhood is looked at whole, so the end is a local optimum. Otherwise batches alternate between all
    groups and the groups of one class, drawn by its share error, until `patience` batches in a row bring nothing.
    """
    codes = codes.copy()
    if len(codes) < 2 or aim.partitions < 2:
        return codes
    excess, held = aim.excess(codes), aim.held(codes)
    members = [np.flatnonzero(aim.has[:, c]) for c in range(aim.classes)]
    whole = neighbourhood(np.arange(len(codes)), aim.partitions)
    idle = 0
    for step in range(steps):
        if whole is not None:
            proposal = whole
        elif step % 2:
            proposal = _focused(aim, excess, members, rng)
        else:
            proposal = _drawn(np.arange(len(codes)), aim.partitions, rng)
        first, second, shift = proposal
        to = np.where(second >= 0, codes[second], (codes[first] + shift) % aim.partitions)
        gain = _gain(aim, codes, excess, held, first, second, to)
        best = int(gain.argmax())
        if gain[best] <= 1e-10:
            idle += 1
            if whole is not None or idle >= patience:
                break
            continue
        idle = 0
        a, b, s = int(first[best]), int(second[best]), int(to[best])
        for g, t in ((a, s), (b, int(codes[a]))):
            if g >= 0:
                excess[codes[g]] -= aim.x[g]
                excess[t] += aim.x[g]
                held[codes[g]] -= aim.has[g]
                held[t] += aim.has[g]
        codes[a], origin = s, codes[a]
        if b >= 0:
            codes[b] = origin
    return codes


def kicked(aim: Aim, codes: Ints, rng: np.random.Generator, kicks: int = KICKS) -> Ints:
    """The best of repeated disturbances of the best so far, each followed by `improve`; for small corpora only."""
    best, cost = codes, aim.cost(codes)
    amount = aim.x.sum(axis=1) + 1e-9
    weight = amount / amount.sum()
    for _ in range(kicks):
        if cost <= 1e-10:
            break
        trial = best.copy()
        moved = rng.choice(len(trial), min(len(trial), int(rng.integers(1, 6))), replace=False, p=weight)
        trial[moved] = rng.integers(0, aim.partitions, len(moved))
        trial = improve(aim, trial, rng)
        value = aim.cost(trial)
        if value < cost - 1e-10:
            best, cost = trial, value
    return best


def turn(aim: Aim, parts: Sequence[Ints], codes: Ints) -> Ints:
    """Exchange two partitions within one independent part (see `exact.parts`) while that lowers the cost."""
    codes, cost, found = codes.copy(), aim.cost(codes), len(parts) > 1
    while found:
        found = False
        for rows in parts:
            for s, t in combinations(range(aim.partitions), 2):
                trial = codes.copy()
                trial[rows] = np.where(codes[rows] == s, t, np.where(codes[rows] == t, s, codes[rows]))
                value = aim.cost(trial)
                if value < cost - 1e-10:
                    codes, cost, found = trial, value, True
    return codes


def polish(aim: Aim, counts: Ints, codes: Ints, rng: np.random.Generator) -> Ints:
    """Disturb and improve the groups of one class at a time, where its shares are off by more than a file.

    Args:
        aim: an aim without second stratifiers.
        counts: int64 (G, C), samples of each class in each group.
        codes: int64 (G,), the start; the result is never worse.
    """
    codes = codes.copy()
    tolerance = np.maximum(FINE, 1 / counts.sum(axis=0))
    for c in np.argsort(counts.sum(axis=0), kind="stable").tolist():
        if np.abs(aim.excess(codes)[:, c]).max() <= tolerance[c]:
            continue
        rows = np.flatnonzero(counts[:, c])
        # Where the largest groups of the class sit decides, and its small ones reach the shares most finely.
        rows = rows[np.argsort(-counts[rows, c], kind="stable")]
        rows = np.unique(np.r_[rows[: SMALL // 4], rows[-(SMALL - SMALL // 4) :]])
        part = aim.restricted(rows, codes)
        codes[rows] = kicked(part, codes[rows], rng)
    return codes


Proposals = tuple[Ints, Ints, Ints]
"""First group, second group (-1 = a move), shift of the first group's partition (moves only)."""


def neighbourhood(rows: Ints, parts: int) -> Proposals | None:
    """Every move and swap of the groups at `rows`; None where there are more than a batch."""
    n = len(rows)
    if n * (parts - 1) + n * (n - 1) // 2 > BATCH:
        return None
    a, b = np.triu_indices(n, 1)
    shift = np.repeat(np.arange(1, parts), n)
    return (
        np.r_[np.tile(rows, parts - 1), rows[a]],
        np.r_[np.full(len(shift), -1), rows[b]],
        np.r_[shift, np.zeros(len(a), np.int64)],
    )


def _drawn(rows: Ints, parts: int, rng: np.random.Generator) -> Proposals:
    """Half swaps, half moves."""
    first, second = rows[rng.integers(0, len(rows), (2, BATCH))]
    swap = np.arange(BATCH) % 2 == 0
    return first, np.where(swap & (first != second), second, -1), rng.integers(1, parts, BATCH)


def _focused(aim: Aim, excess: Floats, members: list[Ints], rng: np.random.Generator) -> Proposals:
    """Moves and swaps of the groups of one class, drawn by its share error."""
    error = np.abs(excess[:, : aim.classes]).sum(axis=0) + 1e-9
    rows = members[int(rng.choice(aim.classes, p=error / error.sum()))]
    return neighbourhood(rows, aim.partitions) or _drawn(rows, aim.partitions, rng)


def _change(values: NDArray[np.float64] | Ints, first: Ints, second: Ints) -> Floats:
    """What leaves the partition of `first` (and arrives at the other): its own amounts less those that come back."""
    return np.asarray(values[first] - np.where(second[:, None] >= 0, values[second], 0), np.float64)


def _gain(aim: Aim, codes: Ints, excess: Floats, held: Ints, first: Ints, second: Ints, to: Ints) -> Floats:
    """(batch,), by how much each proposal lowers the cost."""
    source = codes[first]
    delta = _change(aim.x, first, second)
    a, b = excess[source], excess[to]
    gain = np.abs(a).sum(axis=1) + np.abs(b).sum(axis=1) - np.abs(a - delta).sum(axis=1) - np.abs(b + delta).sum(axis=1)
    change = _change(aim.has, first, second)
    for at, sign in ((source, -1), (to, 1)):
        now = held[at]
        # Most partitions hold far more groups than they need; only the others are looked at.
        near = np.flatnonzero(((now < aim.need[at]) | (now + sign * change < aim.need[at])).any(axis=1))
        if len(near):
            s = at[near]
            unit = aim.fine[s] / np.maximum(1, aim.need[s])
            before = np.maximum(0, aim.need[s] - now[near])
            gain[near] += (unit * (before - np.maximum(0, aim.need[s] - now[near] - sign * change[near]))).sum(axis=1)
    gain[source == to] = 0
    return np.asarray(gain)
