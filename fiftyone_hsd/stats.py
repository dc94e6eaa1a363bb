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

from .model import Floats

DRAWS = 1000
LEVEL = 0.95
NAN = float("nan")
SAME = 1e-12


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
    """What an interval rests on: the test groups of each tested class, over all seeds together.

    Attributes:
        held: effective number of test groups of each tested class, (sum a)^2 / sum a^2 over groups with a = test images
            of the group over all seeds. It is the number of groups G_c where they are equally large.
        groups: the same over all classes together (less than the sum where groups hold several classes).
    """

    held: tuple[float, ...]
    groups: float

    @staticmethod
    def of(groups: ArrayLike, labels: ArrayLike) -> Support:
        """From the group and class of every test image, those of several seeds one after another."""
        code, label = np.asarray(groups, np.int64), np.asarray(labels, np.int64)
        if not len(code):
            return Support((), 0.0)
        c = int(label.max()) + 1
        key, count = np.unique(code * c + label, return_counts=True)
        mass = count.astype(float)
        total, square = np.bincount(key % c, mass, c), np.bincount(key % c, mass**2, c)
        there = total > 0
        whole = np.unique(code, return_counts=True)[1].astype(float)
        held = tuple((total[there] ** 2 / square[there]).tolist())
        return Support(held, float(whole.sum() ** 2 / (whole**2).sum()))

    @property
    def df(self) -> float:
        """Sum over classes of (G_c - 1), at most groups - 1: mixed groups are not counted twice (our choice)."""
        return max(0.0, min(sum(g - 1 for g in self.held), self.groups - 1))

    @property
    def missed(self) -> float:
        """Mean over classes of (G_c + 1) / (G_c - 1): what Exp(1) weights miss of a variance; inf if a G_c is 1."""
        if not self.held or min(self.held) <= 1 + SAME:
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


def seed_interval(
    estimate: float, seeds: ArrayLike, draws: ArrayLike, support: Support, *, paired: bool, level: float = LEVEL
) -> Interval:
    """Interval of a statistic that is a mean over J split seeds, or is computed from such means.

    Var = Var_bootstrap + s_seed^2 / J; t with sum over classes of (G_c - 1) degrees of freedom. Our choices, each
    needed for coverage in simulation (tests/benchmarks/sim_coverage.py):

    - the bootstrap runs over the sums of all seeds together. Seed by seed, a class with one or two test groups a seed
      would hardly move under weights, and a nominal 95 % covered 68 to 88 %;
    - G_c is the effective number of test groups, which a few large groups make small;
    - the variance of a level (not of a paired difference, where the level of a group cancels) is multiplied by
      `support.missed`;
    - with one seed s_seed is unknown: the interval is then about this one split, and `support.missed` always counts.

    Args:
        estimate: the statistic.
        seeds: (J,), the statistic of each seed, or its linear part.
        draws: (B,), the statistic of all seeds together under each draw of group weights.
        support: the test groups behind it; without degrees of freedom there is no interval.
        paired: whether it is a difference of two conditions on the same groups.
        level: coverage aimed at.
    """
    from scipy.special import stdtr, stdtrit  # many times faster than scipy.stats.t, which comes to the same

    boot, value = np.asarray(draws, float), np.asarray(seeds, float)
    if not np.isfinite(estimate) or not np.isfinite(boot).all() or not np.isfinite(value).all() or support.df < 1:
        return Interval(estimate)
    variance = float(boot.var(ddof=1))
    if variance > SAME**2 and not (paired and len(value) > 1):
        variance *= support.missed
    if len(value) > 1:
        variance += float(value.var(ddof=1)) / len(value)
    error = variance**0.5
    if not np.isfinite(error):
        return Interval(estimate)
    if error <= SAME:
        half = support.unseen
        return Interval(estimate, estimate - half, estimate + half, 1.0 if abs(estimate) <= half else NAN, 0.0)
    half = float(stdtrit(support.df, 0.5 + level / 2)) * error
    p = float(2 * stdtr(support.df, -abs(estimate) / error))
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
