"""Exact cosine search in blocks with numpy: the reference every other backend must agree with.

Products are float32 (sgemm); whatever lies so near a decision that float32 cannot settle it is decided in float64 from
the rows as they came. Memory is one tile plus two blocks of rows, whatever n is.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .model import Floats, Ints

Vectors = NDArray[Any]
Found = tuple[Ints, Ints, NDArray[np.float32]]

MARGIN = 1e-5
"""Half width of the band around a threshold that is decided in float64; float32 sums at d = 2,048 are off by < 2e-6."""
EQUAL = 1e-12
"""Float64 cosines closer than this count as equal, so that identical rows reach a threshold of exactly 1."""
DIGITS = 12
"""Decimals of a float64 cosine that count when neighbours are put in order."""
_NOISE = 5e-6
_LARGEST_TILE = 1024
_CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors as they came, of any float or integer dtype (a memory map is fine), with the rows that can match at all.

    Attributes:
        values: (n, d), never copied as a whole.
        alive: int64 (m,), the rows that are not all zero.
        norms: float64 (m,), Euclidean length of these rows.
        unit: True if the rows are float32 of unit length already and none is zero: blocks are views then.
    """

    values: Vectors
    alive: Ints
    norms: Floats
    unit: bool

    @staticmethod
    def of(x: ArrayLike, what: str = "x") -> Rows:
        """Check `x` once.

        Raises:
            InputError: not two-dimensional, not numeric, or with nan or infinite values.
        """
        values = x if isinstance(x, np.ndarray) else np.asarray(x)
        if values.ndim != 2 or values.dtype.kind not in "fiu":
            raise InputError(f"{what} has shape {values.shape} and dtype {values.dtype}", "numbers of shape (n, d)")
        norms = np.empty(len(values), np.float64)
        step = max(1, _CHUNK // max(1, values.shape[1]))
        for lo in range(0, len(values), step):
            block = values[lo : lo + step].astype(np.float64)
            norms[lo : lo + step] = np.sqrt(np.einsum("ij,ij->i", block, block))
        if not np.isfinite(norms).all():
            row = int(np.flatnonzero(~np.isfinite(norms))[0])
            raise InputError(
                f"row {row} of {what} is not finite", "finite numbers", "leave this row out or set it to 0"
            )
        alive = np.flatnonzero(norms > 0)
        unit = (
            len(alive) == len(values)
            and values.dtype == np.float32
            and values.flags.c_contiguous
            and bool((np.abs(norms - 1) < 1e-6).all())
        )
        return Rows(values, alive, norms[alive], unit)

    def __len__(self) -> int:
        return len(self.alive)

    @property
    def dim(self) -> int:
        """d, the length of a row."""
        return int(self.values.shape[1])

    def block(self, lo: int, hi: int) -> NDArray[np.float32]:
        """float32 (hi - lo, d), unit rows of the living rows lo..hi (a view where nothing has to change)."""
        if self.unit:
            return np.asarray(self.values[lo:hi])
        hi = min(hi, len(self))
        result = np.empty((hi - lo, self.dim), np.float32)
        step = max(1, _CHUNK // max(1, self.dim))
        for at in range(lo, hi, step):
            result[at - lo : at - lo + step] = self.rows(np.arange(at, min(at + step, hi)))
        return result

    def rows(self, index: Ints) -> Floats:
        """float64 (m, d), unit rows of the living rows `index`."""
        wide = self.values[self.alive[index]].astype(np.float64)
        wide /= self.norms[index, None]
        return wide

    @functools.cached_property
    def copies(self) -> Ints:
        """int64 (m,), for every living row the first living row with the same values, bit by bit."""
        seen: dict[bytes, int] = {}
        first = np.empty(len(self), np.int64)
        for i, row in enumerate(self.alive):
            key = hashlib.blake2b(np.ascontiguousarray(self.values[row]).tobytes(), digest_size=16).digest()
            first[i] = seen.setdefault(key, i)
        return first

    def whole(self) -> NDArray[np.float32]:
        """float32 (m, d), all unit rows, C-contiguous: a copy unless `unit`."""
        return np.ascontiguousarray(self.block(0, len(self)))


def cosine(x: Rows, i: Ints, y: Rows, j: Ints) -> Floats:
    """float64 (m,), cosine of living row i[k] of `x` with living row j[k] of `y`, from the rows as they came."""
    result = np.empty(len(i), np.float64)
    step = max(1, _CHUNK // max(1, 2 * x.dim))
    for lo in range(0, len(i), step):
        a, b = x.rows(i[lo : lo + step]), y.rows(j[lo : lo + step])
        result[lo : lo + step] = np.einsum("ij,ij->i", a, b)
    return np.clip(result, -1.0, 1.0)


class PairList:
    """Pairs found so far: never more than twice `limit`, the most similar ones if there are more.

    Attributes:
        floor: pairs below it can no longer make the list; rises when the list overflows.
        truncated: True once a pair was dropped.
    """

    def __init__(self, limit: int, threshold: float) -> None:
        self.limit, self.floor, self.truncated = limit, threshold, False
        self._parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]] = []
        self._count = 0

    def add(self, i: Ints, j: Ints, similarity: NDArray[Any]) -> None:
        """Take in pairs that come later in (i, j) order of blocks than all before."""
        if len(i):
            self._parts.append((i.astype(np.int32), j.astype(np.int32), similarity.astype(np.float32)))
            self._count += len(i)
            if self._count > 2 * self.limit:
                self._cut()

    def _cut(self) -> None:
        i, j, s = self._join()
        worst = np.partition(s, len(s) - self.limit)[len(s) - self.limit]
        keep = s > worst
        ties = np.flatnonzero(s == worst)
        ties = ties[np.lexsort((j[ties], i[ties]))]
        keep[ties[: self.limit - int(keep.sum())]] = True
        self._parts = [(i[keep], j[keep], s[keep])]
        self._count, self.floor, self.truncated = self.limit, max(self.floor, float(worst)), True

    def _join(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        if len(self._parts) != 1:
            empty = np.zeros(0, np.int32)
            columns = zip(*self._parts, strict=True) if self._parts else ((empty,), (empty,), (empty.astype("f4"),))
            i, j, s = (np.concatenate(c) for c in columns)
            self._parts = [(i, j, s)]
        return self._parts[0]

    def done(self) -> Found:
        """The pairs in order of (i, j): int64, int64, float32."""
        if self._count > self.limit:
            self._cut()
        i, j, s = self._join()
        self._parts = []
        order = np.lexsort((j, i))
        return i[order].astype(np.int64), j[order].astype(np.int64), s[order]


def tile_side(memory: int, dim: int) -> int:
    """Rows of a square tile whose product, blocks and scratch stay inside `memory` bytes.

    Raises:
        InputError: not even 16 rows fit.
    """
    side = _LARGEST_TILE
    while side >= 16 and scratch_bytes(side, dim) > memory:
        side //= 2
    if side < 16:
        raise InputError(
            f"a memory cap of {memory / 2**20:.1f} MB for rows of {dim} numbers",
            f"at least {scratch_bytes(16, dim) / 2**20:.1f} MB",
            "raise `memory`",
        )
    return side


def scratch_bytes(side: int, dim: int) -> int:
    """Bytes a search with square tiles of `side` rows needs beside its input and its pairs."""
    gathered = min(_CHUNK, side * dim) * 24
    wide = 2 * side * dim * 16
    return side * side * 4 + 2 * side * dim * 4 + gathered + wide + min(side * side, _CHUNK) * 48


def find_pairs(x: Rows, y: Rows | None, threshold: float, memory: int, into: PairList) -> Iterator[tuple[int, int]]:
    """All pairs with cosine >= threshold, each block pair once; yields (block pairs done, block pairs in all).

    Pairs name living rows: i < j within `x`, or x against y.
    """
    other = x if y is None else y
    side = tile_side(memory, x.dim)
    buffer = np.empty(side * side, np.float32)
    done, across = 0, -(-len(other) // side)
    total = across * (across + 1) // 2 if y is None else across * -(-len(x) // side)
    for lo in range(0, len(x), side):
        a = x.block(lo, lo + side)
        for start in range(lo if y is None else 0, len(other), side):
            b = a if y is None and start == lo else other.block(start, start + side)
            tile = buffer[: len(a) * len(b)].reshape(len(a), len(b))
            np.matmul(a, b.T, out=tile)
            take_tile(tile, x, lo, other, start, y is None, threshold, into)
            done += 1
            yield done, total


class Blocks:
    """The numpy search as a backend."""

    words = "numpy blocks"

    def pairs(
        self, x: Rows, y: Rows | None, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        """See `find_pairs`."""
        return find_pairs(x, y, threshold, memory, into)

    def neighbours(self, x: Rows, y: Rows | None, k: int, memory: int) -> Iterator[tuple[int, Floats, Ints]]:
        """See `find_neighbours`."""
        return find_neighbours(x, y, k, memory)


def take_tile(
    tile: NDArray[np.float32], x: Rows, lo: int, y: Rows, start: int, within: bool, threshold: float, into: PairList
) -> None:
    """Take the pairs that reach the threshold out of a tile of products: rows lo.. of x, rows start.. of y."""
    low = max(threshold - MARGIN, into.floor - MARGIN)
    hit = np.flatnonzero(tile.max(axis=1) >= low)
    step = max(1, _CHUNK // tile.shape[1])
    for first in range(0, len(hit), step):
        some = hit[first : first + step]
        part = tile[some]
        r, c = np.nonzero(part >= low)
        keep = slice(None) if not (within and start == lo) else c > some[r]
        r, c = r[keep], c[keep]
        i, j, similarity = lo + some[r], start + c, part[r, c].astype(np.float64)
        unsure = np.flatnonzero(similarity < threshold + MARGIN)
        if len(unsure) * 16 > part.size:  # a product of the whole chunk is cheaper than gathering its rows pairwise
            exact = x.rows(lo + some) @ y.rows(np.arange(start, start + tile.shape[1])).T
            similarity[unsure] = exact[r[unsure], c[unsure]]
            accept(x, i, y, j, similarity, threshold, into, settled=True)
        else:
            accept(x, i, y, j, similarity, threshold, into)


def accept(
    x: Rows,
    i: Ints,
    y: Rows,
    j: Ints,
    similarity: NDArray[Any],
    threshold: float,
    into: PairList,
    settled: bool = False,
) -> None:
    """Decide candidates near the threshold in float64 (unless `settled`) and store what reaches it."""
    value = similarity.astype(np.float64)
    if not settled:
        unsure = np.flatnonzero(value < threshold + MARGIN)
        value[unsure] = cosine(x, i[unsure], y, j[unsure])
    sure = value >= threshold - EQUAL
    into.add(i[sure], j[sure], np.clip(value[sure], -1.0, 1.0))


def find_neighbours(x: Rows, y: Rows | None, k: int, memory: int) -> Iterator[tuple[int, NDArray[np.float64], Ints]]:
    """The k most similar living rows of `y` (of `x` without itself) for every living row of `x`, block by block.

    Yields:
        (first row, similarity float64 (b, k) in falling order, index int64 (b, k)); equal similarities in order of the
        index; where fewer than k exist: -inf and -1.
    """
    other = x if y is None else y
    keep = min(k + 16, len(other))
    side = tile_side(memory // 2, x.dim)
    rows = max(1, min(side, (memory // 2) // (64 * (keep + 1))))
    buffer = np.empty(rows * side, np.float32)
    for lo in range(0, len(x), rows):
        a = x.block(lo, lo + rows)
        best = np.full((len(a), keep), -np.inf, np.float32)
        index = np.full((len(a), keep), -1, np.int64)
        for start in range(0, len(other), side):
            b = other.block(start, start + side)
            tile = buffer[: len(a) * len(b)].reshape(len(a), len(b))
            np.matmul(a, b.T, out=tile)
            if y is None:
                self_row = np.arange(max(lo, start), min(lo + len(a), start + len(b)))
                tile[self_row - lo, self_row - start] = -np.inf
            best, index = _merge(best, index, tile, start)
        yield lo, *settle(x, y, lo, best, index, k, memory)


def _merge(
    best: NDArray[np.float32], index: Ints, tile: NDArray[np.float32], start: int
) -> tuple[NDArray[np.float32], Ints]:
    """The best of what was kept and one more tile; the order inside a row is free, the worst stands first."""
    keep = best.shape[1]
    hit = np.flatnonzero(tile.max(axis=1) > best[:, 0])
    step = max(1, _CHUNK // (tile.shape[1] + keep))
    for first in range(0, len(hit), step):
        some = hit[first : first + step]
        part = tile[some]
        above = part > best[some, :1]
        counts = np.count_nonzero(above, axis=1)
        width = int(counts.max())
        if width > tile.shape[1] // 4:
            new, where = part, np.broadcast_to(np.arange(tile.shape[1]), part.shape)
        else:
            r, c = np.nonzero(above)
            place = np.arange(len(r)) - np.repeat(np.cumsum(counts) - counts, counts)
            new = np.full((len(some), width), -np.inf, np.float32)
            where = np.zeros((len(some), width), np.int64)
            new[r, place], where[r, place] = part[r, c], c
        joined = np.concatenate([best[some], new], axis=1)
        order = np.argpartition(joined, -keep, axis=1)[:, -keep:]
        best[some] = np.take_along_axis(joined, order, axis=1)
        index[some] = np.take_along_axis(np.concatenate([index[some], where + start], axis=1), order, axis=1)
    return best, index


def settle(
    x: Rows, y: Rows | None, lo: int, best: NDArray[np.float32], index: Ints, k: int, memory: int
) -> tuple[Floats, Ints]:
    """Order float32 candidates by float64 cosine; rows whose candidate list may be too short are searched in full.

    Args:
        best, index: (b, kept), for the living rows lo.. of x: kept > k unless there are no more; -inf and -1 = none.
    """
    other = x if y is None else y
    short = k - best.shape[1]
    if short > 0:
        best = np.pad(best, ((0, 0), (0, short)), constant_values=-np.inf)
        index = np.pad(index, ((0, 0), (0, short)), constant_values=-1)
    index = np.where(np.isfinite(best), index, -1)
    r, c = np.nonzero(index >= 0)
    exact = np.full(best.shape, -np.inf, np.float64)
    exact[r, c] = cosine(x, lo + r, other, index[r, c])
    order = np.lexsort((index, -np.round(exact, DIGITS)), axis=1)[:, :k]
    similarity, chosen = np.take_along_axis(exact, order, axis=1), np.take_along_axis(index, order, axis=1)
    if best.shape[1] < len(other) - (y is None):
        kth = np.partition(best, best.shape[1] - k, axis=1)[:, best.shape[1] - k]
        flagged = np.flatnonzero(best.min(axis=1) >= kth - _NOISE)
        for row, (s, j) in zip(flagged, _in_full(x, y, lo + flagged, kth[flagged], k, memory), strict=True):
            similarity[row], chosen[row] = s, j
    return similarity, np.where(np.isfinite(similarity), chosen, -1)


def _in_full(
    x: Rows, y: Rows | None, queries: Ints, kth: NDArray[np.float32], k: int, memory: int
) -> Iterator[tuple[Floats, Ints]]:
    """The k nearest of each query with all rows inside the float32 noise of the k-th taken in.

    Identical rows are compared once: a row in a cluster of thousands of copies costs one product, not thousands.
    """
    other = x if y is None else y
    step = max(1, (memory // 4) // (4 * max(1, len(other))))
    side = tile_side(memory // 4, x.dim)
    for first in range(0, len(queries), step):
        some = queries[first : first + step]
        a = x.rows(some).astype(np.float32)
        products = np.empty((len(some), len(other)), np.float32)
        for start in range(0, len(other), side):
            np.matmul(a, other.block(start, start + side).T, out=products[:, start : start + side])
        if y is None:
            products[np.arange(len(some)), some] = -np.inf
        for row, query in enumerate(some):
            near = np.flatnonzero(products[row] >= kth[first + row] - _NOISE)
            kinds, inverse = np.unique(other.copies[near], return_inverse=True)
            exact = cosine(x, np.full(len(kinds), query), other, kinds)[inverse]
            order = np.lexsort((near, -np.round(exact, DIGITS)))[:k]
            yield exact[order], near[order]
