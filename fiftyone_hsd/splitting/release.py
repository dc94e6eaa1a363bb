"""Which files may change places when, along the ladder, and what that must give (the method's section 3, 3 to 5)."""

from __future__ import annotations

import numpy as np

from ..model import Bools, Floats, Ints
from .table import Table

NEAR = 0.1
"""A source cell may differ by this share of f_s from every f_s."""
CELL_GROUPS = 4
"""Groups that a source cell must hold."""


def wave_strata(corpus: Table, a: Ints, source: Ints | None, waves: int) -> Ints:
    """int64 (G,), (majority class, partition), and source where a group a wave is left (our choice)."""
    parts = int(a.max()) + 1
    stratum = corpus.majority * parts + a
    if source is None:
        return stratum
    table = np.zeros((len(a), int(source.max()) + 1), np.int64)
    np.add.at(table, (corpus.groups, source), 1)
    fine = np.unique(stratum * table.shape[1] + table.argmax(axis=1), return_inverse=True)[1].ravel()
    poor = np.unique(stratum[np.bincount(fine)[fine] < waves])
    return np.asarray(np.where(np.isin(stratum, poor), stratum, fine + stratum.max() + 1), np.int64)


def deal_waves(corpus: Table, stratum: Ints, free: Bools, waves: int, rng: np.random.Generator) -> Ints:
    """int64 (G,), the wave 0.. of each group: largest first to the wave with the least mass in its stratum.

    Equal waves of a stratum: first where the largest stratum of the class has
    most mass against the others, so that rare classes do not end up alone in their wave, then at random (our choice).
    Groups that are not free get the wave `waves`, which is never released.
    """
    sizes, majority = corpus.sizes, corpus.majority
    wave = np.full(len(sizes), waves, np.int64)
    tie = rng.random(len(sizes))
    noise = rng.random((len(sizes), waves)) * 1e-9
    mass_of = np.bincount(stratum, np.where(free, sizes, 0))
    order = np.lexsort((tie, -sizes, stratum, -mass_of[stratum], majority))
    order = order[free[order]]
    last, last_class = -1, -1
    mass, lead, current = np.zeros(waves), np.zeros(waves), False
    for g in order.tolist():
        if majority[g] != last_class:
            last_class, last, lead = int(majority[g]), -1, np.zeros(waves)
            current = False
        if stratum[g] != last:
            current, last = last == -1, int(stratum[g])
            mass = np.zeros(waves)
        w = int(np.lexsort((noise[g], -lead, mass))[0])
        wave[g] = w
        mass[w] += sizes[g]
        lead[w] += sizes[g] if current else -sizes[g]
    return wave


def merge_waves(corpus: Table, wave: Ints, a: Ints, waves: int, f: Floats) -> Ints:
    """The waves with those joined that could not release anything.

    Where the files of a class in one wave are all of one partition, while the class has several, no exchange is
    possible; its majority groups join the wave in which the shares then come nearest to f (our choice).
    """
    wave = wave.copy()
    classes, parts = corpus.counts.shape[1], len(f)
    for c in range(classes):
        n = np.zeros((waves + 1, parts))
        np.add.at(n, (wave, a), corpus.counts[:, c])
        n = n[:waves]
        if (n.sum(axis=0) > 0).sum() < 2:
            continue
        alone = (n > 0).sum(axis=1) == 1
        for w in np.flatnonzero(alone).tolist():
            others = np.flatnonzero(((n > 0).sum(axis=1) > 1) & (np.arange(waves) != w))
            others = others if len(others) else np.flatnonzero((n.sum(axis=1) > 0) & (np.arange(waves) != w))
            if not len(others):
                break
            joined = n[others] + n[w]
            distance = np.abs(joined / joined.sum(axis=1, keepdims=True) - f / f.sum()).sum(axis=1)
            to = int(others[distance.argmin()])
            move = (wave == w) & (corpus.majority == c)
            part_of = np.zeros(parts)
            np.add.at(part_of, a[move], corpus.counts[move, c])
            wave[move] = to
            n[w] -= part_of
            n[to] += part_of
    return wave


def exchange_cells(corpus: Table, wave: Ints, a: Ints, source: Ints | None, waves: int, f: Floats) -> Ints:
    """int64 (n,), the cell within which each file may change places; -1 = never.

    Cells are wave x kind; with a source wave x kind x source where that cell holds every partition within 10 % of its
    share and at least 4 groups. The source cells of a wave and kind that do not are merged, with the smallest good one
    too if what they make together still does not.

    Args:
        wave: int64 (G,); `waves` and above = never released.
        a: int64 (n,), partition of each file.
        source: int64 (n,) or None.
    """
    w = wave[corpus.groups]
    inside = w < waves
    cell = w * len(corpus.kinds) + corpus.labels
    cells = np.full(len(cell), -1, np.int64)
    if source is None:
        cells[inside] = np.unique(cell[inside], return_inverse=True)[1]
        return cells
    share, following = f / f.sum(), 0
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(cell[rows], kind="stable")]
    for block in np.split(rows, np.flatnonzero(np.diff(cell[rows])) + 1):
        if len(block):
            local = _merge_sources(source[block], a[block], corpus.groups[block], share)
            cells[block] = following + local
            following += int(local.max()) + 1
    return cells


def _merge_sources(source: Ints, a: Ints, groups: Ints, share: Floats) -> Ints:
    """Cell numbers 0.. of the files of one wave and kind."""
    local = np.unique(source, return_inverse=True)[1].ravel()
    size = np.bincount(local)
    good = [_holds(a[local == s], groups[local == s], share) for s in range(len(size))]
    if all(good):
        return np.asarray(local, np.int64)
    # The poor cells are one; it takes in good ones, smallest first, until it holds the shares itself.
    poor = np.isin(local, np.flatnonzero(~np.array(good)))
    for s in sorted(np.flatnonzero(good).tolist(), key=lambda k: (size[k], k)):
        if _holds(a[poor], groups[poor], share):
            break
        poor |= local == s
    return np.asarray(np.unique(np.where(poor, -1, local), return_inverse=True)[1].ravel(), np.int64)


def _holds(a: Ints, groups: Ints, share: Floats) -> bool:
    have = np.bincount(a, minlength=len(share)) / len(a)
    return len(np.unique(groups)) >= CELL_GROUPS and bool((np.abs(have - share) <= NEAR * share).all())


def permute_in_cells(a: Ints, cells: Ints, rng: np.random.Generator) -> Ints:
    """int64 (n,), the partition numbers permuted among the files of each cell; cell -1 stays."""
    key = rng.random(len(a))
    r = a.copy()
    rows = np.flatnonzero(cells >= 0)
    r[rows[np.argsort(cells[rows], kind="stable")]] = a[rows[np.lexsort((key[rows], cells[rows]))]]
    return r


def expected_pair_leak(cells: Ints, a: Ints, groups: Ints, kinds: Ints) -> tuple[float, Floats]:
    """Exact expectation of the relative pair leak after `permute_in_cells`; overall, and of each kind.

    Two mates of one cell with n files, n_s of them in partition s, differ with probability
    1 - sum n_s (n_s - 1) / (n (n - 1)); two of different cells with 1 - sum p_s q_s. Divided by 1 - sum f_s^2.

    Args:
        cells: int64 (n,), -1 = the file does not count (sentinel).
        a: int64 (n,), partition numbers before the permutation.
        groups: int64 (n,).
        kinds: int64 (n,), the kind of each file; one kind a cell.

    Returns:
        the expectation, and float64 (K,): over the pairs of mates of one kind and cell. nan where there are no mates.
    """
    inside = cells >= 0
    by_kind = np.full(int(kinds.max()) + 1, np.nan)
    if not inside.any():
        return float("nan"), by_kind
    cell, part = np.unique(cells[inside], return_inverse=True)[1].ravel(), a[inside]
    group, kind = np.unique(groups[inside], return_inverse=True)[1].ravel(), kinds[inside]
    n = np.zeros((int(cell.max()) + 1, int(part.max()) + 1))
    np.add.at(n, (cell, part), 1)
    size = n.sum(axis=1)
    p = n / size[:, None]
    same = (n * (n - 1)).sum(axis=1) / np.maximum(size * (size - 1), 1)
    key, m = np.unique(group * len(n) + cell, return_counts=True)
    g, at = key // len(n), key % len(n)
    inner = m * (m - 1.0) / 2
    differ = inner * (1 - same[at])
    # Pairs of one group in different cells: the square of the sum less the sum of squares.
    count = int(g.max()) + 1
    mixed = np.zeros((count, n.shape[1]))
    np.add.at(mixed, g, m[:, None] * p[at])
    across = np.bincount(g, m, count) ** 2 - np.bincount(g, m**2.0, count)
    alike = (mixed**2).sum(axis=1) - np.bincount(g, m**2.0 * (p[at] ** 2).sum(axis=1), count)
    pairs = float(inner.sum() + across.sum() / 2)
    scale = 1 - float(((n.sum(axis=0) / n.sum()) ** 2).sum())
    if not pairs or scale <= 0:
        return float("nan"), by_kind
    kind_of = np.zeros(len(n), np.int64)
    kind_of[cell] = kind
    of = np.bincount(kind_of[at], inner, len(by_kind))
    there = of > 0
    by_kind[there] = np.bincount(kind_of[at], differ, len(by_kind))[there] / of[there] / scale
    return float((differ.sum() + (across - alike).sum() / 2) / pairs / scale), by_kind
