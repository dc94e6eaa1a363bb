"""One pass over the files: bytes hash, one decode, pixel hash, descriptors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .descriptors import Descriptor
from .errors import ImageError, StoreError
from .images import decode, digest_of, read_bytes, to_rgb
from .model import Descriptors, Samples, Scan, sha256_json
from .progress import Progress, guarded
from .store import load, save

BLOCK = 256
"""Images in a block: what an interruption can lose, and what is held in memory at once."""
_VERSION = 1


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
        cache: folder for finished blocks; a second call with unchanged files (path, size, time) reads them back.
        workers: decoding threads, default the number of cores.
        progress: called after each block with (images done, n, label).

    Returns:
        the Scan, and one (n, d) Descriptors for each descriptor; a bad image has its reason in `failure` and an
        all-zero row.

    Raises:
        StoreError: the cache folder cannot be written.
    """
    tell = guarded(progress)
    n = len(samples)
    blocks: list[ScanBlock] = []
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for start in range(0, n, BLOCK):
            paths = samples.paths[start : start + BLOCK]
            kept = None if cache is None else cache / f"{_key(paths, descriptors)}.npz"
            block = _kept(kept)
            if block is None:
                block = _read_block(paths, descriptors, pool)
                if kept is not None:
                    save(kept, block)
            blocks.append(block)
            tell(min(start + BLOCK, n), n, "reading images")
    found = Scan(
        content=tuple(v for b in blocks for v in b.scan.content),
        pixels=tuple(v for b in blocks for v in b.scan.pixels),
        failure=tuple(v for b in blocks for v in b.scan.failure),
        width=np.concatenate([np.zeros(0, np.int64), *(b.scan.width for b in blocks)]),
        height=np.concatenate([np.zeros(0, np.int64), *(b.scan.height for b in blocks)]),
    )
    vectors = [
        Descriptors(d.name, np.concatenate([np.zeros((0, d.dim), np.float32), *(b.vectors[k] for b in blocks)]))
        for k, d in enumerate(descriptors)
    ]
    return found, vectors


def _key(paths: Sequence[str], descriptors: Sequence[Descriptor]) -> str:
    stamps: list[Any] = []
    for path in paths:
        try:
            status = Path(path).stat()
            stamps.append([path, status.st_size, status.st_mtime_ns])
        except OSError:
            stamps.append([path, -1, -1])
    return sha256_json([_VERSION, stamps, [d.name for d in descriptors]])[:32]


def _kept(path: Path | None) -> ScanBlock | None:
    if path is None or not path.exists():
        return None
    try:
        return load(path, ScanBlock)
    except StoreError:
        return None


def _read_block(paths: Sequence[str], descriptors: Sequence[Descriptor], pool: ThreadPoolExecutor) -> ScanBlock:
    rows = list(pool.map(lambda path: _read_one(path, descriptors), paths))
    vectors = []
    for k, descriptor in enumerate(descriptors):
        values = np.zeros((len(rows), descriptor.dim), np.float32)
        good = [i for i, row in enumerate(rows) if not row.failure]
        if good:
            values[good] = unit_rows(descriptor.encode([rows[i].prepared[k] for i in good]))
        vectors.append(values)
    found = Scan(
        content=tuple(r.content for r in rows),
        pixels=tuple(r.pixels for r in rows),
        failure=tuple(r.failure for r in rows),
        width=np.array([r.width for r in rows], np.int64),
        height=np.array([r.height for r in rows], np.int64),
    )
    return ScanBlock(found, tuple(vectors))


@dataclass(frozen=True)
class _Row:
    content: str = ""
    pixels: str = ""
    failure: str = ""
    width: int = 0
    height: int = 0
    prepared: tuple[NDArray[Any], ...] = ()


def _read_one(path: str, descriptors: Sequence[Descriptor]) -> _Row:
    content = ""
    try:
        data = read_bytes(path)
        content = sha256(data).hexdigest()
        native = decode(data)
        prepared: tuple[NDArray[Any], ...] = ()
        if descriptors:
            image = to_rgb(native)
            prepared = tuple(d.prepare(image) for d in descriptors)
        return _Row(content, digest_of(native), "", native.shape[1], native.shape[0], prepared)
    except ImageError as error:
        return _Row(content=content, failure=error.came)


def unit_rows(values: NDArray[Any]) -> NDArray[np.float32]:
    """float32 rows of unit length; rows that are zero or not finite become zero ("no vector")."""
    rows = np.asarray(values, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    good = np.isfinite(norms) & (norms > 0)
    return np.where(good[:, None], rows / np.where(good, norms, 1)[:, None], 0).astype(np.float32)
