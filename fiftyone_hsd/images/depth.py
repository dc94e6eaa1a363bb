"""From native pixels to the 8-bit RGB that people see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

TOPS = (1, 255, 4095, 65535)
"""White of the usual cameras and files: unit floats and masks, 8, 12 and 16 bits."""
LEAST_CONTRAST = 1 / 8
"""Share of the range up to white that the middle 99.8 % of the pixels must span for that white to be believed."""
_ROWS = 1 << 22


def to_rgb(pixels: NDArray[Any]) -> Pixels:
    """uint8 (h, w, 3) from native pixels (h, w) or (h, w, c): grey is repeated, transparency laid over white."""
    colour, alpha = pixels, None
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        colour, alpha = pixels[..., :-1], pixels[..., -1:]
    flat = eight_bits(colour)
    if flat.ndim == 2 or flat.shape[2] == 1:
        flat = np.repeat(flat.reshape(*flat.shape[:2], 1), 3, axis=2)
    if alpha is not None:
        flat = _over_white(flat, alpha)
    return np.ascontiguousarray(flat)


def _over_white(flat: Pixels, alpha: NDArray[Any]) -> Pixels:
    top = int(np.iinfo(alpha.dtype).max) if alpha.dtype.kind in "ui" else 1
    if (alpha >= top).all():
        return flat
    share = np.clip(np.nan_to_num(alpha.astype(np.float32)) / np.float32(top), 0, 1)
    white = np.float32(255)
    mixed: Pixels = np.rint(flat * share + white * (1 - share)).astype(np.uint8)
    return mixed


def eight_bits(pixels: NDArray[Any]) -> Pixels:
    """uint8 of the same shape.

    8-bit pixels stay, 1-bit ones become 0 and 255. For deeper ones black is 0 and white the smallest of 1, 255, 4095,
    65535 and the largest value of the type that holds every pixel, so that pictures of one camera stay comparable.
    Where that would leave hardly any contrast (negative values, a narrow band as in CT, a hot pixel), black and white
    are the 0.1 and 99.9 percentiles of the finite pixels. Our choice; no standard decides it.
    """
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    with np.errstate(invalid="ignore"):  # damaged floats may be signalling NaNs
        return _eight_bits(pixels)


def _eight_bits(pixels: NDArray[Any]) -> Pixels:
    black, white = _range(pixels)
    if pixels.dtype.kind in "ui" and pixels.dtype.itemsize == 2:
        # All 65,536 values once, then one look-up a pixel.
        values = np.arange(1 << 16, dtype=np.uint16).view(pixels.dtype.newbyteorder("="))
        native = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
        found: Pixels = _scaled(values, black, white)[native.view(np.uint16)]
        return found
    result = np.empty(pixels.shape, np.uint8)
    step = max(1, _ROWS // max(1, pixels[0].size))  # rows at a time: the copy in float64 stays small
    for start in range(0, len(pixels), step):
        result[start : start + step] = _scaled(pixels[start : start + step], black, white)
    return result


def _scaled(values: NDArray[Any], black: float, white: float) -> Pixels:
    wide = np.nan_to_num(values.astype(np.float64), nan=black, posinf=white, neginf=black)
    # The halves keep the difference of two huge numbers finite, the least number that of two tiny ones above 0.
    span = max(white / 2 - black / 2, float(np.finfo(np.float64).tiny))
    share = (np.clip(wide, black, white) / 2 - black / 2) / span
    return np.rint(share * 255).astype(np.uint8)


def _range(pixels: NDArray[Any]) -> tuple[float, float]:
    """(black, white), black < white."""
    if pixels.dtype.kind == "f":
        pixels = pixels[np.isfinite(pixels)]
    if not pixels.size:
        return 0.0, 1.0
    low, high, least, most = _order(pixels)
    tops = [float(t) for t in TOPS]
    if pixels.dtype.kind in "ui":
        tops.append(float(np.iinfo(pixels.dtype).max))
    white = next((t for t in tops if most <= t), None)
    constant = least == most
    if least >= 0 and white is not None and (constant or high - low >= LEAST_CONTRAST * white):
        return 0.0, white
    if constant:  # mid grey
        return -float(np.finfo(np.float64).max), float(np.finfo(np.float64).max)
    return (low, high) if high > low else (least, most)


def _order(pixels: NDArray[Any]) -> tuple[float, float, float, float]:
    """0.1 percentile, 99.9 percentile, smallest, largest; the percentiles are values that occur."""
    flat = pixels.ravel()
    a, b = int(0.001 * (flat.size - 1)), -(-999 * (flat.size - 1) // 1000)
    if pixels.dtype.kind in "ui" and pixels.dtype.itemsize == 2:
        offset = int(np.iinfo(pixels.dtype).min)
        counts = np.zeros(1 << 16, np.int64)
        for start in range(0, flat.size, _ROWS):
            counts += np.bincount(flat[start : start + _ROWS].astype(np.int64) - offset, minlength=1 << 16)
        ends = np.cumsum(counts)
        low, high, least, most = (
            int(np.searchsorted(ends, k, side="right")) + offset for k in (a, b, 0, flat.size - 1)
        )
        return float(low), float(high), float(least), float(most)
    parted = np.partition(flat, (a, b))
    return float(parted[a]), float(parted[b]), float(flat.min()), float(flat.max())
