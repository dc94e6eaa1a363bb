"""faiss: exact search on the CPU on request, on a GPU through k nearest neighbours, and approximate search.

A GPU has no range search and at most 2,048 neighbours, so pairs above a threshold are searched as k neighbours: rows
whose k-th neighbour still reaches the threshold have hit the limit; they are searched again with a larger k and at
last in full on the CPU. Float32 products only propose; decisions are made in float64 by the code of the numpy search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .model import Floats, Ints
from .progress import Progress
from .similarity_blocks import MARGIN, PairList, Rows, accept, find_pairs, settle

GPU_K = 2048
_FIRST_K = 64
_SPARE = 16
_BATCH = 16384
_SMALLEST = 64
Search = Callable[[NDArray[np.float32], NDArray[np.float32], int], tuple[NDArray[np.float32], Ints]]


def gpu_count() -> int:
    """GPUs that the installed faiss can use."""
    import faiss

    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


def search_cpu(queries: NDArray[np.float32], base: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], Ints]:
    """k largest inner products on the CPU."""
    import faiss

    similarity, index = faiss.knn(queries, base, k, metric=faiss.METRIC_INNER_PRODUCT)
    return similarity, index


def search_gpu() -> Search:
    """k largest inner products on the first GPU; `base` may be larger than the GPU's memory."""
    import faiss

    resources = faiss.StandardGpuResources()

    def search(queries: NDArray[np.float32], base: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], Ints]:
        similarity, index = faiss.knn_gpu(resources, queries, base, k, metric=faiss.METRIC_INNER_PRODUCT)
        return similarity, index

    return search


class Faiss:
    """An exact search by faiss.

    Attributes:
        batch: queries at a time; halved when memory runs out.
        halved: how often that happened.
        expanded: rows that hit a k limit and were searched again.
    """

    def __init__(self, gpu: bool, search: Search | None = None) -> None:
        self.gpu, self.batch, self.halved, self.expanded = gpu, _BATCH, 0, 0
        self._search = search or (search_gpu() if gpu else search_cpu)
        self._where = "GPU" if gpu else "CPU"

    @property
    def words(self) -> str:
        """What searched, for the result."""
        import faiss

        less = f"; batch halved {self.halved} times for lack of memory" if self.halved else ""
        more = f"; {self.expanded} rows hit the limit of k and were searched again" if self.expanded else ""
        return f"faiss {faiss.__version__} on the {self._where}{less}{more}"

    def _nearest(
        self, x: NDArray[np.float32], base: NDArray[np.float32], rows: Ints, k: int
    ) -> Iterator[tuple[Ints, NDArray[np.float32], Ints]]:
        """(rows, similarity, index) batch by batch; out of memory halves the batch and at last moves to the CPU."""
        at = 0
        while at < len(rows):
            some = rows[at : at + self.batch]
            try:
                similarity, index = self._search(np.ascontiguousarray(x[some]), base, k)
            except (RuntimeError, MemoryError) as error:
                if "memory" not in str(error).lower() and not isinstance(error, MemoryError):
                    raise
                if self.batch <= _SMALLEST and not self.gpu:
                    raise
                self.halved += 1
                if self.batch > _SMALLEST:
                    self.batch //= 2
                else:
                    self.gpu, self._search = False, search_cpu
                    self._where = "CPU (too little memory on the GPU)"
                continue
            at += len(some)
            yield some, similarity, index

    def pairs(
        self, x: Rows, y: Rows | None, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        """All pairs with cosine >= threshold into `into`; yields (rows done, rows in all)."""
        if not len(x) or not len(x if y is None else y):
            return
        if self.gpu:
            yield from self._pairs_by_neighbours(x, y, threshold, into, memory)
            return
        unit = x.whole()
        base = unit if y is None else y.whole()
        for lo in range(0, len(x), 1024):
            hi = min(lo + 1024, len(x))
            first = lo if y is None else 0
            limits, s, j = _range_search(unit[lo:hi], base[first:], max(threshold, into.floor) - MARGIN)
            i = lo + np.repeat(np.arange(hi - lo), np.diff(limits))
            keep = slice(None) if y is not None else first + j > i
            accept(x, i[keep], x if y is None else y, first + j[keep], s[keep], threshold, into)
            yield hi, len(x)

    def _pairs_by_neighbours(
        self, x: Rows, y: Rows | None, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        other = x if y is None else y
        unit = x.whole()
        base = unit if y is None else y.whole()
        rows, k, done = np.arange(len(x)), min(_FIRST_K, len(other)), 0
        while len(rows):
            full: list[Ints] = []
            for some, similarity, index in self._nearest(unit, base, rows, k):
                at_limit = (similarity.min(axis=1) >= threshold - MARGIN) & (k < len(other))
                full.append(some[at_limit])
                r, c = np.nonzero((similarity >= max(threshold, into.floor) - MARGIN) & ~at_limit[:, None])
                i, j, s = some[r], index[r, c], similarity[r, c]
                keep = slice(None) if y is not None else j > i
                accept(x, i[keep], other, j[keep], s[keep], threshold, into)
                done += int((~at_limit).sum())
                yield done, len(x)
            rows = np.concatenate(full)
            self.expanded += len(rows)
            if len(rows) and k >= min(GPU_K, len(other)):
                yield from self._in_full(x, y, rows, threshold, into, memory)
                return
            k = min(GPU_K, len(other))

    def _in_full(
        self, x: Rows, y: Rows | None, rows: Ints, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        """Rows with more neighbours than a GPU can return, against everything, on the CPU."""
        other = x if y is None else y
        part = Rows(x.values, x.alive[rows], x.norms[rows], False)
        step = max(1, (1 << 22) // len(other))
        for lo in range(0, len(rows), step):
            some = Rows(part.values, part.alive[lo : lo + step], part.norms[lo : lo + step], False)
            found = PairList(len(some) * len(other), threshold)
            for _ in find_pairs(some, other, threshold, memory, found):
                pass
            i, j, s = found.done()
            i = rows[lo + i]
            keep = slice(None) if y is not None else j > i
            into.add(i[keep], j[keep], s[keep])
            yield len(x) - len(rows) + lo + len(some), len(x)

    def neighbours(self, x: Rows, y: Rows | None, k: int, memory: int) -> Iterator[tuple[int, Floats, Ints]]:
        """As `similarity_blocks.find_neighbours`.

        Raises:
            InputError: more neighbours than a GPU returns.
        """
        other = x if y is None else y
        keep = min(k + _SPARE + (y is None), len(other))
        if self.gpu and keep > GPU_K:
            raise InputError(
                f"{k} neighbours on a GPU", f"at most {GPU_K - _SPARE - 1}", "use device='cpu' or device='torch'"
            )
        unit = x.whole()
        base = unit if y is None else y.whole()
        self.batch = max(_SMALLEST, min(self.batch, memory // 2 // (64 * (keep + 1))))
        for some, similarity, index in self._nearest(unit, base, np.arange(len(x)), keep):
            if y is None:  # the query itself leaves; where copies pushed it out, the last one leaves
                own = index == some[:, None]
                own[~own.any(axis=1), -1] = True
                similarity, index = (v[~own].reshape(len(some), keep - 1) for v in (similarity, index))
            yield int(some[0]), *settle(x, y, int(some[0]), similarity, index, k, memory)


def _range_search(
    queries: NDArray[np.float32], base: NDArray[np.float32], low: float
) -> tuple[NDArray[np.int64], NDArray[np.float32], Ints]:
    """Every inner product above `low`: (limits (q + 1,), products, index), without building an index."""
    import faiss

    result: Any = faiss.RangeSearchResult(len(queries))
    queries, base = np.ascontiguousarray(queries), np.ascontiguousarray(base)
    faiss.range_search_inner_product(
        faiss.swig_ptr(queries), faiss.swig_ptr(base), queries.shape[1], len(queries), len(base), low, result
    )
    limits = faiss.rev_swig_ptr(result.lims, len(queries) + 1).astype(np.int64)
    found = int(limits[-1])
    if not found:
        return limits, np.zeros(0, np.float32), np.zeros(0, np.int64)
    return limits, faiss.rev_swig_ptr(result.distances, found).copy(), faiss.rev_swig_ptr(result.labels, found).copy()


def approximate_pairs(x: Rows, threshold: float, into: PairList, memory: int, tell: Progress) -> str:
    """Pairs above a threshold by an inverted file: most of them, each re-checked exactly.

    4 sqrt(n) lists; the number looked into is doubled until 98 % of the pairs of 500 rows are found (our choice). The
    recall that is reported is then measured on 2,000 other rows.

    Returns:
        what searched, beginning with "approximate", with the measured recall.

    Raises:
        InputError: the index, a second copy of the vectors, does not fit into the memory cap.
    """
    import faiss

    n, copies = len(x), 1 if x.unit else 2
    if copies * 4 * n * x.dim > memory:
        raise InputError(
            f"an approximate search of {n:,} rows of {x.dim} within {memory / 2**30:.1f} GiB",
            f"at least {copies * 4 * n * x.dim / 2**30:.1f} GiB",
            "raise `memory`, or search exactly, which needs far less",
        )
    unit = x.whole()
    index = _inverted_file(unit, tell)
    rows = np.random.default_rng(0).permutation(n)
    tuning, measuring = np.sort(rows[:500]), np.sort(rows[500:2500])
    truth = _pairs_of(x, tuning, threshold)
    index.nprobe = 8
    while index.nprobe < index.nlist:
        found, _ = _probe(index, unit, tuning, threshold - MARGIN)
        if np.isin(truth, found).sum() >= 0.98 * len(truth):
            break
        index.nprobe = min(2 * index.nprobe, index.nlist)
    both = PairList(2 * into.limit, threshold)  # a pair may be found from either end
    for lo in range(0, n, 1 << 13):
        key, s = _probe(index, unit, np.arange(lo, min(lo + (1 << 13), n)), max(threshold, both.floor) - MARGIN)
        accept(x, key // n, x, key % n, s, threshold, both)
        tell(min(lo + (1 << 13), n), n, "comparing images, approximately")
    i, j, s = both.done()
    first = np.r_[True, (np.diff(i) != 0) | (np.diff(j) != 0)] if len(i) else np.zeros(0, bool)
    into.add(i[first], j[first], s[first])
    into.truncated = into.truncated or both.truncated
    truth = _pairs_of(x, measuring, max(threshold, both.floor))
    recall = float(np.isin(truth, i[first] * n + j[first]).mean()) if len(truth) else float("nan")
    return (
        f"approximate: faiss {faiss.__version__} inverted file, {index.nprobe} of {index.nlist} lists looked into; "
        f"recall {recall:.3f} measured on the {len(truth):,} pairs of {len(measuring):,} rows; every pair re-checked"
    )


def _inverted_file(unit: NDArray[np.float32], tell: Progress) -> Any:
    import faiss

    n, lists = len(unit), int(4 * len(unit) ** 0.5)
    index: Any = faiss.IndexIVFFlat(faiss.IndexFlatIP(unit.shape[1]), unit.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed, index.cp.niter = 1, 6
    tell(0, n, "sorting images into lists")
    index.train(unit[np.sort(np.random.default_rng(0).choice(n, min(n, 40 * lists), replace=False))])
    for lo in range(0, n, 1 << 16):
        index.add(unit[lo : lo + (1 << 16)])
    return index


def _probe(index: Any, unit: NDArray[np.float32], rows: Ints, low: float) -> tuple[Ints, NDArray[np.float32]]:
    """Keys i * n + j (i < j) and products of what the index finds for `rows`."""
    limits, s, j = index.range_search(np.ascontiguousarray(unit[rows]), low)
    i = np.repeat(rows, np.diff(limits.astype(np.int64)))
    other = i != j
    return (np.minimum(i, j) * len(unit) + np.maximum(i, j))[other], s[other]


def _pairs_of(x: Rows, rows: Ints, threshold: float) -> Ints:
    """Keys i * n + j (i < j) of all pairs with one end in `rows`, exactly."""
    some = Rows(x.values, x.alive[rows], x.norms[rows], False)
    found = PairList(1 << 24, threshold)
    for _ in find_pairs(some, x, threshold, 1 << 28, found):
        pass
    i, j, _ = found.done()
    i = rows[i]
    return np.unique((np.minimum(i, j) * len(x) + np.maximum(i, j))[i != j])
