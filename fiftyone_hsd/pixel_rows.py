"""Pictures as rows of unit length, so that everything that takes Descriptors can look at pixels without loss.

A row of unit length forgets how long it was. One more coordinate of a fixed length in front of the division keeps it:
the direction of (x, k) says everything about x, and cosines of such rows fall with the distance of the pictures.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .model import Descriptors

_NAME = re.compile(r"pixels:(\d+)x(\d+)x(\d+)")
MIDDLE = 0.5


def pixel_rows(images: NDArray[np.uint8]) -> Descriptors:
    """The pictures as Descriptors `pixels:HxWxC` of h * w * c + 1 numbers each.

    Args:
        images: uint8 (n, h, w, c), all of one size.
    """
    n, h, w, c = images.shape
    flat = images.reshape(n, h * w * c).astype(np.float32) / np.float32(255) - np.float32(MIDDLE)
    return Descriptors(f"pixels:{h}x{w}x{c}", long_rows(flat))


def long_rows(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """float32 (n, d + 1) unit rows from which float (n, d) `values` within about [-1, 1] can be had back."""
    n, d = values.shape
    longer = np.concatenate([np.asarray(values, np.float32), np.full((n, 1), _last(d), np.float32)], axis=1)
    norms = np.sqrt(np.einsum("ij,ij->i", longer, longer, dtype=np.float64))
    return np.asarray(longer / norms[:, None], np.float32)


def holds_pixels(descriptors: Descriptors) -> bool:
    """Whether `pixels_of` can read them."""
    return _NAME.fullmatch(descriptors.name) is not None


def pixels_of(descriptors: Descriptors) -> NDArray[np.float32]:
    """float32 (n, h, w, c) in [0, 1], as they went into `pixel_rows`; an all-zero row ("no vector") is grey.

    Raises:
        InputError: the descriptors hold no pixels.
    """
    found = _NAME.fullmatch(descriptors.name)
    if found is None:
        raise InputError(f"descriptors {descriptors.name!r}", "pixels:HxWxC", "make them with pixel_rows")
    h, w, c = (int(g) for g in found.groups())
    last = descriptors.values[:, -1:]
    scale = np.divide(_last(h * w * c), last, out=np.zeros_like(last), where=last != 0)
    return np.asarray(descriptors.values[:, :-1] * scale + MIDDLE, np.float32).reshape(-1, h, w, c)


def _last(d: int) -> np.float32:
    # As long as a picture half way between grey and black or white.
    return np.float32(max(1, d) ** 0.5 / 4)
