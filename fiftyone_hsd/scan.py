"""One pass over the files: bytes hash, one decode, pixel hash, descriptors."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import __version__ as pillow_version

from .descriptors import Descriptor
from .errors import ImageError, StoreError
from .images import decode, digest_of, read_bytes, to_rgb
from .model import Descriptors, Samples, Scan, sha256_json
from .progress import Progress, guarded
from .store import load, save

BLOCK = 256
"""Images in a block: what an interruption can lose, and half of what is held in memory at once."""
_AT_ONCE = 8  # images handed to a thread together
_SECONDS = 0.1  # between two calls of progress inside a block
_NO_MEMORY = "not enough memory"  # the reader's words, too
_VERSION = 2  # raised whenever a reader gives other pixels


@dataclass(frozen=True, eq=False)
class ScanBlock:
    """The result for one block of files, as kept on disk."""

    scan: Scan
    vectors: tuple[NDArray[np.float32], ...]


def scan(
    samples: Samples,
    descriptors: Sequence[Descriptor] = (),
    *,
    cache: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Scan, list[Descriptors]]:
    """Read every file once.

    Args:
        samples: n samples.
        descriptors: what to compute from each image.
        cache: folder for finished blocks; a second call with unchanged files (path, size, time) reads them back;
            files that could not be opened are tried again. An interrupted pass goes on where it stopped.
        workers: decoding threads, default the number of cores.
        progress: called after each block, and now and then inside one, with (images done, n, label).

    Returns:
        the Scan, and one (n, d) Descriptors for each descriptor; a bad image has its reason in `failure` and an
        all-zero row.

    Raises:
        StoreError: the cache folder cannot be written.
    """
    n = len(samples)
    content, pixels, failure = [""] * n, [""] * n, [""] * n
    width, height = np.zeros(n, np.int64), np.zeros(n, np.int64)
    vectors = [np.zeros((n, d.dim), np.float32) for d in descriptors]
    tell = _paced(guarded(progress), n)
    pool = ThreadPoolExecutor(workers or _cores(), thread_name_prefix="hsd-scan")
    running: deque[_Task] = deque()
    try:
        for start in range(0, n + BLOCK, BLOCK):
            if start < n:
                running.append(_begun(start, samples.paths[start : start + BLOCK], descriptors, cache, pool))
            # The next block is being read while this one is encoded.
            while running and (len(running) > 1 or start >= n):
                task = running.popleft()
                block = _finished(task, descriptors, tell)
                rows = slice(task.start, task.start + len(task.paths))
                content[rows], pixels[rows], failure[rows] = block.scan.content, block.scan.pixels, block.scan.failure
                width[rows], height[rows] = block.scan.width, block.scan.height
                for whole, part in zip(vectors, block.vectors, strict=True):
                    whole[rows] = part
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    found = Scan(tuple(content), tuple(pixels), tuple(failure), width, height)
    return found, [Descriptors(d.name, v) for d, v in zip(descriptors, vectors, strict=True)]


@dataclass(frozen=True)
class _Row:
    content: str = ""
    pixels: str = ""
    failure: str = ""
    width: int = 0
    height: int = 0
    prepared: tuple[NDArray[Any], ...] = ()


@dataclass(frozen=True, eq=False)
class _Task:
    """One block under way: what is kept of it, and the rows that are being read."""

    start: int
    paths: Sequence[str]
    file: Path | None
    kept: ScanBlock | None
    rows: Sequence[int]
    futures: Sequence[Future[list[_Row]]]


def _begun(
    start: int, paths: Sequence[str], descriptors: Sequence[Descriptor], cache: Path | None, pool: ThreadPoolExecutor
) -> _Task:
    file = None if cache is None else cache / f"{_key(paths, descriptors)}.npz"
    kept = _kept(file, len(paths), descriptors)
    rows = [i for i in range(len(paths)) if kept is None or _may_heal(kept.scan, i)]
    futures = [
        pool.submit(_read_rows, [paths[i] for i in rows[k : k + _AT_ONCE]], descriptors)
        for k in range(0, len(rows), _AT_ONCE)
    ]
    return _Task(start, paths, file, kept, rows, futures)


def _may_heal(found: Scan, row: int) -> bool:
    # Rights, a drive that was away, memory: the file's time stamp stays the same when these are mended.
    return not found.content[row] or found.failure[row].startswith(_NO_MEMORY)


def _finished(task: _Task, descriptors: Sequence[Descriptor], tell: Callable[[int, bool], None]) -> ScanBlock:
    size = len(task.paths)
    rows = [_Row()] * size
    vectors = [np.zeros((size, d.dim), np.float32) for d in descriptors]
    if task.kept is not None:
        columns = (getattr(task.kept.scan, c) for c in ("content", "pixels", "failure", "width", "height"))
        rows = [_Row(*values) for values in zip(*columns, strict=True)]
        vectors = [v.copy() for v in task.kept.vectors]
    fresh: list[_Row] = []
    for future in task.futures:
        fresh += future.result()
        tell(task.start + size - len(task.rows) + len(fresh), False)
    for i, row in zip(task.rows, fresh, strict=True):
        rows[i] = row
    good = [i for i in task.rows if not rows[i].failure]
    for k, descriptor in enumerate(descriptors):
        if good:
            vectors[k][good] = unit_rows(descriptor.encode([rows[i].prepared[k] for i in good]))
    found = Scan(
        content=tuple(r.content for r in rows),
        pixels=tuple(r.pixels for r in rows),
        failure=tuple(r.failure for r in rows),
        width=np.array([r.width for r in rows], np.int64),
        height=np.array([r.height for r in rows], np.int64),
    )
    block = ScanBlock(found, tuple(vectors))
    if task.file is not None and (task.kept is None or good):
        save(task.file, block)
    tell(task.start + size, True)
    return block


def _key(paths: Sequence[str], descriptors: Sequence[Descriptor]) -> str:
    stamps: list[Any] = []
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116 - a Path of each of many names costs more than the call
            stamps.append([path, status.st_size, status.st_mtime_ns])
        except (OSError, ValueError):
            stamps.append([path, -1, -1])
    return sha256_json([_VERSION, pillow_version, stamps, [d.name for d in descriptors]])[:32]


def _kept(file: Path | None, size: int, descriptors: Sequence[Descriptor]) -> ScanBlock | None:
    if file is None or not file.exists():
        return None
    try:
        block = load(file, ScanBlock)
    except StoreError:
        return None
    shapes = [v.shape for v in block.vectors]
    return block if shapes == [(size, d.dim) for d in descriptors] and len(block.scan.content) == size else None


def _read_rows(paths: Sequence[str], descriptors: Sequence[Descriptor]) -> list[_Row]:
    return [_read_one(path, descriptors) for path in paths]


def _read_one(path: str, descriptors: Sequence[Descriptor]) -> _Row:
    content = ""
    try:
        data = read_bytes(path)
        content = sha256(data).hexdigest()
        native = decode(data)
        pixels = digest_of(native)
        image = to_rgb(native) if descriptors else None
        prepared = tuple(d.prepare(image) for d in descriptors) if image is not None else ()
        return _Row(content, pixels, "", native.shape[1], native.shape[0], prepared)
    except ImageError as error:
        return _Row(content=content, failure=error.came)
    except MemoryError:
        return _Row(content=content, failure=_NO_MEMORY)
    except Exception as error:  # a fault of a descriptor: say where
        error.add_note(f"while describing {path!r}")
        raise


def _paced(tell: Progress, n: int) -> Callable[[int, bool], None]:
    """`tell`, at the end of every block, and inside a block only now and then."""
    last = 0.0

    def call(done: int, whole: bool) -> None:
        nonlocal last
        now = time.monotonic()
        if whole or now - last >= _SECONDS:
            last = now
            tell(done, n, "reading images")

    return call


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def unit_rows(values: NDArray[Any]) -> NDArray[np.float32]:
    """float32 rows of unit length; rows that are zero or not finite become zero ("no vector")."""
    rows = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(rows, axis=1)
    good = np.isfinite(norms) & (norms > 0)
    result = np.zeros(rows.shape, np.float32)
    result[good] = rows[good] / norms[good, None]
    return result
