"""Descriptors of files, kept on disk by content: what was encoded once is never encoded again.

One folder a descriptor; in it blocks of (SHA-256 of the file's bytes, vector), each written whole or not at all and
never changed. So two processes may work in one folder, a killed one loses at most the batch in hand, and a renamed or
copied file is found again. Vectors are read through memory maps; memory does not grow with the number of files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .descriptors import Descriptor
from .errors import ImageError
from .images import read_bytes, read_image
from .model import SCHEMA, Descriptors
from .progress import Progress, guarded
from .scan import unit_rows
from .store import atomic

BATCH = 128
"""Images that are encoded and written together: what a kill can lose."""
_MANY_BLOCKS = 64
_ON_DISK = 64 << 20  # larger results are memory-mapped


class VectorStore:
    """The vectors of one descriptor on disk.

    Attributes:
        folder: blocks and a description; made when the first block is written.
        dim: length of a vector.
    """

    def __init__(self, root: Path, name: str, dim: int) -> None:
        self.folder = root / "descriptors" / hashlib.sha256(f"{SCHEMA} {name}".encode()).hexdigest()[:20]
        self.name, self.dim = name, dim
        self._dtype = np.dtype([("key", "S32"), ("vector", "<f4", (dim,))])
        self._blocks: dict[str, NDArray[Any]] = {}
        self._where: dict[bytes, tuple[str, int]] = {}
        self.refresh()

    def __contains__(self, key: bytes) -> bool:
        return key in self._where

    def __len__(self) -> int:
        return len(self._where)

    def refresh(self) -> None:
        """Take in blocks that other processes wrote meanwhile; damaged ones are left out and removed."""
        for path in sorted(self.folder.glob("*.npy")):
            if path.name not in self._blocks:
                try:
                    block = np.load(path, mmap_mode="r", allow_pickle=False)
                    if block.dtype != self._dtype or block.ndim != 1:
                        raise ValueError(f"{path} is of another kind")
                except FileNotFoundError:  # merged away by another process; what it held is in a larger block
                    continue
                except (ValueError, OSError, EOFError):
                    with contextlib.suppress(OSError):
                        path.unlink()
                    continue
                self._take(path.name, block)

    def _take(self, name: str, block: NDArray[Any]) -> None:
        self._blocks[name] = block
        for row, key in enumerate(block["key"].tolist()):
            self._where[key.ljust(32, b"\0")] = (name, row)

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Write one block.

        Raises:
            StoreError: the folder cannot be written or the disk is full.
        """
        block = np.empty(len(keys), self._dtype)
        block["key"], block["vector"] = keys, vectors
        self._write(block)

    def _write(self, block: NDArray[Any]) -> None:
        about = self.folder / "descriptor.json"
        if not about.exists():
            with atomic(about) as file:
                file.write(json.dumps({"schema": SCHEMA, "name": self.name, "dim": self.dim}).encode())
        name = f"{uuid.uuid4().hex}.npy"
        with atomic(self.folder / name) as file:
            np.lib.format.write_array(file, block, allow_pickle=False)
        # Read back through the map, so that a long run keeps none of its vectors in memory.
        self._take(name, np.load(self.folder / name, mmap_mode="r", allow_pickle=False))

    def tidy(self) -> None:
        """Merge many small blocks into one; whoever still reads the old ones keeps reading them."""
        small = [name for name, block in self._blocks.items() if len(block) < 8192]
        if len(small) < _MANY_BLOCKS:
            return
        keys = [key for key, (name, _) in self._where.items() if name in set(small)]
        for start in range(0, len(keys), 1 << 16):
            some = keys[start : start + (1 << 16)]
            block = np.empty(len(some), self._dtype)
            block["key"] = some
            self.read(some, block["vector"])
            self._write(block)
        for name in small:
            del self._blocks[name]
            with contextlib.suppress(OSError):  # a file that Windows still maps stays, and is merged next time
                (self.folder / name).unlink()

    def read(self, keys: Sequence[bytes], into: NDArray[np.float32]) -> None:
        """The vectors of `keys` into the rows of `into`; rows without a key in the store stay as they are."""
        for row, key in enumerate(keys):
            if place := self._where.get(key):
                into[row] = self._blocks[place[0]]["vector"][place[1]]


@dataclass
class _Item:
    """One file on its way: its key, and the prepared image if it has to be encoded."""

    key: bytes = b""
    failure: str = ""
    prepared: NDArray[Any] | None = None


@dataclass
class _Batch:
    keys: list[bytes] = field(default_factory=list)
    images: list[NDArray[Any]] = field(default_factory=list)


def encode(
    paths: Sequence[str],
    descriptor: Descriptor,
    *,
    contents: Sequence[str] | None = None,
    folder: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Descriptors, dict[str, str]]:
    """One vector a file; decoding runs in threads while the descriptor works on what is ready.

    Args:
        paths: n files.
        contents: n SHA-256 hex digests of their bytes ("" = unreadable) if they are known, for instance
            `Scan.content`: files whose vectors are stored are then not even opened.
        folder: where vectors are kept, `places.cache_folder()` for the user's; None = nowhere.
        workers: decoding threads, default the number of cores.

    Returns:
        (Descriptors (n, d), path -> reason for every file that cannot be used: its row is zero).

    Raises:
        StoreError: the folder cannot be written.
    """
    tell, n = guarded(progress), len(paths)
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hsd-", ignore_cleanup_errors=True)))
        store = VectorStore(folder, descriptor.name, descriptor.dim)
        keys = [b""] * n
        failures: dict[str, str] = {}
        broken: dict[bytes, str] = {}
        claimed: set[bytes] = set()
        lock = Lock()

        def claim(key: bytes) -> bool:
            with lock:
                fresh = key not in store and key not in claimed
                claimed.add(key)
            return fresh

        def work(row: int) -> _Item:
            return _prepare(paths[row], contents[row] if contents is not None else None, claim, descriptor)

        batch = _Batch()
        for row, item in _in_order(work, n, workers or os.cpu_count() or 1):
            keys[row] = item.key
            if item.failure:
                failures[paths[row]] = broken[item.key] = item.failure
            if item.prepared is not None:
                batch.keys.append(item.key)
                batch.images.append(item.prepared)
            if len(batch.keys) == BATCH:
                _flush(batch, store, descriptor)
                batch = _Batch()
            if (row + 1) % BATCH == 0:
                tell(row + 1, n, "describing images")
        _flush(batch, store, descriptor)
        tell(n, n, "describing images")
        for row, key in enumerate(keys):  # copies of a file that cannot be used were not opened again
            if key and key not in store:
                failures[paths[row]] = broken[key]
        store.tidy()
        return Descriptors(descriptor.name, _gathered(store, keys, descriptor.dim)), failures


def _prepare(path: str, content: str | None, claim: Callable[[bytes], bool], descriptor: Descriptor) -> _Item:
    if content == "":
        return _Item(failure="the file cannot be read")
    key = b""
    try:
        if content is not None and not claim(bytes.fromhex(content)):
            return _Item(bytes.fromhex(content))
        data = read_bytes(path)
        key = hashlib.sha256(data).digest()
        if content is None and not claim(key):
            return _Item(key)
        return _Item(key, "", descriptor.prepare(read_image(data)))
    except ImageError as error:
        return _Item(key, error.came)


def _in_order(work: Callable[[int], _Item], n: int, workers: int) -> Iterator[tuple[int, _Item]]:
    """(row, work(row)) in order, with a bounded number of rows in hand at any time."""
    ahead = max(2 * BATCH, 4 * workers)
    with ThreadPoolExecutor(workers) as pool:
        waiting: list[Future[_Item]] = []
        try:
            for row in range(n):
                while len(waiting) < min(ahead, n - row):
                    waiting.append(pool.submit(work, row + len(waiting)))
                yield row, waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()


def _flush(batch: _Batch, store: VectorStore, descriptor: Descriptor) -> None:
    if batch.keys:
        store.add(batch.keys, unit_rows(descriptor.encode(batch.images)))


def _gathered(store: VectorStore, keys: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    """float32 (n, dim) in the order of `keys`; a memory map of a file without a name when it is large."""
    n = len(keys)
    if n * dim * 4 < _ON_DISK:
        result = np.zeros((n, dim), np.float32)
    else:
        store.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=store.folder) as file:
            file.truncate(n * dim * 4)
            result = np.memmap(file, np.float32, "r+", shape=(n, dim))
    for start in range(0, n, 8192):
        store.read(keys[start : start + 8192], result[start : start + 8192])
    return result
