"""Intervals for scores on grouped data (the method's section 4).

Image-level intervals are wrong where images share groups, and split seeds reuse one corpus and are no replicates.
So one exponential weight is drawn for each group of the corpus and used in all seeds and conditions; the variance of
a mean over J seeds is the bootstrap variance of that mean plus s_seed^2 / J, and the interval is a t interval with
sum over classes of (G_c - 1) degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .model import Floats, Ints

METRICS = ("balanced_accuracy", "macro_f1", "accuracy")
DRAWS = 1000
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Counts:
    """What every metric needs of one set of predictions, by group.

    Attributes:
        groups: int64 (t,), group of each test sample.
        truth, predicted: int64 (t,), classes.
        n_groups: groups in the whole corpus.
        n_classes: classes on the fixed list.
    """

    groups: Ints
    truth: Ints
    predicted: Ints
    n_groups: int
    n_classes: int

    def __post_init__(self) -> None:
        if not len(self.groups) == len(self.truth) == len(self.predicted):
            raise InputError("groups, truth and predictions differ in length")

    @property
    def present(self) -> NDArray[np.bool_]:
        """bool (C,), the classes that are tested."""
        return np.bincount(self.truth, minlength=self.n_classes) > 0

    def totals(self, weights: NDArray[np.floating] | None = None) -> tuple[Floats, Floats, Floats]:
        """Weighted (hits, true, predicted) counts of each class, each (B, C); B = 1 without weights.

        Args:
            weights: (B, n_groups), one weight a group and draw.
        """
        from scipy.sparse import csr_array

        w = np.ones((1, self.n_groups)) if weights is None else weights
        ones, shape = np.ones(len(self.groups)), (self.n_groups, self.n_classes)
        hit = self.truth == self.predicted
        parts = (
            csr_array((ones[hit], (self.groups[hit], self.truth[hit])), shape=shape),
            csr_array((ones, (self.groups, self.truth)), shape=shape),
            csr_array((ones, (self.groups, self.predicted)), shape=shape),
        )
        hits, true, predicted = (np.asarray((p.T @ w.T).T) for p in parts)
        return hits, true, predicted


def score(counts: Counts, metric: str, weights: NDArray[np.floating] | None = None) -> Floats:
    """(B,) values of a metric on the fixed class list.

    Metrics: accuracy; balanced_accuracy, the mean recall, and macro_f1, the mean F1, both over the classes that are
    tested; recall:c and f1:c for class number c. A class whose F1 has no predictions and no hits scores 0.

    Raises:
        InputError: unknown metric.
    """
    hits, true, predicted = counts.totals(weights)
    if metric == "accuracy":
        return np.asarray(hits.sum(axis=1) / true.sum(axis=1))
    recall = hits / np.where(true > 0, true, 1)
    f1 = 2 * hits / np.where(true + predicted > 0, true + predicted, 1)
    name, _, number = metric.partition(":")
    if metric == "balanced_accuracy":
        return np.asarray(recall[:, counts.present].mean(axis=1))
    if metric == "macro_f1":
        return np.asarray(f1[:, counts.present].mean(axis=1))
    if name in ("recall", "f1") and number.isdigit():
        c = int(number)
        values = (recall if name == "recall" else f1)[:, c]
        return np.asarray(values if counts.present[c] else np.full(len(values), np.nan))
    raise InputError(f"metric {metric!r}", f"{', '.join(METRICS)}, recall:c, f1:c")


def group_weights(n_groups: int, draws: int = DRAWS, seed: int = 0) -> NDArray[np.float32]:
    """float32 (draws, n_groups): one Exp(1) weight for each group of the corpus (the Bayesian bootstrap)."""
    return np.random.default_rng([seed, 4]).exponential(size=(draws, n_groups)).astype(np.float32)


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; `p` tests it against 0, two-sided."""

    estimate: float
    low: float
    high: float
    p: float
    error: float


def seed_interval(estimates: ArrayLike, draws: ArrayLike, df: int, level: float = LEVEL) -> Interval:
    """Interval of the mean over seeds.

    Args:
        estimates: (J,), the statistic of each seed.
        draws: (B, J), the same under each draw of group weights, paired over seeds.
        df: degrees of freedom of the t interval; below 1 the interval is nan.
        level: coverage aimed at.

    Returns:
        an Interval; with J = 1 the spread over seeds is unknown and left out.
    """
    from scipy.stats import t

    value, boot = np.asarray(estimates, float), np.asarray(draws, float)
    j = len(value)
    mean = float(value.mean())
    variance = float(boot.mean(axis=1).var(ddof=1)) + (float(value.var(ddof=1)) / j if j > 1 else 0.0)
    error = variance**0.5
    nan = float("nan")
    if df < 1 or not np.isfinite(error) or not np.isfinite(mean):
        return Interval(mean, nan, nan, nan, nan)
    half = float(t.ppf(0.5 + level / 2, df)) * error
    p = float(2 * t.sf(abs(mean) / error, df)) if error > 0 else (1.0 if mean == 0 else 0.0)
    return Interval(mean, mean - half, mean + half, p, error)


def degrees_of_freedom(labels: ArrayLike, groups: ArrayLike) -> int:
    """Sum over classes of (G_c - 1), G_c = groups that hold samples of class c."""
    label, code = np.asarray(labels, np.int64), np.asarray(groups, np.int64)
    use = (label >= 0) & (code >= 0)
    pairs = np.unique(np.stack([label[use], code[use]]), axis=1)
    held = np.bincount(pairs[0]) if pairs.shape[1] else np.zeros(0, np.int64)
    return int((held[held > 0] - 1).sum())


def intraclass_correlation(correct: ArrayLike, groups: ArrayLike, labels: ArrayLike) -> float:
    """ICC of correctness by group, within class: the one-way analysis-of-variance estimator, cells = (class, group).

    nan where no cell has two samples or there is nothing between cells to compare. Not cut at 0.
    """
    value = np.asarray(correct, float)
    label = np.unique(np.asarray(labels), return_inverse=True)[1]
    code = np.unique(np.asarray(groups), return_inverse=True)[1]
    cell = np.unique(label.astype(np.int64) * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1]
    if not len(value):
        return float("nan")
    m = np.bincount(cell).astype(float)
    mean = np.bincount(cell, value) / m
    of = np.zeros(len(m), np.int64)
    of[cell] = label
    size, cells = np.bincount(label).astype(float), np.bincount(of).astype(float)
    grand = np.bincount(label, value) / size
    between_df, within_df = float((cells - 1).sum()), float((m - 1).sum())
    if between_df < 1 or within_df < 1:
        return float("nan")
    between = float((m * (mean - grand[of]) ** 2).sum()) / between_df
    within = float(((value - mean[cell]) ** 2).sum()) / within_df
    typical = float((size - np.bincount(of, m**2) / size).sum()) / between_df
    total = between + (typical - 1) * within
    return (between - within) / total if total > 0 else float("nan")


def design_effect(groups: ArrayLike, icc: float) -> float:
    """1 + (sum m^2 / sum m - 1) ICC, m = test images of each group."""
    m = np.unique(np.asarray(groups), return_counts=True)[1].astype(float)
    return 1 + (float((m**2).sum() / m.sum()) - 1) * icc
