"""Metrics on the one fixed class list, for plain and for group-weighted predictions.

Every metric here is a function of three numbers a class: hits, true and predicted. So a draw of group weights needs no
second look at the images: the three numbers are summed a group once, and a draw is one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .model import Bools, Floats, Ints

METRICS = ("balanced_accuracy", "macro_f1", "accuracy")
BLOCK_BYTES = 64 << 20
"""Weights drawn at a time; the result does not depend on it."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test predictions of one run, with the group of each sample.

    Attributes:
        groups, truth, predicted: int64 (t,); groups count from 0 over the whole corpus.
        n_classes: length of the fixed class list.
    """

    groups: Ints
    truth: Ints
    predicted: Ints
    n_classes: int

    def __post_init__(self) -> None:
        for name in ("groups", "truth", "predicted"):
            array = np.asarray(getattr(self, name), np.int64).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not len(self.groups) == len(self.truth) == len(self.predicted):
            raise InputError("groups, truth and predictions differ in length")
        for name in ("truth", "predicted"):
            value = getattr(self, name)
            if len(value) and (value.min() < 0 or value.max() >= self.n_classes):
                raise InputError(f"a value of {name} is outside the class list", f"0 to {self.n_classes - 1}")

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def correct(self) -> Bools:
        """bool (t,)."""
        return np.asarray(self.truth == self.predicted)

    @property
    def held(self) -> Ints:
        """int64 (C,), distinct groups that hold samples of each class."""
        pairs = np.unique(self.groups * self.n_classes + self.truth) % self.n_classes
        return np.bincount(pairs, minlength=self.n_classes).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over samples, each (..., C): leading axes are draws, seeds, whatever the caller stacks.

    Attributes:
        hits: samples of the class predicted as it.
        true: samples of the class.
        predicted: samples predicted as the class.
        present: bool (C,), the classes that are tested. Fixed by the data, never by the weights.
    """

    hits: Floats
    true: Floats
    predicted: Floats
    present: Bools


def totals(predictions: Predictions) -> Totals:
    """The unweighted sums, each (C,)."""
    c, ok = predictions.n_classes, predictions.correct
    hits, true, predicted = (
        np.bincount(v, minlength=c).astype(float)
        for v in (predictions.truth[ok], predictions.truth, predictions.predicted)
    )
    return Totals(hits, true, predicted, true > 0)


def score(sums: Totals, metric: str) -> Floats:
    """(...) values of a metric.

    accuracy: share of hits. balanced_accuracy: mean recall, and macro_f1: mean F1, both over the classes that are
    tested (a class that is missing from one partition moves neither). recall:c and f1:c: of class number c, nan where
    it is not tested. A tested class without hits scores 0.

    Raises:
        InputError: unknown metric.
    """
    name, _, number = metric.partition(":")
    empty = np.full(sums.hits.shape[:-1], np.nan)
    if metric == "accuracy":
        return np.asarray(sums.hits.sum(-1) / sums.true.sum(-1)) if sums.present.any() else empty
    if metric in ("balanced_accuracy", "macro_f1"):
        at = np.flatnonzero(sums.present)
        values = recall(sums, at) if metric == "balanced_accuracy" else f1(sums, at)
        return np.asarray(values.mean(-1)) if len(at) else empty
    if name in ("recall", "f1") and number.isdigit() and int(number) < len(sums.present):
        c = int(number)
        if not sums.present[c]:
            return empty
        return np.asarray((recall if name == "recall" else f1)(sums, np.array([c]))[..., 0])
    raise InputError(f"metric {metric!r}", f"{', '.join(METRICS)}, recall:c, f1:c (c = class number)")


def recall(sums: Totals, at: NDArray[np.integer]) -> Floats:
    """(..., k) hits / true of the tested classes `at`."""
    return np.asarray(sums.hits[..., at] / sums.true[..., at])


def f1(sums: Totals, at: NDArray[np.integer]) -> Floats:
    """(..., k) 2 hits / (true + predicted) of the tested classes `at`."""
    return np.asarray(2 * sums.hits[..., at] / (sums.true[..., at] + sums.predicted[..., at]))


def group_draws(
    parts: Sequence[Predictions], n_groups: int, draws: int, seed: int, *, block_bytes: int = BLOCK_BYTES
) -> list[Totals]:
    """The sums of several sets of predictions, each (draws, C), under the SAME draws of group weights.

    One Exp(1) weight is drawn for each group of the corpus and each draw (the Bayesian bootstrap of Rubin 1981, by
    group) and used in all parts: that keeps them paired. Cost: draws x (groups x classes tested) over all parts.

    Args:
        parts: any number, on one numbering of groups.
        n_groups: groups in the whole corpus.
        draws, seed: size and seed of the bootstrap.
        block_bytes: memory for weights at a time.
    """
    from scipy.sparse import csr_array

    if not parts:
        return []
    rows, columns, width = [], [], 0
    for p in parts:
        ok, c = p.correct, p.n_classes
        rows += [p.groups[ok], p.groups, p.groups]
        columns += [width + p.truth[ok], width + c + p.truth, width + 2 * c + p.predicted]
        width += 3 * c
    row = np.concatenate(rows)
    used, place = np.unique(row, return_inverse=True)
    table = csr_array((np.ones(len(row)), (np.concatenate(columns), place)), shape=(width, len(used)))
    rng = np.random.default_rng([seed, 4])
    step = max(1, min(draws, block_bytes // (8 * max(1, n_groups))))
    blocks = []
    for start in range(0, draws, step):
        weights = rng.exponential(size=(min(step, draws - start), n_groups))
        blocks.append(np.asarray(table @ np.ascontiguousarray(weights[:, used].T)).T)
    flat, start, result = np.concatenate(blocks), 0, []
    for p in parts:
        c = p.n_classes
        hits, true, predicted = (flat[:, start + k * c : start + (k + 1) * c] for k in range(3))
        result.append(Totals(hits, true, predicted, totals(p).present))
        start += 3 * c
    return result
