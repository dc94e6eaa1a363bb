"""Who outside train has a mate in train (the method's section 4, points 1 to 5 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .errors import FieldError, InputError
from .model import SENTINEL, TRAIN, UNUSED, Bools, Descriptors, Exposure, Floats, Grouping, Ints, SplitPlan
from .splitting.release import expected_pair_leak

__all__ = [
    "Rate",
    "chance_exposed",
    "chances_exposed",
    "crossing",
    "expected_pair_leak",
    "exposure",
    "exposure_levels",
    "exposure_rate",
    "fold_exposure",
    "rates",
    "relative_pair_leak",
    "similar_to_train",
]


def exposure(
    plan: SplitPlan,
    grouping: Grouping | ArrayLike,
    descriptors: Descriptors | None = None,
    *,
    train: Sequence[str] = (TRAIN,),
) -> Exposure:
    """Exposure of every sample outside train.

    Args:
        plan: any split, drawn here or not.
        grouping: a Grouping, or int (n,) group codes; -1 has no mates.
        descriptors: with them the most similar train sample is searched, exactly, whatever its group.
        train: the partitions that count as train, for instance ("train", "val").

    Returns:
        an Exposure; mates of a train sample are its other mates in train.

    Raises:
        FieldError: the plan has none of the `train` partitions.
        InputError: plan, groups and descriptors differ in length.
    """
    codes = _codes(plan, grouping)
    in_train = np.isin(plan.partition, list(train))
    if len(plan) and not in_train.any():
        there = ", ".join(np.unique(plan.partition).tolist())
        raise FieldError(f"no sample is in {' or '.join(train)}", f"the plan has {there}", "name one of these as train")
    evaluated = ~in_train & (plan.partition != UNUSED)
    mates = _mates(codes, in_train)
    nearest, similarity = _nearest(plan, descriptors, evaluated, in_train)
    return Exposure(plan.condition, plan.seed, evaluated & (mates > 0), mates, nearest, similarity, evaluated)


def fold_exposure(plan: SplitPlan, grouping: Grouping | ArrayLike, descriptors: Descriptors | None = None) -> Exposure:
    """Exposure in cross-validation: each sample, tested in its own fold, against all other folds as train.

    Args:
        plan: its partitions are the folds; unused and sentinel samples take no part.

    Returns:
        an Exposure with `mates_in_train` = mates in other folds.
    """
    codes = _codes(plan, grouping)
    use = ~np.isin(plan.partition, [UNUSED, SENTINEL])
    mates = np.zeros(len(codes), np.int64)
    nearest, similarity = np.full(len(codes), -1, np.int64), np.full(len(codes), np.nan, np.float32)
    for fold in np.unique(plan.partition[use]).tolist():
        inside = use & (plan.partition == fold)
        mates[inside] = _mates(codes, use & ~inside)[inside]
        found, value = _nearest(plan, descriptors, inside, use & ~inside)
        nearest[inside], similarity[inside] = found[inside], value[inside]
    return Exposure(plan.condition, plan.seed, use & (mates > 0), mates, nearest, similarity, use)


def exposure_levels(
    plan: SplitPlan, levels: Mapping[str, Grouping | ArrayLike], *, train: Sequence[str] = (TRAIN,)
) -> dict[str, Exposure]:
    """Exposure at every level of grouping given: patient, slide, field, ...; without similarity search."""
    return {name: exposure(plan, groups, train=train) for name, groups in levels.items()}


def _codes(plan: SplitPlan, grouping: Grouping | ArrayLike) -> Ints:
    codes = grouping.codes if isinstance(grouping, Grouping) else np.asarray(grouping, np.int64)
    if codes.shape != plan.partition.shape:
        raise InputError(f"{codes.shape} group codes for {len(plan)} samples", "one group code a sample")
    return codes


def _mates(codes: Ints, in_train: Bools) -> Ints:
    """int64 (n,), other samples of the same group among `in_train`."""
    known = codes >= 0
    held = np.bincount(codes[known & in_train], minlength=int(codes.max(initial=-1)) + 1)
    mates = np.zeros(len(codes), np.int64)
    mates[known] = held[codes[known]] - in_train[known]
    return mates


def _nearest(
    plan: SplitPlan, descriptors: Descriptors | None, evaluated: Bools, in_train: Bools
) -> tuple[Ints, np.ndarray]:
    """Row and cosine of the most similar train sample of each evaluated one; -1 and nan elsewhere."""
    nearest = np.full(len(plan), -1, np.int64)
    similarity = np.full(len(plan), np.nan, np.float32)
    rows, base = np.flatnonzero(evaluated), np.flatnonzero(in_train)
    if descriptors is None or not len(rows) or not len(base):
        return nearest, similarity
    if len(descriptors) != len(plan):
        raise InputError(f"{len(descriptors)} descriptors for {len(plan)} samples", "one descriptor a sample")
    from .similarity import neighbours

    value, index = neighbours(descriptors.values[rows], 1, descriptors.values[base])
    found = index[:, 0] >= 0
    nearest[rows[found]] = base[index[found, 0]]
    similarity[rows[found]] = value[found, 0]
    return nearest, similarity


def similar_to_train(result: Exposure, cut: float) -> Bools:
    """bool (n,), evaluated samples whose most similar train sample is at or above the calibrated cut."""
    with np.errstate(invalid="ignore"):
        return np.asarray(result.evaluated & (result.nearest_similarity >= cut), bool)


def exposure_rate(result: Exposure, rows: ArrayLike | None = None) -> float:
    """Share of evaluated samples (of those in the boolean mask `rows`) that are exposed; nan if there are none."""
    here = result.evaluated if rows is None else result.evaluated & np.asarray(rows, bool)
    return float(result.exposed[here].mean()) if here.any() else float("nan")


@dataclass(frozen=True)
class Rate:
    """One exposure rate.

    Attributes:
        partition: the partition it is about.
        class_name: a class; "" = all samples; "(macro)" = mean over the classes with samples.
        rate: exposed share; nan = no samples.
        dose: mean number of mates in train per sample.
        n: samples (macro: classes).
    """

    partition: str
    class_name: str
    rate: float
    dose: float
    n: int


def rates(result: Exposure, plan: SplitPlan, labels: ArrayLike, classes: Sequence[str]) -> list[Rate]:
    """Exposure rate and dose overall, macro and per class, of every evaluated partition; -1 counts overall only."""
    label = np.asarray(labels)
    table: list[Rate] = []
    for part in np.unique(plan.partition[result.evaluated]).tolist():
        inside = result.evaluated & (plan.partition == part)
        by_class = [_rate(result, inside & (label == c), part, name) for c, name in enumerate(classes)]
        there = [r for r in by_class if r.n]
        table.append(_rate(result, inside, part, ""))
        if there:
            means = (float(np.mean([r.rate for r in there])), float(np.mean([r.dose for r in there])))
            table.append(Rate(part, "(macro)", *means, len(there)))
        table += by_class
    return table


def _rate(result: Exposure, rows: Bools, part: str, name: str) -> Rate:
    n = int(rows.sum())
    dose = float(result.mates_in_train[rows].mean()) if n else float("nan")
    return Rate(part, name, exposure_rate(result, rows), dose, n)


def crossing(plan: SplitPlan, groups: Grouping | ArrayLike) -> tuple[float, float, int]:
    """Share of the groups of two or more that are in two or more partitions, share of their files, and their number.

    Unused samples do not count. nan where there is no group of two or more.
    """
    code, part = _used(plan, groups)
    size = np.bincount(code)
    key = np.unique(code * (int(part.max(initial=0)) + 1) + part) // (int(part.max(initial=0)) + 1)
    spread = np.bincount(key, minlength=len(size))
    many = size > 1
    if not many.any():
        return float("nan"), float("nan"), 0
    cross = many & (spread > 1)
    return float(cross.sum() / many.sum()), float(size[cross].sum() / size[many].sum()), int(cross.sum())


def relative_pair_leak(plan: SplitPlan, groups: Grouping | ArrayLike) -> float:
    """Share of mate pairs whose ends are in different partitions, over 1 - sum f_s^2, f_s the shares reached.

    1 = like single files dealt at random; its exact expectation inside cells is `expected_pair_leak`. Unused and
    sentinel samples do not count. nan = no mate pairs: not defined.
    """
    code, part = _used(plan, groups, (UNUSED, SENTINEL))
    if not len(code):
        return float("nan")
    size = np.bincount(code).astype(float)
    _, count = np.unique(code * (int(part.max()) + 1) + part, return_counts=True)
    pairs = float((size * (size - 1)).sum() / 2)
    together = float((count * (count - 1.0)).sum() / 2)
    share = np.bincount(part) / len(part)
    scale = 1 - float((share**2).sum())
    return (pairs - together) / pairs / scale if pairs and scale > 0 else float("nan")


def _used(plan: SplitPlan, groups: Grouping | ArrayLike, without: Sequence[str] = (UNUSED,)) -> tuple[Ints, Ints]:
    code = _codes(plan, groups)
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
    m, n, t = (np.array(v, dtype=float) for v in (group_in_cell, cell, train_slots))
    m[own_cell] -= 1
    n[own_cell] -= 1
    return float(-np.expm1(_log_none_in_train(m, n, t).sum()))


def chances_exposed(groups: Grouping | ArrayLike, cells: ArrayLike, in_train: ArrayLike) -> Floats:
    """Chance of every sample, were it a test file, to have a mate in train under a random deal inside cells.

    Args:
        groups: a Grouping or int (n,) codes; -1 has no mates.
        cells: int (n,), usually the labels: a class-stratified deal of single files. -1 = not dealt.
        in_train: bool (n,), the places in train.

    Returns:
        float64 (n,); nan outside the cells. A place in train counts as given to others: it is no test place.
    """
    code = groups.codes if isinstance(groups, Grouping) else np.asarray(groups, np.int64)
    cell, train = np.asarray(cells, np.int64), np.asarray(in_train, bool)
    chance = np.full(len(code), np.nan)
    dealt = cell >= 0
    chance[dealt] = 0.0
    use = dealt & (code >= 0)
    if not use.any():
        return chance
    size = np.bincount(cell[dealt]).astype(float)
    slots = np.bincount(cell[dealt & train], minlength=len(size)).astype(float)
    key, inverse, m = np.unique(code[use] * len(size) + cell[use], return_inverse=True, return_counts=True)
    group, at = key // len(size), key % len(size)
    none = _log_none_in_train(m.astype(float), size[at], slots[at])
    own = _log_none_in_train(m - 1.0, size[at] - 1, slots[at])
    # The product over the other cells; certainty (-inf) is counted, so that it can be taken out again.
    sure = np.isneginf(none)
    total = np.bincount(group, np.where(sure, 0, none))
    certain = np.bincount(group, sure)
    rest = total[group] - np.where(sure, 0, none)
    rest[certain[group] - sure > 0] = -np.inf
    chance[use] = -np.expm1(rest + own)[inverse.ravel()]
    return chance


def _log_none_in_train(m: Floats, n: Floats, t: Floats) -> Floats:
    """log [C(n - m, t) / C(n, t)]; -inf where the places outside train do not suffice for m files."""
    from scipy.special import gammaln

    result = np.full(len(m), -np.inf)
    free = (t <= n - m) & (t <= n)
    m, n, t = m[free], n[free], t[free]
    result[free] = gammaln(n - m + 1) - gammaln(n - m - t + 1) - gammaln(n + 1) + gammaln(n - t + 1)
    # No file, no chance: without the rounding of the logarithms.
    result[free] = np.where(m == 0, 0, np.minimum(result[free], 0))
    return result
