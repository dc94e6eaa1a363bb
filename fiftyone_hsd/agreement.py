"""Agreement of two groupings of the same samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError
from .model import Ints


@dataclass(frozen=True)
class Agreement:
    """How a grouping found compares with a true one.

    Attributes:
        precision, recall, f1: over pairs of samples in one group; without pairs found (or true) they are 1.
        b_cubed_precision, b_cubed_recall, b_cubed_f1: averaged over samples (Bagga & Baldwin 1998).
        adjusted_rand: adjusted Rand index.
        n: samples compared.
    """

    precision: float
    recall: float
    f1: float
    b_cubed_precision: float
    b_cubed_recall: float
    b_cubed_f1: float
    adjusted_rand: float
    n: int


def agreement(found: ArrayLike, true: ArrayLike) -> Agreement:
    """Compare two groupings.

    Args:
        found, true: int (n,), group codes; -1 = a group of its own.

    Raises:
        InputError: lengths differ.
    """
    a, b = _singled(found), _singled(true)
    if a.shape != b.shape:
        raise InputError(f"{len(a)} against {len(b)} group codes", "the same samples")
    n = len(a)
    cell, count = np.unique(np.stack([a, b]), axis=1, return_counts=True)
    size_a, size_b = np.bincount(a), np.bincount(b)
    both, pairs_a, pairs_b = (float((v * (v - 1) / 2).sum()) for v in (count, size_a, size_b))
    precision, recall = (both / p if p else 1.0 for p in (pairs_a, pairs_b))
    square = count.astype(float) ** 2
    b_precision = float((square / size_a[cell[0]]).sum() / n) if n else 1.0
    b_recall = float((square / size_b[cell[1]]).sum() / n) if n else 1.0
    expected = pairs_a * pairs_b / (n * (n - 1) / 2) if n > 1 else 0.0
    most = (pairs_a + pairs_b) / 2
    rand = (both - expected) / (most - expected) if most != expected else 1.0
    return Agreement(
        precision, recall, _f1(precision, recall), b_precision, b_recall, _f1(b_precision, b_recall), rand, n
    )


def disagreeing(joins: ArrayLike, parts: ArrayLike, most: int = 20) -> list[tuple[int, int]]:
    """Pairs of samples in one group of `joins` and in two groups of `parts`, at most one pair for each group.

    Args:
        joins, parts: int (n,), group codes; -1 = a group of its own.
        most: most pairs.
    """
    one, other = _singled(joins), _singled(parts)
    order = np.lexsort((np.arange(len(one)), one))
    starts = np.flatnonzero(np.r_[True, np.diff(one[order]) != 0])
    pairs: list[tuple[int, int]] = []
    for start, end in zip(starts, np.r_[starts[1:], len(order)], strict=True):
        members = order[start:end]
        odd = members[other[members] != other[members[0]]]
        if len(odd) and len(pairs) < most:
            pairs.append((int(members[0]), int(odd[0])))
    return pairs


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _singled(codes: ArrayLike) -> Ints:
    code = np.array(codes, np.int64)
    alone = code < 0
    code[alone] = code.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return np.unique(code, return_inverse=True)[1].astype(np.int64)
