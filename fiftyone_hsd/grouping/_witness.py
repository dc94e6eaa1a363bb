"""The images as a witness: do files that a rule calls mates look more alike than strangers of the same class?

Statistic: mean distance (1 - cosine) to strangers over mean distance to mates, 1 = no more alike. Strangers of a file
are drawn from the same class (and kind, where one is given) under another key, so that a class that looks like itself
proves nothing. Groups are the units: each counts once however many files it has, and the interval resamples groups. At
most `PAIRS` pairs are looked at, drawn with a seed. Our own choice of statistic and limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import Descriptors, Floats, Ints
from ._counters import combine

PAIRS = 2000
"""Pairs of mates that one question looks at, at most."""
PAIRS_A_GROUP = 10
STRANGERS = 5
"""Strangers drawn for each pair of mates."""
RESAMPLES = 1000
LEVEL = 0.99
"""Level of the interval: a rule is overruled or carried by it, so chance must seldom decide."""
LEAST_PAIRS = 20
"""Fewer pairs decide nothing."""


@dataclass(frozen=True)
class Alike:
    """How much more alike mates are than strangers.

    Attributes:
        ratio: mean distance to strangers over mean distance to mates; 1 = no more alike.
        low, high: 99 % interval over groups.
        pairs: pairs of mates looked at; with fewer than 20 the interval is (0, infinity).
    """

    ratio: float
    low: float
    high: float
    pairs: int

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f}, {self.pairs} pairs)"


@dataclass(frozen=True, eq=False)
class Witness:
    """What is needed to ask the images.

    Attributes:
        values: float32 (n, d), unit rows; an all-zero row is no picture.
        labels: int64 (n,), -1 = none; strangers have the same.
        seed: of all draws.
    """

    values: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    labels: Ints
    seed: int = 0

    def take(self, rows: Ints) -> Witness:
        """The witness for the samples at `rows`."""
        return Witness(self.values[rows], self.labels[rows], self.seed)


def witness(descriptors: Descriptors, labels: ArrayLike, seed: int = 0) -> Witness:
    """A witness from descriptors.

    Args:
        descriptors: n vectors.
        labels: int (n,), -1 = none.
        seed: of all draws.

    Raises:
        InputError: labels and descriptors differ in length.
    """
    label = np.asarray(labels, np.int64)
    if label.shape != (len(descriptors),):
        raise InputError(f"{label.size} labels for {len(descriptors)} descriptors", "one label a descriptor")
    return Witness(descriptors.values, label, seed)


def mates(images: Witness, codes: Ints) -> Alike:
    """How alike the members of the groups `codes` are; -1 = in no group."""
    rng = np.random.default_rng(images.seed)
    known = np.flatnonzero((codes >= 0) & images.values.any(axis=1))
    order = known[np.lexsort((rng.random(len(known)), codes[known]))]
    # Neighbours in random order inside each group: every pair equally likely, every group early.
    same = np.flatnonzero(np.diff(codes[order]) == 0)
    a, b = order[same], order[same + 1]
    rank = _rank(codes[a])
    keep = np.lexsort((rng.random(len(a)), rank))[:PAIRS]
    keep = keep[rank[keep] < PAIRS_A_GROUP]
    return _compared(images, a[keep], b[keep], codes, np.zeros(len(codes), np.int64))


def across(images: Witness, key: Ints, word: Ints) -> Alike:
    """How alike files of one key under two words are, against strangers under the second word."""
    rng = np.random.default_rng(images.seed)
    shown = np.flatnonzero(images.values.any(axis=1))
    order = shown[np.lexsort((rng.random(len(shown)), word[shown], key[shown]))]
    change = np.flatnonzero((np.diff(key[order]) == 0) & (np.diff(word[order]) != 0))
    change = rng.permutation(change)[:PAIRS]
    return _compared(images, order[change], order[change + 1], key, word)


def _rank(codes: Ints) -> Ints:
    """The number of each entry inside its run of equal codes; the codes are in order."""
    start = np.flatnonzero(np.r_[True, np.diff(codes) != 0]) if len(codes) else np.zeros(0, np.int64)
    out: Ints = np.arange(len(codes)) - np.repeat(start, np.diff(np.r_[start, len(codes)]))
    return out


def _compared(images: Witness, a: Ints, b: Ints, key: Ints, kind: Ints) -> Alike:
    rng = np.random.default_rng(images.seed + 1)
    near = 1 - np.einsum("ij,ij->i", images.values[a], images.values[b])
    far = _to_strangers(images, a, b, key, kind, rng)
    good = np.isfinite(far)
    a, near, far = a[good], near[good].astype(np.float64), far[good]
    if len(a) < LEAST_PAIRS:
        return Alike(1.0, 0.0, np.inf, len(a))
    group = np.unique(key[a], return_inverse=True)[1]
    count = np.bincount(group)
    near, far = np.bincount(group, near) / count, np.bincount(group, far) / count
    weights = rng.multinomial(len(near), np.full(len(near), 1 / len(near)), RESAMPLES)
    drawn = (weights @ far) / np.maximum(weights @ near, 1e-9)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Alike(float(far.sum() / max(near.sum(), 1e-9)), float(low), float(high), len(a))


def _to_strangers(images: Witness, a: Ints, b: Ints, key: Ints, kind: Ints, rng: np.random.Generator) -> Floats:
    """(m,) mean distance of each a to strangers of b's class and kind under another key, NaN where there are none."""
    shown = np.flatnonzero(images.values.any(axis=1))
    stratum = combine(images.labels - images.labels.min(initial=0), kind)
    order = shown[np.argsort(stratum[shown], kind="stable")]
    start = np.searchsorted(stratum[order], stratum[b], "left")
    stop = np.searchsorted(stratum[order], stratum[b], "right")
    total, found = np.zeros(len(a)), np.zeros(len(a))
    for _ in range(STRANGERS):
        other = order[np.minimum(start + (rng.random(len(a)) * (stop - start)).astype(np.int64), len(order) - 1)]
        strange = key[other] != key[a]
        distance = 1 - np.einsum("ij,ij->i", images.values[a], images.values[other])
        total += np.where(strange, distance, 0)
        found += strange
    return np.where(found > 0, total / np.maximum(found, 1), np.nan)
