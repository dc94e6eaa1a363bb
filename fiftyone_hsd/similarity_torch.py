"""The blocked exact search with torch, for a GPU that faiss has no wheel for (and the same code on the CPU).

Candidates come from float32 products on the device (TF32 off); what is near a decision is decided in float64 on the
host, by the code of the numpy search. Running out of GPU memory halves the tile, and at the end moves to the CPU; both
stand in `words`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Floats, Ints
from .similarity_blocks import MARGIN, PairList, Rows, accept, settle, tile_side

_LARGEST = 16384
_SMALLEST = 128
_SPARE = 16


def gpu_name() -> str:
    """Name of the first CUDA device torch can use, "" if there is none."""
    import torch

    try:
        return str(torch.cuda.get_device_name(0)) if torch.cuda.is_available() else ""
    except (RuntimeError, AssertionError):
        return ""


@contextlib.contextmanager
def _exact_products() -> Iterator[None]:
    """Full float32 products inside the block; the user's setting comes back afterwards."""
    import torch

    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_float32_matmul_precision(precision)


class Torch:
    """A search on one device.

    Attributes:
        device: torch's name of it.
        side: rows of a tile; halved when memory runs out.
        halved: how often that happened.
    """

    def __init__(self, device: str, name: str, side: int) -> None:
        self.device, self.name, self.side, self.halved = device, name, side, 0

    @staticmethod
    def here(side: int | None = None) -> Torch:
        """The first GPU with tiles an eighth of its free memory, or the CPU."""
        import torch

        name = gpu_name()
        if not name:
            return Torch("cpu", "the CPU", side or 1024)
        fits = int((torch.cuda.mem_get_info()[0] / 8 / 4) ** 0.5)
        return Torch("cuda", name, side or max(_SMALLEST, min(_LARGEST, fits)))

    @property
    def words(self) -> str:
        """What searched, for the result."""
        import torch

        less = f"; tiles halved {self.halved} times for lack of memory" if self.halved else ""
        return f"torch {torch.__version__} on {self.name}{less}"

    def _shrink(self, error: BaseException) -> None:
        """Halve the tile after running out of memory; move to the CPU when the tile is as small as sensible.

        Raises:
            BaseException: the error again, if there is nothing left to give up.
        """
        import torch

        if self.device == "cpu" and self.side <= _SMALLEST:
            raise error
        self.halved += 1
        if self.side > _SMALLEST:
            self.side //= 2
        else:
            self.device, self.name = "cpu", f"the CPU (too little memory on {self.name})"
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _put(self, block: NDArray[np.float32]) -> Any:
        import torch

        return torch.from_numpy(np.array(block)).to(self.device)

    def pairs(
        self, x: Rows, y: Rows | None, threshold: float, into: PairList, memory: int
    ) -> Iterator[tuple[int, int]]:
        """All pairs with cosine >= threshold into `into`; yields (rows done, rows in all)."""
        if self.device == "cpu":
            self.side = tile_side(memory, x.dim)
        lo = 0
        while lo < len(x):
            try:
                with _exact_products():
                    found = self._row_of_tiles(x, y, lo, max(threshold, into.floor) - MARGIN)
            except (RuntimeError, MemoryError) as error:
                if not _out_of_memory(error):
                    raise
                self._shrink(error)
                continue
            for i, j, s in found:
                accept(x, i, x if y is None else y, j, s, threshold, into)
            lo += self.side
            yield min(lo, len(x)), len(x)

    def _row_of_tiles(self, x: Rows, y: Rows | None, lo: int, low: float) -> list[tuple[Ints, Ints, Any]]:
        import torch

        other, found = x if y is None else y, []
        a = self._put(x.block(lo, lo + self.side))
        for start in range(lo if y is None else 0, len(other), self.side):
            b = a if y is None and start == lo else self._put(other.block(start, start + self.side))
            tile = a @ b.T
            r, c = torch.nonzero(tile >= low, as_tuple=True)
            if y is None and start == lo:
                above = c > r
                r, c = r[above], c[above]
            found.append((lo + r.cpu().numpy(), start + c.cpu().numpy(), tile[r, c].cpu().numpy()))
        return found

    def neighbours(self, x: Rows, y: Rows | None, k: int, memory: int) -> Iterator[tuple[int, Floats, Ints]]:
        """As `similarity_blocks.find_neighbours`."""
        lo, keep = 0, min(k + _SPARE, len(x if y is None else y))
        while lo < len(x):
            rows = max(1, min(self.side, memory // 2 // (64 * (keep + 1))))
            try:
                with _exact_products():
                    best, index = self._best(x, y, lo, rows, keep)
            except (RuntimeError, MemoryError) as error:
                if not _out_of_memory(error):
                    raise
                self._shrink(error)
                continue
            yield lo, *settle(x, y, lo, best, index, k, memory)
            lo += rows

    def _best(self, x: Rows, y: Rows | None, lo: int, rows: int, keep: int) -> tuple[NDArray[np.float32], Ints]:
        import torch

        other = x if y is None else y
        a = self._put(x.block(lo, lo + rows))
        best = torch.empty((len(a), 0), device=self.device)
        index = torch.empty((len(a), 0), dtype=torch.int64, device=self.device)
        for start in range(0, len(other), self.side):
            b = self._put(other.block(start, start + self.side))
            tile = a @ b.T
            first, last = max(lo, start), min(lo + len(a), start + len(b))
            if y is None and first < last:
                own = torch.arange(first, last, device=self.device)
                tile[own - lo, own - start] = -torch.inf
            s, c = torch.topk(tile, min(keep, len(b)), dim=1)
            best, index = torch.cat([best, s], 1), torch.cat([index, c + start], 1)
            best, order = torch.topk(best, min(keep, best.shape[1]), dim=1)
            index = torch.gather(index, 1, order)
        return best.cpu().numpy(), index.cpu().numpy()


def _out_of_memory(error: BaseException) -> bool:
    """Whether torch or the system ran out of memory; torch's own error is a RuntimeError."""
    return isinstance(error, MemoryError) or "out of memory" in str(error).lower()
