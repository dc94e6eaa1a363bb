"""The input of every splitter, checked once: labels and groups in order of ids, and the groups x classes table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyError, InputError
from ..model import SENTINEL, UNUSED, Bools, Grouping, Ints

NO_LABEL = -1
"""Number of the class of multi-label rows without any label."""


@dataclass(frozen=True, eq=False)
class Table:
    """A labelled, grouped corpus in canonical order.

    Attributes:
        order: int64 (n,), canonical row r is the caller's row order[r]; sorted by id where ids are given.
        labels: int64 (n,), kind of each sample, 0..K-1: its class, or with several labels its set of classes.
        groups: int64 (n,), groups 0..G-1 in order of first appearance.
        counts: int64 (G, C), samples of class c in group g; with several labels a sample counts in each of its classes.
        sizes: int64 (G,), samples in each group.
        classes: int64 (C,), the caller's number of each class that occurs.
        kinds: bool (K, C), the classes of each kind.
    """

    order: Ints
    labels: Ints
    groups: Ints
    counts: Ints
    sizes: Ints
    classes: Ints
    kinds: Bools

    @property
    def majority(self) -> Ints:
        """int64 (G,), the class with most samples in each group."""
        return np.asarray(self.counts.argmax(axis=1), np.int64)

    @property
    def groups_of_class(self) -> Ints:
        """int64 (C,), groups that hold at least one sample of each class."""
        return np.asarray((self.counts > 0).sum(axis=0), np.int64)

    def class_names(self, names: Sequence[str] = ()) -> list[str]:
        """What to call each class in messages: its name, else "class NUMBER"."""
        called = [names[c] if 0 <= c < len(names) else f"class {c}" for c in self.classes.tolist()]
        return ["no label" if c == NO_LABEL else name for c, name in zip(self.classes.tolist(), called, strict=True)]

    def kind_names(self, called: Sequence[str]) -> list[str]:
        """What to call each kind: its class, or its classes joined by +."""
        return [" + ".join(called[c] for c in np.flatnonzero(kind).tolist()) for kind in self.kinds]

    def back(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of canonical rows in the caller's row order."""
        result = np.empty_like(values)
        result[self.order] = values
        return result


def table(labels: ArrayLike, groups: ArrayLike | Grouping, ids: Sequence[str] | None, unknown: str = "refuse") -> Table:
    """Check labels, groups and ids, and bring them into canonical order.

    Args:
        labels: int (n,), no -1; or bool or 0/1 (n, C): several labels a sample, possibly none.
        groups: int (n,) or a Grouping.
        ids: n unique ids, or None: rows count as ordered.
        unknown: what to do with group -1: "refuse" or "singleton".

    Raises:
        EmptyError: no samples.
        InputError: lengths differ, a label or (unless unknown="singleton") a group is -1, ids repeat.
    """
    label = np.asarray(labels)
    code = np.asarray(groups.codes if isinstance(groups, Grouping) else groups)
    n = len(label) if label.ndim else 0
    if label.ndim not in (1, 2) or code.shape != (n,) or (ids is not None and len(ids) != n):
        raise InputError(
            f"labels {label.shape}, groups {code.shape}, ids {None if ids is None else len(ids)}", "n each"
        )
    if not n:
        raise EmptyError("there are no samples to split", "at least two samples")
    if not (label.dtype == bool or np.issubdtype(label.dtype, np.integer)) or not np.issubdtype(code.dtype, np.integer):
        raise InputError(f"labels {label.dtype}, groups {code.dtype}", "integers")
    code = known_groups(code.astype(np.int64), unknown)
    order = canonical_order(n, ids)
    classes, member = _single(label[order]) if label.ndim == 1 else _several(label[order])
    kind_rows, kind = np.unique(member, axis=0, return_inverse=True) if label.ndim == 2 else (None, member)
    kinds = np.eye(len(classes), dtype=bool) if kind_rows is None else kind_rows.astype(bool)
    code = first_come(code[order])
    g = int(code.max()) + 1
    by_kind = np.bincount(code * len(kinds) + kind.ravel(), minlength=g * len(kinds)).reshape(g, -1).astype(np.int64)
    counts = by_kind if kind_rows is None else by_kind @ kinds.astype(np.int64)
    return Table(order, kind.ravel().astype(np.int64), code, counts, by_kind.sum(axis=1), classes, kinds)


def canonical_order(n: int, ids: Sequence[str] | None) -> Ints:
    """int64 (n,), the rows in order of their ids; refuses an id that occurs twice."""
    if ids is None:
        return np.arange(n)
    if len(set(ids)) != n:
        raise InputError("two samples have the same id", "unique ids")
    return np.array(sorted(range(n), key=lambda i: ids[i]), np.int64)


def first_come(code: Ints) -> Ints:
    """Codes renumbered 0.. in order of first appearance."""
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.ravel()]


def _single(label: NDArray[Any]) -> tuple[Ints, Ints]:
    if label.min() < 0:
        raise InputError(f"{int((label < 0).sum())} samples have no label (-1)", "labelled samples", "leave them out")
    classes, inverse = np.unique(label, return_inverse=True)
    return classes.astype(np.int64), inverse.astype(np.int64)


def _several(label: NDArray[Any]) -> tuple[Ints, Bools]:
    if not np.isin(label, (0, 1)).all():
        raise InputError("a table of several labels a sample holds other numbers than 0 and 1", "0 and 1, or booleans")
    member = label.astype(bool)
    none = ~member.any(axis=1)
    used = np.flatnonzero(member.any(axis=0))
    if none.any():
        return np.r_[used, NO_LABEL].astype(np.int64), np.c_[member[:, used], none]
    return used.astype(np.int64), member[:, used]


def known_groups(codes: Ints, unknown: str = "refuse") -> Ints:
    """Group codes without -1: refused, or each unknown sample made a group of its own."""
    if unknown not in ("refuse", "singleton"):
        raise InputError(f"unknown = {unknown!r}", "'refuse' or 'singleton'")
    missing = codes < 0
    if not missing.any():
        return codes
    if unknown == "refuse":
        raise InputError(
            f"{int(missing.sum())} samples are in no known group (-1)",
            "a group for every sample, or unknown='singleton'",
        )
    result = codes.copy()
    result[missing] = codes.max() + 1 + np.arange(int(missing.sum()))
    return result


def source_codes(source: ArrayLike | None, corpus: Table) -> Ints | None:
    """int64 (n,), numbers of the sources in canonical row order; None without a source column."""
    if source is None:
        return None
    column = np.asarray(source)
    if column.shape != corpus.order.shape:
        raise InputError(f"source has shape {column.shape}", f"({len(corpus.order)},)")
    return np.unique(column[corpus.order], return_inverse=True)[1].astype(np.int64)


def shares(fractions: Mapping[str, float], sentinel: float = 0.0) -> dict[str, float]:
    """Partition -> share, checked, the sentinel's share taken from all others alike.

    Raises:
        InputError: fewer than two partitions, shares that do not sum to 1, a reserved name.
    """
    clean = {str(k): float(v) for k, v in fractions.items()}
    if len(clean) < 2 or not min(clean.values()) > 0 or not abs(sum(clean.values()) - 1) <= 1e-6:
        raise InputError(f"fractions {clean}", "two or more partitions, each above 0, summing to 1")
    if {SENTINEL, UNUSED, ""} & set(clean):
        raise InputError(f"fractions {clean}", f"names other than {SENTINEL}, {UNUSED} and ''", "use `sentinel`")
    if not 0 <= sentinel < 0.5:
        raise InputError(f"sentinel = {sentinel}", "a share from 0 to below 0.5")
    result = {k: v * (1 - sentinel) for k, v in clean.items()}
    return {**result, SENTINEL: sentinel} if sentinel else result
