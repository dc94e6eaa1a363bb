"""The permutation null of the method, section 5: a score when labels and predictions have nothing in common.

Predictions stay as they are. Whole label vectors change places between test groups of equal size, so that images of
one group stay together, and class counts stay the same. Under an intact split the test groups are exchangeable for a
model that knows nothing about them; under a random split they are not: each permutation would need its own training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..model import Floats, Ints

DRAWS = 999
SAME = 1e-9
EQUAL = "whole label vectors between test groups of equal size"
VOTES = "the labels of test groups of one class whatever their size, one vote a group (ours: equal sizes are too rare)"


@dataclass(frozen=True)
class Null:
    """The null of one score.

    Attributes:
        p: (1 + b) / (1 + B), b = permutations that score at least as high.
        smallest: smallest p that these test groups allow.
        mean: score to be expected.
        rule: what was permuted.
    """

    p: float
    smallest: float
    mean: float
    rule: str = EQUAL


def permutation_null(
    truth: Ints, predicted: Ints, groups: Ints, metric: str, *, draws: int = DRAWS, seed: int = 0
) -> Null:
    """The null of a score of one intact split.

    Args:
        truth, predicted, groups: int (t,), test images; images of one group in a fixed order (of ids).
        metric: balanced_accuracy, macro_f1 or accuracy: each is a sum over hits with a weight per class that no
            permutation changes.
        draws: B.
        seed: of the permutations.
    """
    weight = _weights(truth, predicted, metric)
    order = np.argsort(groups, kind="stable")
    y, guess, group = truth[order], predicted[order], groups[order]
    _, start, size = np.unique(group, return_index=True, return_counts=True)
    rng = np.random.default_rng([seed, 5])
    observed, drawn, ways = 0.0, np.zeros(draws), 0.0
    for m in np.unique(size).tolist():
        at = start[size == m][:, None] + np.arange(m)
        labels, guesses = y[at], guess[at]
        vectors, kind = np.unique(labels, axis=0, return_inverse=True)
        # gain[g, v]: what group g scores if it carries label vector v
        gain = np.stack([(weight[v] * (guesses == v)).sum(axis=1) for v in vectors], axis=1)
        kind = kind.ravel()
        observed += float(gain[np.arange(len(at)), kind].sum())
        drawn += _shuffled(gain, kind, draws, rng)
        ways += math.lgamma(len(at) + 1) - sum(math.lgamma(c + 1) for c in np.bincount(kind).tolist())
    b = int((drawn >= observed - SAME).sum())
    smallest = max(1 / (1 + draws), math.exp(-min(ways, 700.0)))
    return Null((1 + b) / (1 + draws), smallest, float(drawn.mean()))


def vote_null(
    truth: Ints, predicted: Ints, groups: Ints, *, mean: float = float("nan"), draws: int = DRAWS, seed: int = 0
) -> Null:
    """The null where groups differ so much in size that hardly two can change places (our choice, not the method's).

    Statistic: the share of a group's images that are predicted as its class, mean over the groups of a class, mean over
    classes. The labels of groups change places whatever their size. If background and class have nothing in common, a
    group's size only makes its share more or less variable, so this is exact where size and class go their own ways,
    and close to it otherwise. Groups with several classes take no part.

    Args:
        truth, predicted, groups, draws, seed: as for `permutation_null`.
        mean: handed on.
    """
    code = np.unique(groups, return_inverse=True)[1]
    c = int(max(truth.max(), predicted.max())) + 1
    labels, shares = np.zeros((int(code.max()) + 1, c)), np.zeros((int(code.max()) + 1, c))
    np.add.at(labels, (code, truth), 1)
    np.add.at(shares, (code, predicted), 1)
    pure = (labels > 0).sum(axis=1) == 1
    y = labels[pure].argmax(axis=1)
    if not len(y):
        return Null(1.0, 1.0, mean, VOTES)
    counts = np.bincount(y, minlength=c)
    weight = np.divide(1, counts, out=np.zeros(c), where=counts > 0) / (counts > 0).sum()
    gain = shares[pure] / shares[pure].sum(axis=1, keepdims=True) * weight
    observed = float(gain[np.arange(len(y)), y].sum())
    drawn = _shuffled(gain, y, draws, np.random.default_rng([seed, 15]))
    ways = math.lgamma(len(y) + 1) - sum(math.lgamma(k + 1) for k in counts.tolist())
    smallest = max(1 / (1 + draws), math.exp(-min(ways, 700.0)))
    return Null((1 + int((drawn >= observed - SAME).sum())) / (1 + draws), smallest, mean, VOTES)


def _shuffled(gain: Floats, kind: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """(draws,), the sum of gains when the label vectors `kind` change places."""
    total = np.empty(draws)
    block = max(1, (1 << 22) // max(1, len(kind)))
    for start in range(0, draws, block):
        k = min(block, draws - start)
        mixed = rng.permuted(np.broadcast_to(kind, (k, len(kind))), axis=1)
        total[start : start + k] = gain[np.arange(len(kind)), mixed].sum(axis=1)
    return total


def _weights(truth: Ints, predicted: Ints, metric: str) -> Floats:
    """What a hit of each class adds to the score; the same under every permutation."""
    c = int(max(truth.max(), predicted.max())) + 1
    true, guessed = np.bincount(truth, minlength=c).astype(float), np.bincount(predicted, minlength=c).astype(float)
    tested = true > 0
    weight = np.zeros(c)
    if metric == "accuracy":
        weight[:] = 1 / len(truth)
    elif metric == "balanced_accuracy":
        weight[tested] = 1 / true[tested] / tested.sum()
    elif metric == "macro_f1":
        weight[tested] = 2 / (true + guessed)[tested] / tested.sum()
    else:
        raise InputError(f"metric {metric!r}", "balanced_accuracy, macro_f1, accuracy")
    return weight


def over_seeds(nulls: Sequence[Null]) -> Null:
    """One statement from the splits of several seeds, which share their images: p = min(1, 2 x median).

    Twice the median of p values is valid whatever their dependence (Rueschendorf 1982; Meinshausen, Meier and
    Buehlmann 2009, with gamma = 1/2). With one seed its own p.
    """
    if len(nulls) == 1:
        return nulls[0]
    p, smallest, mean = (np.array([getattr(n, k) for n in nulls]) for k in ("p", "smallest", "mean"))
    # The lower of two middle values would be too good, so for an even number the upper one is taken.
    middle = len(nulls) // 2
    low, floor = (min(1.0, 2 * float(np.sort(v)[middle])) for v in (p, smallest))
    return Null(low, floor, float(mean.mean()), nulls[0].rule)
