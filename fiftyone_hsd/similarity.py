"""Exact cosine search in blocks: never n x n, every block pair once, the same answer on every backend."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .model import Descriptors, SimilarityGraph

Vectors = NDArray[np.float32]
EDGE = 1e-5
"""Pairs this close to the threshold are decided in float64."""


def free_memory() -> int:
    """Bytes of memory that are free now; 2 GiB where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return 2 << 30


def unit(x: ArrayLike) -> Vectors:
    """float32 (n, d) rows of unit length; zero rows stay zero and match nothing.

    Raises:
        InputError: not two-dimensional, or not finite.
    """
    rows = np.asarray(x)
    if rows.ndim != 2:
        raise InputError(f"vectors have shape {rows.shape}", "(n, d)")
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not np.isfinite(norms).all():
        raise InputError("a vector is not finite", "finite numbers")
    if rows.dtype == np.float32 and (np.abs(norms - 1) < 1e-7).all():
        return rows
    return (rows / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)


def block_rows(n: int, m: int, memory: int | None) -> int:
    """Rows of a square block so that similarities and mask fit the cap (default: a quarter of the free memory)."""
    cap = free_memory() // 4 if memory is None else memory
    side = int((max(cap, 1 << 20) / 6) ** 0.5)
    return max(1, min(side, 4096, max(n, m, 1)))


def pairs_above(
    x: ArrayLike, threshold: float, y: ArrayLike | None = None, *, memory: int | None = None, device: str = "auto"
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """All pairs whose cosine is at least `threshold`.

    Args:
        x: (n, d); rows need not be of unit length, zero rows match nothing.
        threshold: smallest cosine kept; pairs within 1e-5 of it are decided in float64.
        y: (m, d): pairs of a row of x with a row of y; None: pairs i < j within x.
        memory: cap in bytes for working memory, default a quarter of the free memory.
        device: "auto" or "cpu".

    Returns:
        (i, j, similarity): int64, int64, float32, ordered by i, then j.
    """
    if device not in ("auto", "cpu"):
        raise InputError(f"device = {device!r}", "'auto' or 'cpu'")
    a = unit(x)
    b = a if y is None else unit(y)
    if a.shape[1] != b.shape[1]:
        raise InputError(f"vectors of length {a.shape[1]} against {b.shape[1]}", "the same length")
    live_a, live_b = _live(a), _live(b)
    step = block_rows(len(a), len(b), memory)
    parts: list[tuple[Any, Any, Any]] = []
    for i in range(0, len(a), step):
        for j in range(i if y is None else 0, len(b), step):
            block = a[i : i + step] @ b[j : j + step].T
            rows, columns = np.nonzero(block >= np.float32(threshold - EDGE))
            keep = live_a[i + rows] & live_b[j + columns]
            if y is None:
                keep &= i + rows < j + columns
            rows, columns = rows[keep], columns[keep]
            values = block[rows, columns].astype(np.float64)
            near = np.flatnonzero(np.abs(values - threshold) <= 2 * EDGE)
            if len(near):
                values[near] = _exact(a[i + rows[near]], b[j + columns[near]])
            sure = values >= threshold
            parts.append((i + rows[sure], j + columns[sure], values[sure]))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    first, second, value = (np.concatenate(c) for c in zip(*parts, strict=True))
    order = np.lexsort((second, first))
    return first[order].astype(np.int64), second[order].astype(np.int64), value[order].astype(np.float32)


def _live(rows: Vectors) -> NDArray[np.bool_]:
    """(n,) bool, False for all-zero rows."""
    return np.asarray((rows != 0).any(axis=1))


def _exact(a: Vectors, b: Vectors) -> NDArray[np.float64]:
    """Cosine of paired rows in float64."""
    p, q = a.astype(np.float64), b.astype(np.float64)
    dots = np.einsum("ij,ij->i", p, q)
    return np.asarray(dots / np.sqrt(np.einsum("ij,ij->i", p, p) * np.einsum("ij,ij->i", q, q)))


def neighbours(
    x: ArrayLike, k: int, y: ArrayLike | None = None, *, memory: int | None = None, device: str = "auto"
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The k most similar rows.

    Args:
        x: (n, d) queries.
        k: how many; cut to what there is.
        y: (m, d) the set searched; None: x itself without the query.
        memory: cap in bytes for working memory, default a quarter of the free memory.
        device: "auto" or "cpu".

    Returns:
        (similarity, index): float32 and int64 (n, k), most similar first, equal ones by lowest index. Zero rows and
        missing neighbours have index -1 and similarity nan.
    """
    if device not in ("auto", "cpu"):
        raise InputError(f"device = {device!r}", "'auto' or 'cpu'")
    a = unit(x)
    b = a if y is None else unit(y)
    if a.shape[1] != b.shape[1]:
        raise InputError(f"vectors of length {a.shape[1]} against {b.shape[1]}", "the same length")
    k = max(0, min(k, len(b) - (y is None)))
    similarity = np.full((len(a), k), np.nan, np.float32)
    index = np.full((len(a), k), -1, np.int64)
    if k == 0:
        return similarity, index
    live_b = _live(b)
    step = block_rows(len(a), len(b), memory)
    for i in range(0, len(a), step):
        best = np.full((min(step, len(a) - i), 0), -np.inf, np.float32)
        where = np.zeros(best.shape, np.int64)
        for j in range(0, len(b), step):
            block = a[i : i + step] @ b[j : j + step].T
            block[:, ~live_b[j : j + step]] = -np.inf
            if y is None:
                own = np.arange(max(i, j), min(i + len(block), j + block.shape[1]))
                block[own - i, own - j] = -np.inf
            columns = _largest(block, k)
            best = np.concatenate([best, np.take_along_axis(block, columns, 1)], axis=1)
            where = np.concatenate([where, columns + j], axis=1)
            order = np.lexsort((where, -best), axis=1)[:, :k]
            best, where = np.take_along_axis(best, order, 1), np.take_along_axis(where, order, 1)
        found = np.isfinite(best) & _live(a[i : i + step])[:, None]
        similarity[i : i + step][found] = best[found]
        index[i : i + step][found] = where[found]
    return similarity, index


def _largest(block: Vectors, k: int) -> NDArray[np.int64]:
    """Columns of the k largest values of each row; among equal ones the lowest columns."""
    if k == 1:
        return np.asarray(block.argmax(axis=1)[:, None], np.int64)
    if k >= block.shape[1]:
        return np.broadcast_to(np.arange(block.shape[1]), block.shape)
    cut = -np.partition(-block, k - 1, axis=1)[:, k - 1 : k]
    above = block > cut
    # Values equal to the cut fill the places that are left, from the left.
    equal = block == cut
    room = k - above.sum(axis=1, keepdims=True)
    take = above | (equal & (np.cumsum(equal, axis=1) <= room))
    return np.asarray(np.nonzero(take)[1].reshape(len(block), k), np.int64)


def similar_pairs(
    x: Descriptors, threshold: float, *, memory: int | None = None, max_pairs: int = 20_000_000
) -> SimilarityGraph:
    """The pairs of a corpus above a threshold as a noun; beyond `max_pairs` the most similar are kept, and flagged."""
    i, j, value = pairs_above(x.values, threshold, memory=memory)
    cut = len(i) > max_pairs
    if cut:
        keep = np.sort(np.argpartition(-value, max_pairs)[:max_pairs])
        i, j, value = i[keep], j[keep], value[keep]
    return SimilarityGraph(len(x), i, j, value, x.name, threshold, "given", "numpy blocks, exact", cut)
