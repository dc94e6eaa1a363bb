"""Intervals for scores on grouped data (the method's section 4).

Image-level intervals are wrong where images share groups, and split seeds reuse one corpus and are no replicates. So
one exponential weight is drawn for each group of the corpus and used in all seeds and conditions; the variance of a
mean over J seeds is the bootstrap variance of that mean plus s_seed^2 / J, and the interval is a t interval with
sum over classes of (G_c - 1) degrees of freedom. Where the method is silent, the choice is named as ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .model import Floats, Ints

DRAWS = 1000
LEVEL = 0.95
NAN = float("nan")
SAME = 1e-12
NEVER = -1e4


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval.

    Attributes:
        estimate, low, high: nan = not estimable.
        p: two-sided, against 0; nan = not tested.
        error: standard error.
    """

    estimate: float
    low: float = NAN
    high: float = NAN
    p: float = NAN
    error: float = NAN

    def within(self, lowest: float, highest: float) -> Interval:
        """The interval cut to the values that the number can take."""
        return replace(self, low=_cut(self.low, lowest, highest), high=_cut(self.high, lowest, highest))


def _cut(value: float, lowest: float, highest: float) -> float:
    return min(max(value, lowest), highest) if np.isfinite(value) else value


@dataclass(frozen=True)
class Support:
    """What an interval rests on: distinct test groups of each tested class, over all seeds together.

    Attributes:
        held: groups of each tested class, all above 0.
        groups: distinct groups over all classes (less than the sum where groups hold several classes).
    """

    held: tuple[int, ...]
    groups: int

    @staticmethod
    def of(held: ArrayLike, groups: int) -> Support:
        """From (C,) counts; classes that are not tested are left out."""
        return Support(tuple(int(g) for g in np.asarray(held).tolist() if g > 0), int(groups))

    @property
    def df(self) -> int:
        """Sum over classes of (G_c - 1), at most groups - 1: mixed groups are not counted twice (our choice)."""
        return max(0, min(sum(g - 1 for g in self.held), self.groups - 1))

    @property
    def small_sample(self) -> float:
        """Mean over classes of (G_c + 1) / (G_c - 1): what Exp(1) weights miss of a variance; inf if a G_c is 1."""
        if not self.held or min(self.held) < 2:
            return float("inf")
        return float(np.mean([(g + 1) / (g - 1) for g in self.held]))

    @property
    def unseen(self) -> float:
        """Half width where no group moves the estimate: the error rate that the tested groups would have missed in 95 %
        of cases (rule of three by group, all of it in the class with the fewest groups; our choice)."""
        return (1 - 0.05 ** (1 / min(self.held))) / len(self.held) if self.held else NAN

    def fewest(self, other: Support) -> Support:
        """The poorer of two."""
        return self if self.df <= other.df else other


def seed_interval(estimates: ArrayLike, draws: ArrayLike, support: Support, level: float = LEVEL) -> Interval:
    """Interval of the mean of a statistic over split seeds.

    Args:
        estimates: (J,), the statistic of each seed.
        draws: (B, J), the same under each draw of group weights, paired over seeds.
        support: the test groups behind it.
        level: coverage aimed at.

    Returns:
        an Interval.
    """
    value, boot = np.asarray(estimates, float), np.asarray(draws, float)
    return pooled_interval(float(value.mean()), boot.mean(axis=1), value, support, level)


def pooled_interval(
    estimate: float, draws: ArrayLike, seeds: ArrayLike, support: Support, level: float = LEVEL
) -> Interval:
    """Interval of a statistic that is computed from all seeds together.

    Var = Var_bootstrap + s_seed^2 / J. With one seed the second term is unknown and left out; the interval is then
    about this one split only, and the bootstrap variance is multiplied by `support.small_sample`, without which few
    test groups would give too narrow an interval (our choice; checked by simulation).

    Args:
        estimate: the statistic.
        draws: (B,), the same under each draw of group weights.
        seeds: (J,), the statistic of each seed, or its linear part.
        support: the test groups behind it; without degrees of freedom there is no interval.
        level: coverage aimed at.
    """
    from scipy.stats import t

    boot, value = np.asarray(draws, float), np.asarray(seeds, float)
    if not np.isfinite(estimate) or not np.isfinite(boot).all() or not np.isfinite(value).all():
        return Interval(estimate)
    variance = float(boot.var(ddof=1))
    if len(value) > 1:
        variance += float(value.var(ddof=1)) / len(value)
    elif support.df and variance > SAME**2:
        variance *= support.small_sample
    error = variance**0.5
    if support.df < 1 or not np.isfinite(error):
        return Interval(estimate)
    if error <= SAME:
        half = support.unseen
        return Interval(estimate, estimate - half, estimate + half, 1.0 if abs(estimate) <= half else NAN, 0.0)
    half = float(t.ppf(0.5 + level / 2, support.df)) * error
    p = float(2 * t.sf(abs(estimate) / error, support.df))
    return Interval(estimate, estimate - half, estimate + half, p, error)


def intraclass_correlation(correct: ArrayLike, groups: ArrayLike, labels: ArrayLike) -> float:
    """ICC of correctness by group, within class: the one-way analysis-of-variance estimator, cells = (class, group).

    nan where no cell has two samples, there is nothing between cells to compare, or correctness does not vary. It is
    not cut at 0.
    """
    value = np.asarray(correct, float)
    if not len(value):
        return NAN
    label = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    code = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    cell = np.unique(label * (int(code.max()) + 1) + code, return_inverse=True)[1]
    m = np.bincount(cell).astype(float)
    mean = np.bincount(cell, value) / m
    of = np.zeros(len(m), np.int64)
    of[cell] = label
    size, cells = np.bincount(label).astype(float), np.bincount(of).astype(float)
    grand = np.bincount(label, value) / size
    between_df, within_df = float((cells - 1).sum()), float((m - 1).sum())
    if between_df < 1 or within_df < 1:
        return NAN
    between = float((m * (mean - grand[of]) ** 2).sum()) / between_df
    within = float(((value - mean[cell]) ** 2).sum()) / within_df
    typical = float((size - np.bincount(of, m**2) / size).sum()) / between_df
    total = between + (typical - 1) * within
    return (between - within) / total if total > SAME else NAN


def design_effect(groups: ArrayLike, icc: float) -> float:
    """1 + (sum m^2 / sum m - 1) ICC, m = test images of each group; an ICC below 0 counts as 0 (our choice)."""
    m = np.unique(np.asarray(groups), return_counts=True)[1].astype(float)
    if not len(m) or not np.isfinite(icc):
        return NAN
    return 1 + (float((m**2).sum() / m.sum()) - 1) * max(icc, 0.0)


def adjusted(p: Iterable[float]) -> Floats:
    """p values of Benjamini and Hochberg (1995), in the given order; nan stays nan and does not count."""
    value = np.asarray(list(p), float)
    result = np.full(len(value), NAN)
    tested = np.flatnonzero(np.isfinite(value))
    order = tested[np.argsort(value[tested], kind="stable")]
    m = len(order)
    if m:
        scaled = value[order] * m / np.arange(1, m + 1)
        result[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return result


def exposure_chances(groups: Ints, labels: Ints, train: ArrayLike, rows: Ints) -> Floats:
    """(len(rows),) chance of each sample to have a mate in train when files are dealt at random inside classes (4.9).

    1 - prod_c C(N_c - m_c, t_c) / C(N_c, t_c) over classes c: N_c files, m_c of them mates, t_c in train; the sample
    itself is out of its own class. Cost: one term for each class that each group holds.

    Args:
        groups, labels: int64 (n,), every sample that is dealt.
        train: bool (n,).
        rows: the samples asked about, none of them in train.
    """
    from scipy.special import gammaln

    c = int(labels.max()) + 1
    size = np.bincount(labels, minlength=c).astype(float)
    slots = np.bincount(labels[np.asarray(train, bool)], minlength=c).astype(float)

    def log_none(mates: Floats, files: Floats, taken: Floats) -> Floats:
        """log of the chance that `taken` of `files` hold none of `mates`; NEVER where they must hold one."""
        room = files - mates - taken
        some = gammaln(files - mates + 1) - gammaln(np.maximum(room, 0) + 1)
        every = gammaln(files + 1) - gammaln(files - taken + 1)
        return np.where(room < 0, NEVER, some - every)

    key, m = np.unique(groups * c + labels, return_counts=True)
    of_cell = log_none(m.astype(float), size[key % c], slots[key % c])
    of_group = np.bincount(key // c, of_cell)
    own = np.searchsorted(key, groups[rows] * c + labels[rows])
    alone = log_none(m[own] - 1.0, size[labels[rows]] - 1, slots[labels[rows]])
    return np.asarray(-np.expm1(of_group[groups[rows]] - of_cell[own] + alone))
