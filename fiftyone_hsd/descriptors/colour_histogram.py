"""Colour fingerprint: how often each of 8 x 8 x 8 colours occurs. It carries stain, lighting and camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Descriptor

LEVELS = 8
SIDE = 256


@dataclass(frozen=True)
class _ColourHistogram:
    name: str = "colour_histogram:rgb8x8x8,counts"
    dim: int = LEVELS**3

    def prepare(self, image: NDArray[np.uint8]) -> NDArray[Any]:
        # Counts of a regular grid of at most 256 x 256 pixels: enough for shares of 512 colours, and bounded in cost.
        step = max(1, -(-max(image.shape[:2]) // SIDE))
        thin = image[::step, ::step] >> np.uint8(5)
        code = (thin[..., 0].astype(np.int64) << 6) | (thin[..., 1].astype(np.int64) << 3) | thin[..., 2]
        counts = np.bincount(code.ravel(), minlength=self.dim).astype(np.float32)
        return counts / np.float32(counts.sum())

    def encode(self, batch: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        return np.asarray(batch, dtype=np.float32).reshape(len(batch), self.dim)


def colour_histogram() -> Descriptor:
    """512-bin RGB histogram of raw shares, compared by cosine."""
    return _ColourHistogram()
