"""The pictures of a corpus for many experiments: decoded once where they fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..images import read_image
from ..model import Samples, Scan
from ..progress import Progress, guarded

T = TypeVar("T")
Pixels = NDArray[np.uint8]
BUDGET = 1 << 30
"""Bytes of decoded pictures that are kept."""
STEP = 64


class Gallery:
    """RGB pictures by row.

    Args:
        paths: n files.
        bytes_needed: decoded size of all of them; above BUDGET each experiment decodes again.
    """

    def __init__(self, paths: Sequence[str], bytes_needed: int) -> None:
        self._paths = tuple(paths)
        self._kept: dict[int, Pixels] | None = {} if bytes_needed <= BUDGET else None

    @staticmethod
    def of(samples: Samples, scan: Scan) -> Gallery:
        """The gallery of a corpus."""
        return Gallery(samples.paths, int((scan.width * scan.height).sum()) * 3)

    @staticmethod
    def holding(images: Sequence[Pixels]) -> Gallery:
        """A gallery of pictures that are in memory already."""
        made = Gallery([""] * len(images), 0)
        made._kept = dict(enumerate(images))
        return made

    def __len__(self) -> int:
        return len(self._paths)

    def each(
        self, make: Callable[[int, Pixels], T], rows: Sequence[int], label: str, progress: Progress | None = None
    ) -> list[T]:
        """`make(row, picture)` for each of `rows`, in order; `make` runs in threads and may not change the picture.

        Raises:
            ImageError: a file that could be read a moment ago cannot be read now.
        """
        tell, done = guarded(progress), []

        def one(row: int) -> T:
            return make(row, self._picture(row))

        with ThreadPoolExecutor() as pool:
            for start in range(0, len(rows), STEP):
                tell(start, len(rows), label)
                done += list(pool.map(one, rows[start : start + STEP]))
        tell(len(rows), len(rows), label)
        return done

    def _picture(self, row: int) -> Pixels:
        if self._kept is None:
            return read_image(self._paths[row])
        if row not in self._kept:
            self._kept[row] = read_image(self._paths[row])
        return self._kept[row]
