"""Tile scramble: tiles change places, so that texture stays and shape goes (Erukude & Shamir 2024)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress
from ._experiment import look
from ._study import Look, Outcome, Study

Pixels = NDArray[np.uint8]
TILE = 32


def tile_scramble(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Tiles of 32 pixels in a new order for every image; a smaller picture is cut into 4 x 4 tiles."""
    left = "texture without shape (tiles in a new order)"
    return look(study, Look("tile_scramble", f"{TILE} px", left, False, _scrambled), progress=progress)


def _scrambled(row: int, picture: Pixels) -> Pixels:
    h, w = picture.shape[:2]
    tile = min(TILE, max(1, min(h, w) // 4))
    rows, columns = h // tile, w // tile
    whole = picture[: rows * tile, : columns * tile].reshape(rows, tile, columns, tile, 3)
    tiles = whole.transpose(0, 2, 1, 3, 4).reshape(rows * columns, tile, tile, 3)
    mixed = tiles[np.random.default_rng([row, 7]).permutation(len(tiles))].reshape(rows, columns, tile, tile, 3)
    return np.ascontiguousarray(mixed.transpose(0, 2, 1, 3, 4).reshape(rows * tile, columns * tile, 3))
