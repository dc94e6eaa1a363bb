"""How much the models believe in every label, and which suspicions are likely to be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .grouping.merge import merge
from .model import Bools, Floats, Grouping, Ints, OutOfFold, Samples

COPIES = ("bytes", "pixels")
FLOOR = 1e-6
"""Smallest probability that counts: one certain model must not outvote everything else for good."""
EXPECTED = 0.033
"""Share of wrong labels that is assumed where suspicions are weighed: the mean over ten benchmark test sets (Northcutt,
Athalye and Mueller 2021). Of one kind of folds, at most twice this share of the images is then ever called likely."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels and groups, with counts over the labelled images.

    Attributes:
        labels: int (n,).
        cell: int64 (n,), number of the (group, label); -1 without a label.
        share: float64 (n,), part of the group's labelled images that have this label; nan without a label.
        torn: bool (n,), in a set of copies with several labels.
    """

    labels: NDArray[np.int32]
    cell: Ints
    share: Floats
    torn: Bools

    @staticmethod
    def of(samples: Samples, grouping: Grouping) -> Labelled:
        """Counts of a corpus."""
        n, labels = len(samples), samples.labels
        rows = np.flatnonzero(labels >= 0)
        key = grouping.codes[rows] * (len(samples.classes) + 1) + labels[rows]
        cell, share = np.full(n, -1, np.int64), np.full(n, np.nan)
        cell[rows] = np.unique(key, return_inverse=True)[1]
        size = np.bincount(grouping.codes[rows], minlength=grouping.n_groups)
        share[rows] = np.bincount(cell[rows])[cell[rows]] / size[grouping.codes[rows]] if len(rows) else 0
        return Labelled(labels, cell, share, _torn(labels, grouping))

    def mean(self, values: NDArray[np.float64], rows: Ints) -> NDArray[np.float64]:
        """float64 (n,), the mean over the rows of each cell; nan where a cell has none."""
        cells = int(self.cell.max(initial=-1)) + 1
        count = np.bincount(self.cell[rows], minlength=cells)
        total = np.bincount(self.cell[rows], values[rows], minlength=cells)
        result = np.full(len(self.cell), np.nan)
        inside = self.cell >= 0
        with np.errstate(invalid="ignore"):
            result[inside] = (total / count)[self.cell[inside]]
        return result


def _torn(labels: NDArray[np.int32], grouping: Grouping) -> Bools:
    """bool (n,), whether the same bytes or pixels occur under another label too."""
    links = grouping.links
    copies = links.take(links.accepted & np.isin(links.source, COPIES))
    torn = np.zeros(len(labels), bool)
    if len(copies):
        sets = merge(len(labels), [copies], np.ones(len(labels), bool)).codes
        rows = np.flatnonzero(labels >= 0)
        several = np.bincount(np.unique(np.stack([sets[rows], labels[rows]]), axis=1)[0], minlength=int(sets.max()) + 1)
        torn[rows] = several[sets[rows]] > 1
    return torn


@dataclass(frozen=True, eq=False)
class Voice:
    """What one kind of folds says.

    Attributes:
        rows: int64, the samples that it speaks of.
        flagged: bool (n,), what confident learning calls an error.
        given: float64 (n,), probability of the given label; nan elsewhere.
        belief: float64 (n, C), logarithm of the belief in every class: geometric mean of the probability for the image
            and of its mean over the images of the group with the same label; nan outside `rows`.
        likely: bool (n,), flagged and below the bound of `bound`.
    """

    rows: Ints
    flagged: Bools
    given: Floats
    belief: Floats
    likely: Bools


def voice(corpus: Labelled, seen: OutOfFold) -> Voice:
    """Confident learning and beliefs from out-of-fold probabilities."""
    from .datalab.confident import confident_learning

    n, labels = len(corpus.labels), corpus.labels
    rows = np.flatnonzero(seen.evaluated & (labels >= 0))
    flagged, given, likely = np.zeros(n, bool), np.full(n, np.nan), np.zeros(n, bool)
    flagged[rows], given[rows] = confident_learning(labels[rows], seen.probabilities[rows])
    belief = np.full(seen.probabilities.shape, np.nan)
    for c in range(len(belief.T)):
        own = np.asarray(seen.probabilities[:, c], np.float64)
        mates = corpus.mean(own, rows)
        belief[rows, c] = (np.log(np.maximum(own[rows], FLOOR)) + np.log(np.maximum(mates[rows], FLOOR))) / 2
    present = np.unique(labels[rows])
    code = np.searchsorted(present, labels[rows])
    below = bound(belief[rows][:, present], code)
    likely[rows] = flagged[rows] & (belief[rows, labels[rows]] <= below)
    return Voice(rows, flagged, given, belief, likely)


def bound(belief: Floats, given: NDArray[np.integer]) -> float:
    """The belief up to which at least half of the images would be mislabelled, if a share EXPECTED of all were.

    Every class that an image was not given stands for a wrong label that it could have been given: F1(t), the share of
    such beliefs up to t, says how many of the wrong labels lie there, F(t) how many of all labels do. So of the images
    up to t, a share EXPECTED F1(t) / F(t) is wrong: one minus the false discovery rate (Storey 2002), with the
    alternative known instead of the null. A model that is often wrong makes F(t) large, and little or nothing is called
    likely.

    Args:
        belief: (m, C), of every image in every class, two classes or more.
        given: int (m,), the given classes.

    Returns:
        the largest such belief; -inf if there is none.
    """
    mine = belief[np.arange(len(given)), given]
    wrong = np.sort(belief[np.arange(belief.shape[1]) != given[:, None]])
    order = np.sort(mine)
    among_wrong = np.searchsorted(wrong, order, side="right") / len(wrong)
    among_all = np.searchsorted(order, order, side="right") / len(order)
    right = np.flatnonzero(EXPECTED * among_wrong / among_all >= 0.5)
    return float(order[right[-1]]) if len(right) else float("-inf")


def together(voices: Sequence[Voice], labels: NDArray[np.int32]) -> tuple[Floats, NDArray[np.int32]]:
    """(belief in the given label (n,), the most believed class (n,)) over the kinds of folds that speak of an image.

    nan and -1 where none does; -1 also where the given label is the most believed one.
    """
    n = len(labels)
    if not voices:
        return np.full(n, np.nan), np.full(n, -1, np.int32)
    stacked = np.stack([v.belief for v in voices])
    there = np.isfinite(stacked)
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(there, stacked, 0).sum(axis=0) / np.where(count, count, np.nan)
    score, suggested = np.full(n, np.nan), np.full(n, -1, np.int32)
    rows = np.flatnonzero((labels >= 0) & np.isfinite(mean).all(axis=1))
    score[rows] = np.exp(mean[rows, labels[rows]])
    best = mean[rows].argmax(axis=1)
    suggested[rows] = np.where(best == labels[rows], -1, best)
    return score, suggested
