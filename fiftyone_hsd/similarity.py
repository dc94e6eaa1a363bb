"""Exact cosine search: all pairs above a threshold, and nearest neighbours, inside a memory cap.

Never n x n, every block pair once, and the same answer on every backend: what float32 cannot decide is decided in
float64 from the rows as they came. On the CPU the choice is the blocked numpy search: on 20,000 x 512 it was faster
than faiss, which has no search of half the matrix. A GPU is used where torch or faiss can reach one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, MissingExtraError
from .model import Descriptors, Floats, Ints, SimilarityGraph
from .progress import Progress, guarded
from .similarity_blocks import Blocks, Found, PairList, Rows, scratch_bytes, tile_side

DEVICES = ("auto", "cpu", "gpu", "numpy", "faiss", "faiss-gpu", "torch")
APPROXIMATE_FROM = 200_000
"""Below this many rows an approximate search is not faster than the exact one and is not done even on request."""
MAX_PAIRS = 20_000_000
_BYTES_PER_PAIR = 72
_SMALL = 2e11  # multiplications; less is done on the CPU before torch is imported


@dataclass(frozen=True)
class Backend:
    """What searches (`numpy`, `torch`, `faiss`, `faiss-gpu`) and why it was chosen."""

    name: str
    reason: str


def choose(device: str = "auto", work: float = float("inf")) -> Backend:
    """The backend for `device`, which is one of DEVICES.

    Args:
        device: "auto" looks for a GPU and settles for numpy; "gpu" insists on one; the others name a backend.
        work: multiplications to do; for few of them "auto" loads no GPU library.

    Raises:
        InputError: not one of DEVICES.
        MissingExtraError: the backend that was asked for is not installed or sees no GPU.
    """
    if device not in DEVICES:
        raise InputError(f"device {device!r}", ", ".join(DEVICES))
    if device in ("cpu", "numpy"):
        return Backend("numpy", "asked for")
    if device == "auto" and work < _SMALL:
        return Backend("numpy", "a search this small gains nothing from a GPU")
    if device in ("faiss", "torch") and importlib.util.find_spec(device) is None:
        extra = {"faiss": "cpu", "torch": "train"}[device]
        raise MissingExtraError(f"{device} is not installed", advice=f'pip install "fiftyone-hsd[{extra}]"')
    if device in ("faiss", "torch"):
        return Backend(device, "asked for")
    return _gpu(device)


def _gpu(device: str) -> Backend:
    nvidia = Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None
    if device != "faiss-gpu" and importlib.util.find_spec("torch") and (nvidia or "torch" in sys.modules):
        from .similarity_torch import gpu_name

        if gpu := gpu_name():
            return Backend("torch", f"torch sees {gpu}")
    if nvidia and importlib.util.find_spec("faiss"):
        from .similarity_faiss import gpu_count

        if gpu_count():
            return Backend("faiss-gpu", f"faiss sees {gpu_count()} GPU")
    if device == "auto":
        return Backend("numpy", "no library that is installed sees a GPU")
    raise MissingExtraError(
        "no GPU can be used" if nvidia else "no NVIDIA GPU was found",
        advice='pip install "fiftyone-hsd[gpu]" or a torch built for your CUDA version, or use device="cpu"',
    )


class _Engine(Protocol):
    """What a backend does. Rows are living rows; the caller translates them."""

    @property
    def words(self) -> str:
        """What searched, for the result; complete once the search is over."""

    def pairs(
        self, x: Rows, y: Rows | None, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        """Every pair into `into`; yields (done, total)."""

    def neighbours(self, x: Rows, y: Rows | None, k: int, memory: int) -> Iterator[tuple[int, Floats, Ints]]:
        """(first row, similarity (b, k), index (b, k)) block by block."""


def _engine(backend: Backend) -> _Engine:
    if backend.name == "torch":
        from .similarity_torch import Torch

        return Torch.here()
    if backend.name in ("faiss", "faiss-gpu"):
        from .similarity_faiss import Faiss

        return Faiss(backend.name == "faiss-gpu")
    return Blocks()


def free_memory() -> int:
    """Bytes of memory that are free now, container limits included; 1 GiB where the system does not tell."""
    limits: list[int] = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        limits.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")))
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    if not limits:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(limits)) if limits else 1 << 30


def pairs_above(
    x: ArrayLike,
    threshold: float,
    y: ArrayLike | None = None,
    *,
    memory: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Found:
    """All pairs whose cosine is at least `threshold`, exactly.

    Args:
        x: (n, d) numbers, in memory or memory-mapped; rows need not be of unit length, zero rows match nothing.
        threshold: smallest cosine kept. Pairs within 1e-5 of it are decided in float64, where 1e-12 counts as equal.
        y: (m, d): pairs of a row of x with a row of y. None: pairs within x, i < j.
        memory: cap in bytes for everything beside the input, the result included; default a quarter of what is free.
        device: one of DEVICES.

    Returns:
        (i, j, similarity): int64 (p,), int64 (p,), float32 (p,), in order of (i, j).

    Raises:
        InputError: shapes, values, or more pairs than fit into the memory cap.
    """
    found = find(x, threshold, y, memory=memory, device=device, progress=progress)
    if found.truncated:
        raise InputError(
            f"more than {len(found.i):,} pairs reach {threshold:g}, which do not fit into the memory cap",
            advice="raise the threshold or `memory`, or call similar_pairs, which keeps the most similar pairs",
        )
    return found.i, found.j, found.similarity


def similar_pairs(
    x: Descriptors,
    threshold: float,
    *,
    calibration: str = "given",
    max_pairs: int = MAX_PAIRS,
    memory: int | None = None,
    device: str = "auto",
    approximate: bool = False,
    progress: Progress | None = None,
) -> SimilarityGraph:
    """The pairs of a corpus above a threshold, with what searched them.

    Args:
        calibration: how the threshold came about, in words.
        max_pairs: the most similar ones are kept if there are more (or if more do not fit into `memory`), and the
            graph says `truncated`.
        approximate: allow an approximate faiss search from APPROXIMATE_FROM rows on. Its pairs are re-checked exactly;
            its recall is measured on a sample and stands in `backend`, which then begins with "approximate".

    Other arguments and errors as in `pairs_above`.
    """
    if max_pairs < 1:
        raise InputError(f"max_pairs = {max_pairs}", "at least 1")
    note = ""
    if approximate and len(x) >= APPROXIMATE_FROM:
        from .similarity_faiss import approximate_pairs

        rows = Rows.of(x.values, "descriptors")
        cap = free_memory() // 4 if memory is None else memory
        room, _ = _room(rows, cap // 4, max_pairs)
        into = PairList(room, float(threshold))
        backend = approximate_pairs(rows, float(threshold), into, cap - cap // 2, guarded(progress))
        found = _named(into, rows, rows, backend)
    else:
        found = find(x.values, threshold, memory=memory, device=device, max_pairs=max_pairs, progress=progress)
        if approximate:
            note = f"; approximate search starts at {APPROXIMATE_FROM:,} rows"
    i, j, s, words = found.i, found.j, found.similarity, found.backend + note
    return SimilarityGraph(len(x), i, j, s, x.name, float(threshold), calibration, words, found.truncated)


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a search found.

    Attributes:
        i, j: int64 (p,), in order of (i, j).
        similarity: float32 (p,).
        backend: what searched, and whether exactly.
        truncated: True if not all pairs are here; then they are the most similar ones.
    """

    i: Ints
    j: Ints
    similarity: NDArray[np.float32]
    backend: str
    truncated: bool


def find(
    x: ArrayLike,
    threshold: float,
    y: ArrayLike | None = None,
    *,
    max_pairs: int | None = None,
    memory: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Pairs:
    """As `pairs_above`, but more than `max_pairs` (None: more than fit into `memory`) are cut and flagged, no error."""
    if not np.isfinite(threshold):
        raise InputError(f"threshold {threshold}", "a cosine, -1 to 1")
    a, b = _door(x, y)
    room, scratch = _room(a, memory, max_pairs)
    into = PairList(room, float(threshold))
    engine = _engine(choose(device, len(a) * len(a if b is None else b) * a.dim))
    tell = guarded(progress)
    for done, total in engine.pairs(a, b, float(threshold), into, scratch):
        tell(done, total, "comparing images")
    return _named(into, a, a if b is None else b, f"{engine.words}, exact")


def _named(into: PairList, x: Rows, y: Rows, backend: str) -> Pairs:
    """The pairs by the caller's rows."""
    i, j, s = into.done()
    return Pairs(x.alive[i], y.alive[j], s, backend, into.truncated)


def neighbours(
    x: ArrayLike,
    k: int,
    y: ArrayLike | None = None,
    *,
    memory: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> tuple[NDArray[np.float32], Ints]:
    """The k most similar rows of `y` for every row of `x`, exactly.

    Args:
        x: (n, d) queries; rows need not be of unit length.
        k: how many; cut to the number of rows there are.
        y: (m, d), the set searched. None: x without the query itself.
        memory, device: as in `pairs_above`.

    Returns:
        (similarity, index): float32 (n, k) in falling order, int64 (n, k). Similarities equal to
        1e-12 (in float64) come in order of the index. Zero rows match nothing: index -1 and similarity nan where fewer
        than k exist.
    """
    if k < 0:
        raise InputError(f"k = {k}", "0 or more")
    a, b = _door(x, y)
    other = a if b is None else b
    k = min(k, max(0, len(other.values) - (b is None)))
    similarity = np.full((len(a.values), k), np.nan, np.float32)
    index = np.full((len(a.values), k), -1, np.int64)
    if not k or not len(a) or not len(other):
        return similarity, index
    cap = free_memory() // 4 if memory is None else memory
    engine = _engine(choose(device, len(a) * len(other) * a.dim))
    tell = guarded(progress)
    for lo, s, i in engine.neighbours(a, b, k, cap):
        rows, there = a.alive[lo : lo + len(s)], i >= 0
        similarity[rows] = np.where(there, s, np.nan)
        index[rows] = np.where(there, other.alive[i], -1)
        tell(lo + len(s), len(a), "looking for nearest images")
    return similarity, index


def _door(x: ArrayLike, y: ArrayLike | None) -> tuple[Rows, Rows | None]:
    a, b = Rows.of(x), None if y is None else Rows.of(y, "y")
    if b is not None and a.dim != b.dim:
        raise InputError(f"rows of {a.dim} against rows of {b.dim} numbers", "rows of the same length")
    if max(len(a.values), 0 if b is None else len(b.values)) >= 2**31:
        raise InputError("2,147,483,648 rows or more", "fewer rows")
    return a, b


def _room(x: Rows, memory: int | None, max_pairs: int | None) -> tuple[int, int]:
    """How many pairs fit into the cap, and how many bytes are left for the tiles."""
    cap = free_memory() // 4 if memory is None else memory
    side = tile_side(cap // 2, x.dim)
    scratch = scratch_bytes(side, x.dim)
    room = max(1, (cap - scratch) // _BYTES_PER_PAIR)
    return (room if max_pairs is None else min(room, max_pairs)), scratch
