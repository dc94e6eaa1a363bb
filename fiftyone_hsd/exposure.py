"""Who outside train has a mate in train (the method's section 4, points 1 to 5 and 9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .model import SENTINEL, TRAIN, UNUSED, Descriptors, Exposure, Floats, Grouping, Ints, SplitPlan
from .similarity import neighbours


def exposure(
    plan: SplitPlan,
    grouping: Grouping | ArrayLike,
    descriptors: Descriptors | None = None,
    *,
    train: Sequence[str] = (TRAIN,),
) -> Exposure:
    """Exposure of every sample outside train.

    Args:
        plan: any split.
        grouping: a Grouping, or int (n,) group codes; -1 has no mates.
        descriptors: with them the most similar train sample is searched, exactly.
        train: the partitions that count as train, for instance ("train", "val").

    Returns:
        an Exposure; mates of a train sample are its other mates in train.
    """
    codes = grouping.codes if isinstance(grouping, Grouping) else np.asarray(grouping, np.int64)
    in_train = np.isin(plan.partition, list(train))
    evaluated = ~in_train & (plan.partition != UNUSED)
    known = codes >= 0
    held = np.bincount(codes[known & in_train], minlength=int(codes.max(initial=-1)) + 1)
    mates = np.zeros(len(codes), np.int64)
    mates[known] = held[codes[known]] - in_train[known]
    nearest = np.full(len(codes), -1, np.int64)
    similarity = np.full(len(codes), np.nan, np.float32)
    rows, base = np.flatnonzero(evaluated), np.flatnonzero(in_train)
    if descriptors is not None and len(rows) and len(base):
        value, index = neighbours(descriptors.values[rows], 1, descriptors.values[base])
        found = index[:, 0] >= 0
        nearest[rows[found]] = base[index[found, 0]]
        similarity[rows] = value[:, 0]
    return Exposure(plan.condition, plan.seed, evaluated & (mates > 0), mates, nearest, similarity, evaluated)


def exposure_rate(result: Exposure, rows: ArrayLike | None = None) -> float:
    """Share of evaluated samples (of those in the boolean mask `rows`) that are exposed; nan if there are none."""
    here = result.evaluated if rows is None else result.evaluated & np.asarray(rows, bool)
    return float(result.exposed[here].mean()) if here.any() else float("nan")


def crossing(plan: SplitPlan, codes: ArrayLike) -> tuple[float, float, int]:
    """Share of the groups of two or more that are in two or more partitions, share of their files, and their number.

    Unused samples do not count. nan where there is no group of two or more.
    """
    code, part = _used(plan, codes)
    size = np.bincount(code)
    key = np.unique(code * (int(part.max(initial=0)) + 1) + part) // (int(part.max(initial=0)) + 1)
    spread = np.bincount(key, minlength=len(size))
    many = size > 1
    if not many.any():
        return float("nan"), float("nan"), 0
    cross = many & (spread > 1)
    return float(cross.sum() / many.sum()), float(size[cross].sum() / size[many].sum()), int(cross.sum())


def relative_pair_leak(plan: SplitPlan, codes: ArrayLike) -> float:
    """Share of mate pairs whose ends are in different partitions, over 1 - sum f_s^2.

    1 = like single files dealt at random. Unused and sentinel samples do not count. nan = no mate pairs: not defined.
    """
    code, part = _used(plan, codes, (UNUSED, SENTINEL))
    if not len(code):
        return float("nan")
    size = np.bincount(code).astype(float)
    _, count = np.unique(code * (int(part.max()) + 1) + part, return_counts=True)
    pairs = float((size * (size - 1)).sum() / 2)
    together = float((count * (count - 1)).sum() / 2)
    share = np.bincount(part) / len(part)
    scale = 1 - float((share**2).sum())
    return (pairs - together) / pairs / scale if pairs and scale > 0 else float("nan")


def _used(plan: SplitPlan, codes: ArrayLike, without: Sequence[str] = (UNUSED,)) -> tuple[Ints, Ints]:
    code = np.asarray(codes, np.int64)
    use = ~np.isin(plan.partition, list(without)) & (code >= 0)
    part = np.unique(plan.partition[use], return_inverse=True)[1].astype(np.int64)
    return code[use], part


def chance_exposed(group_in_cell: ArrayLike, cell: ArrayLike, train_slots: ArrayLike, own_cell: int) -> float:
    """Chance that a test file has a mate in train when files are dealt at random inside cells.

    Args:
        group_in_cell: int (B,), m_b: files of its group in each cell, the test file itself included.
        cell: int (B,), N_b: files in each cell.
        train_slots: int (B,), t_b: places in train in each cell.
        own_cell: the cell of the test file, which is out of its own cell.

    Returns:
        1 - product over b of C(N_b - m_b, t_b) / C(N_b, t_b).
    """
    from scipy.special import gammaln

    m, n, t = (np.array(v, dtype=float) for v in (group_in_cell, cell, train_slots))
    m[own_cell] -= 1
    n[own_cell] -= 1

    def log_choose(a: Floats, b: Floats) -> Floats:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    if (t > n - m).any():
        return 1.0
    return float(1 - np.exp((log_choose(n - m, t) - log_choose(n, t)).sum()))
