"""Pictures for training: read by the one reader, augmented by timm, in an order that only seed and step determine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError
from ..images import read_image
from ..model import Ints

MEMORY = 2 << 30
"""Bytes of decoded pictures kept in memory; what does not fit is read again each time."""
ROOM = 2
"""Shorter side of a kept picture, in units of the network's input: crops of half the area lose nothing."""
LONGEST = 16
"""Longer strips, relative to their width, are cut to the middle: scaling them could take more memory than there is."""
AHEAD = 64

View = tuple[int, int, int]
"""(step, place in the batch, row): what determines one augmented picture, together with the seed."""


class Pictures:
    """RGB pictures of some samples, shrunk to what training can use.

    Attributes:
        paths: n files.
        side: shorter side to which larger ones are shrunk (pixels).
    """

    def __init__(self, paths: Sequence[str], side: int) -> None:
        self.paths, self.side = paths, side
        self._kept: dict[int, NDArray[np.uint8]] = {}

    def keep(self, rows: Ints, workers: int, memory: int = MEMORY) -> None:
        """Read rows ahead, in threads, until `memory` bytes are kept. Bad ones are met again when asked for."""
        used = 0
        with ThreadPoolExecutor(max(1, workers)) as pool:
            for start in range(0, len(rows), AHEAD):
                some = rows[start : start + AHEAD].tolist()
                for row, picture in zip(some, pool.map(self._read, some), strict=True):
                    if picture is not None and used + picture.nbytes <= memory:
                        self._kept[row] = picture
                        used += picture.nbytes
                if used > 0.95 * memory:
                    return

    def __getitem__(self, row: int) -> NDArray[np.uint8] | None:
        """uint8 (h, w, 3), or None if it cannot be read."""
        kept = self._kept.get(row)
        return self._read(row) if kept is None else kept

    def _read(self, row: int) -> NDArray[np.uint8] | None:
        try:
            return shrunk(read_image(self.paths[row]), self.side)
        except ImageError:
            return None


def shrunk(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The picture with a shorter side of at most `side` pixels; never made larger."""
    import cv2

    height, width = image.shape[:2]
    most = LONGEST * min(height, width)
    if max(height, width) > most:
        top, left = max(0, (height - most) // 2), max(0, (width - most) // 2)
        image = image[top : top + most, left : left + most]
        height, width = image.shape[:2]
    factor = side / min(height, width)
    if factor < 1:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    return np.ascontiguousarray(image)


@dataclass(frozen=True, eq=False)
class Views:
    """A data set for torch's loader: View -> (uint8 (3, size, size), target, row). Target -100 = cannot be read.

    Attributes:
        pictures, targets: rows of the corpus.
        transform: of timm, ending in uint8 pixels.
        size: pixels a side.
        seed: None = nothing random (prediction).
    """

    pictures: Pictures
    targets: NDArray[np.int64]
    transform: Any
    size: int
    seed: int | None

    def __getitem__(self, view: View) -> tuple[Any, int, int]:
        import torch
        from PIL import Image

        row = view[2]
        picture = self.pictures[row]
        if picture is None:
            return torch.zeros((3, self.size, self.size), dtype=torch.uint8), -100, row
        if self.seed is not None:
            # Transforms draw from the generators of the process, which the loop puts back as they were.
            chance = seed_of(self.seed, view[0], view[1])
            random.seed(chance)
            torch.manual_seed(chance)
        return self.transform(Image.fromarray(picture)), int(self.targets[row]), row

    def __len__(self) -> int:
        return len(self.targets)


def seed_of(*numbers: int) -> int:
    """One 63-bit seed from several numbers."""
    state = np.random.SeedSequence([int(n) & 0xFFFFFFFFFFFFFFFF for n in numbers]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


@dataclass(frozen=True, eq=False)
class Order:
    """Which train rows each optimiser step sees: one shuffle a pass, without end, whatever the number of processes.

    Iterating gives the parts of each step in turn, as lists of Views: a batch sampler.

    Attributes:
        rows: train rows in order of ids.
        seed: of the shuffles.
        batch, parts: images a step, and parts in which one process works them off.
        first, last: steps, half open.
        process, processes: whose share this is.
    """

    rows: Ints
    seed: int
    batch: int
    parts: int
    first: int
    last: int
    process: int = 0
    processes: int = 1

    def step(self, number: int) -> Ints:
        """int64 (batch,), the rows of one step."""
        n = len(self.rows)
        at = np.arange(number * self.batch, (number + 1) * self.batch)
        shuffles = {int(p): np.random.default_rng([self.seed, int(p)]).permutation(n) for p in np.unique(at // n)}
        return np.array([self.rows[shuffles[int(a) // n][int(a) % n]] for a in at], np.int64)

    def __iter__(self) -> Iterator[list[View]]:
        for number in range(self.first, self.last):
            rows = self.step(number)
            places = np.arange(self.batch).reshape(self.parts, self.processes, -1)[:, self.process]
            for some in places.tolist():
                yield [(number, place, int(rows[place])) for place in some]

    def __len__(self) -> int:
        return (self.last - self.first) * self.parts


def in_batches(rows: Ints, size: int, process: int = 0, processes: int = 1) -> list[list[View]]:
    """Rows to predict as lists of Views: this process's share."""
    batches = [[(0, 0, int(r)) for r in rows[i : i + size]] for i in range(0, len(rows), size)]
    return batches[process::processes]
