"""The ladder: five conditions from whole groups to single files (the method's section 3).

The class x partition counts are the same in all conditions and the sets of exposed test samples are nested: what
changes along the ladder is who shares a group with whom, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..model import SENTINEL, Bools, Floats, Ints, Note, SplitPlan
from .intact import assign, class_names, deviations
from .table import Table, shares, table

CONDITIONS = ("intact", "q25", "q50", "q75", "random")
SHUFFLE = "shuffle"
"""Name of the plain class-stratified shuffle of files, added where `random` cannot release enough."""
WAVES = len(CONDITIONS) - 1
RELEASED = 0.9
"""Expected relative pair leak below which the last condition is called maximal release."""


def ladder(
    labels: ArrayLike,
    groups: ArrayLike,
    fractions: Mapping[str, float],
    *,
    seed: int,
    ids: Sequence[str] | None = None,
    source: ArrayLike | None = None,
    sentinel: float = 0.0,
    unknown: str = "refuse",
    names: Sequence[str] = (),
) -> list[SplitPlan]:
    """Five plans, intact, q25, q50, q75 and random; a sixth, shuffle, where random is a maximal release only.

    Args:
        labels, groups, fractions, seed, ids, sentinel, unknown, names: as `intact`.
        source: (n,) site or source of each sample; files then change places only within their source, where every
            such cell can take it.

    Returns:
        SplitPlans in order of release.

    Raises:
        InfeasibleError, InputError: as `intact`.
    """
    corpus = table(labels, groups, ids, unknown)
    wanted = shares(fractions, sentinel)
    called = class_names(corpus, names)
    parts = np.array(list(wanted), dtype=np.str_)
    f = np.array(list(wanted.values()))
    whole = assign(corpus, wanted, seed, called)
    a = whole[corpus.groups]
    free = parts[whole] != SENTINEL
    wave = deal_waves(corpus, whole, free, seed)
    cells = exchange_cells(corpus, wave, a, None if source is None else np.asarray(source)[corpus.order], f)
    r = permute_in_cells(a, cells, seed)
    leak, by_class = expected_pair_leak(corpus, cells, a)
    notes = [*deviations(corpus, whole, wanted, called), *_release_notes(leak, by_class, called)]
    plans = []
    for k, condition in enumerate(CONDITIONS):
        codes = np.where(wave[corpus.groups] < k, r, a)
        plans.append(SplitPlan.of(condition, seed, corpus.back(parts[codes]), ids, notes))
    if leak < RELEASED:
        loose = permute_in_cells(a, np.where(free[corpus.groups], corpus.labels, -1), seed)
        plans.append(SplitPlan.of(SHUFFLE, seed, corpus.back(parts[loose]), ids, notes))
    return plans


def deal_waves(corpus: Table, whole: Ints, free: Bools, seed: int) -> Ints:
    """int64 (G,), the wave 0..3 of each group: largest first to the wave with the least mass in its stratum.

    Strata are (majority class, partition); the sentinel's groups are in no wave (a large number).
    """
    rng = np.random.default_rng([seed, 2])
    tie = rng.random(len(whole))
    sizes = corpus.sizes
    wave = np.full(len(whole), WAVES + 1, np.int64)
    stratum = corpus.majority * (int(whole.max()) + 1) + whole
    order = np.lexsort((tie, -sizes, stratum))
    order = order[free[order]]
    mass, last = np.zeros(WAVES), -1
    for g in order.tolist():
        if stratum[g] != last:
            mass, last = rng.random(WAVES) * 1e-6, int(stratum[g])
        w = int(mass.argmin())
        wave[g] = w
        mass[w] += sizes[g]
    return wave


def exchange_cells(corpus: Table, wave: Ints, a: Ints, source: np.ndarray | None, f: Floats) -> Ints:
    """int64 (n,), the cell in which each file may change places with others; -1 = never (sentinel).

    Cells are wave x class; with a source, wave x class x source where every such cell of that wave and class holds each
    partition within 10 % of its share and at least 4 groups, else the sources of that wave and class are merged.
    """
    w = wave[corpus.groups]
    cell = w * len(corpus.classes) + corpus.labels
    inside = w < WAVES
    if source is not None:
        code = np.unique(source, return_inverse=True)[1]
        fine = cell * (int(code.max()) + 1) + code
        share = f / f.sum()
        for c in np.unique(cell[inside]):
            rows = np.flatnonzero(inside & (cell == c))
            if all(
                _holds(a[rows[fine[rows] == s]], corpus.groups[rows[fine[rows] == s]], share)
                for s in np.unique(fine[rows])
            ):
                cell[rows] = fine[rows] + (int(cell.max()) + 1) * 1
    result = np.full(len(cell), -1, np.int64)
    result[inside] = np.unique(cell[inside], return_inverse=True)[1]
    return result


def _holds(a: Ints, groups: Ints, share: Floats) -> bool:
    have = np.bincount(a, minlength=len(share)) / len(a)
    return len(np.unique(groups)) >= 4 and bool((np.abs(have - share) <= 0.1 * share).all())


def permute_in_cells(a: Ints, cells: Ints, seed: int) -> Ints:
    """int64 (n,), the partition numbers permuted among the files of each cell; cell -1 stays."""
    rng = np.random.default_rng([seed, 3])
    key = rng.random(len(a))
    r = a.copy()
    rows = np.flatnonzero(cells >= 0)
    r[rows[np.argsort(cells[rows], kind="stable")]] = a[rows[np.lexsort((key[rows], cells[rows]))]]
    return r


def expected_pair_leak(corpus: Table, cells: Ints, a: Ints) -> tuple[float, Floats]:
    """Exact expectation of the relative pair leak at `random`, given the cells; overall and per class.

    Two mates of one cell with n files, n_s of them in partition s, differ with probability
    1 - sum n_s (n_s - 1) / (n (n - 1)); two of different cells with 1 - sum p_s q_s. Divided by 1 - sum f_s^2.
    Per class: over the pairs of mates that both have that class. nan where there are no mates. The sentinel (cell -1)
    does not count.
    """
    inside = cells >= 0
    cell, part, groups, label = cells[inside], a[inside], corpus.groups[inside], corpus.labels[inside]
    nothing = np.full(len(corpus.classes), np.nan)
    if not len(cell):
        return float("nan"), nothing
    n = np.zeros((int(cell.max()) + 1, int(part.max()) + 1))
    np.add.at(n, (cell, part), 1)
    size = n.sum(axis=1)
    p = n / np.maximum(size, 1)[:, None]
    same = (n * (n - 1)).sum(axis=1) / np.maximum(size * (size - 1), 1)
    key = np.unique(groups * len(n) + cell, return_counts=True)
    group, at, m = key[0] // len(n), key[0] % len(n), key[1].astype(float)
    label_of_cell = np.zeros(len(n), np.int64)
    label_of_cell[cell] = label
    scale = 1 - float(((n.sum(axis=0) / n.sum()) ** 2).sum())
    # pairs inside one (group, cell)
    inner = m * (m - 1) / 2
    differ = inner * (1 - same[at])
    # pairs across cells of one group: (sum)^2 less the squares
    total = np.zeros((len(corpus.counts), n.shape[1]))
    np.add.at(total, group, m[:, None] * p[at])
    count = np.bincount(group, m, minlength=len(corpus.counts))
    own = np.bincount(group, m**2, minlength=len(corpus.counts))
    own_same = np.bincount(group, m**2 * (p[at] ** 2).sum(axis=1), minlength=len(corpus.counts))
    across = (count**2 - own) / 2
    across_same = ((total**2).sum(axis=1) - own_same) / 2
    pairs = float(inner.sum() + across.sum())
    leak = (differ.sum() + (across - across_same).sum()) / pairs / scale if pairs and scale > 0 else float("nan")
    by = np.bincount(label_of_cell[at], differ, minlength=len(corpus.classes))
    of = np.bincount(label_of_cell[at], inner, minlength=len(corpus.classes))
    shared = of > 0
    nothing[shared] = by[shared] / of[shared] / max(scale, 1e-12)
    return float(leak), nothing


def _release_notes(leak: float, by_class: Floats, called: Sequence[str]) -> list[Note]:
    if np.isnan(leak):
        return [Note("warning", "release", "no sample has a mate: the ladder's conditions cannot differ in exposure")]
    if leak >= RELEASED:
        return []
    held = [called[c] for c in np.flatnonzero(by_class < RELEASED).tolist()]
    text = (
        f"`random` is a maximal release only: its expected relative pair leak is {leak:.2f}; "
        "`shuffle`, a plain class-stratified shuffle of files, is the true endpoint. Classes that could not release"
    )
    return [Note("warning", "release", text, len(held), tuple(held))]
