"""The input of every splitter, checked once: labels and groups in order of ids, and the groups x classes table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyError, InputError
from ..model import SENTINEL, UNUSED, Ints


@dataclass(frozen=True, eq=False)
class Table:
    """A labelled, grouped corpus in canonical order.

    Attributes:
        order: int64 (n,), canonical row r is the caller's row order[r]; sorted by id where ids are given.
        labels: int64 (n,), classes 0..C-1 renumbered over those that occur.
        groups: int64 (n,), groups 0..G-1 in order of first appearance.
        counts: int64 (G, C), samples of class c in group g.
        classes: int64 (C,), the caller's label of each column.
    """

    order: Ints
    labels: Ints
    groups: Ints
    counts: Ints
    classes: Ints

    @property
    def sizes(self) -> Ints:
        """int64 (G,), samples in each group."""
        return np.asarray(self.counts.sum(axis=1), np.int64)

    @property
    def majority(self) -> Ints:
        """int64 (G,), the class with most samples in each group."""
        return np.asarray(self.counts.argmax(axis=1), np.int64)

    @property
    def groups_of_class(self) -> Ints:
        """int64 (C,), groups that hold at least one sample of each class."""
        return np.asarray((self.counts > 0).sum(axis=0), np.int64)

    def back(self, partition: NDArray[np.str_]) -> NDArray[np.str_]:
        """Partition names in the caller's row order."""
        result = np.empty_like(partition)
        result[self.order] = partition
        return result


def table(labels: ArrayLike, groups: ArrayLike, ids: Sequence[str] | None, unknown: str = "refuse") -> Table:
    """Check labels, groups and ids, and bring them into canonical order.

    Raises:
        EmptyError: no samples.
        InputError: lengths differ, a label or (unless unknown="singleton") a group is -1, ids repeat.
    """
    label, code = np.asarray(labels), np.asarray(groups)
    if label.ndim != 1 or label.shape != code.shape or (ids is not None and len(ids) != len(label)):
        raise InputError(
            f"labels {label.shape}, groups {code.shape}, ids {None if ids is None else len(ids)}", "n each"
        )
    if not len(label):
        raise EmptyError("there are no samples to split", "at least two samples")
    if not (np.issubdtype(label.dtype, np.integer) and np.issubdtype(code.dtype, np.integer)):
        raise InputError(f"labels {label.dtype}, groups {code.dtype}", "integers")
    if label.min() < 0:
        raise InputError(f"{int((label < 0).sum())} samples have no label (-1)", "labelled samples", "leave them out")
    code = known_groups(code, unknown)
    if ids is not None and len(set(ids)) != len(ids):
        raise InputError("two samples have the same id", "unique ids")
    order = np.arange(len(label)) if ids is None else np.array(sorted(range(len(ids)), key=lambda i: ids[i]), np.int64)
    classes, label = np.unique(label[order], return_inverse=True)
    _, first, code = np.unique(code[order], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    code = rank[code]
    counts = np.bincount(code * len(classes) + label, minlength=len(first) * len(classes)).reshape(len(first), -1)
    return Table(order, label.astype(np.int64), code, counts.astype(np.int64), classes.astype(np.int64))


def known_groups(codes: NDArray[np.int64], unknown: str = "refuse") -> Ints:
    """Group codes without -1: refused, or each unknown sample made a group of its own."""
    missing = codes < 0
    if not missing.any():
        return codes.astype(np.int64)
    if unknown != "singleton":
        raise InputError(
            f"{int(missing.sum())} samples are in no known group (-1)",
            "a group for every sample, or unknown='singleton'",
        )
    result = codes.astype(np.int64)
    result[missing] = codes.max() + 1 + np.arange(int(missing.sum()))
    return result


def shares(fractions: Mapping[str, float], sentinel: float = 0.0) -> dict[str, float]:
    """Partition -> share, checked, the sentinel's share taken from all others alike.

    Raises:
        InputError: fewer than two partitions, shares that do not sum to 1, a reserved name.
    """
    clean = {str(k): float(v) for k, v in fractions.items()}
    if len(clean) < 2 or min(clean.values()) <= 0 or abs(sum(clean.values()) - 1) > 1e-6:
        raise InputError(f"fractions {clean}", "two or more partitions, each above 0, summing to 1")
    if {SENTINEL, UNUSED, ""} & set(clean):
        raise InputError(f"fractions {clean}", f"names other than {SENTINEL}, {UNUSED} and ''", "use `sentinel`")
    if not 0 <= sentinel < 0.5:
        raise InputError(f"sentinel = {sentinel}", "a share from 0 to below 0.5")
    result = {k: v * (1 - sentinel) for k, v in clean.items()}
    return {**result, SENTINEL: sentinel} if sentinel else result
