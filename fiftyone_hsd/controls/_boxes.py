"""Boxes in pictures: where a crop lies, and which boxes of objects an image has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..control_settings import CORNERS, ControlSettings
from ..errors import InputError

Pixels = NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""x, y, width, height in pixels."""


def at_corner(corner: str, size: tuple[int, int], shape: tuple[int, ...]) -> Box:
    """The box of that size (width, height) in a corner, or in the middle of a side or of the picture.

    A picture smaller than the box is taken whole in that direction.
    """
    if corner not in CORNERS:
        raise InputError(f"corner = {corner!r}", ", ".join(CORNERS))
    h, w = shape[:2]
    width, height = min(size[0], w), min(size[1], h)
    x = 0 if "left" in corner else w - width if "right" in corner else (w - width) // 2
    y = 0 if "upper" in corner or corner == "top" else (h - height) // 2
    if "lower" in corner or corner == "bottom":
        y = h - height
    return x, y, width, height


def parsed(text: str, shape: tuple[int, ...]) -> Box:
    """`x,y,width,height` in pixels, or as shares of the picture if all four are at most 1; cut to the picture.

    Raises:
        InputError: not of that form, or nothing of the box lies in the picture.
    """
    found = _inside(text, shape)
    if found is None:
        raise InputError(f"box {text!r}", f"a box with some part inside {shape[1]} x {shape[0]} pixels")
    return found


def several(text: str, shape: tuple[int, ...]) -> list[Box]:
    """The boxes of one cell, separated by `;`; an empty cell has none, and boxes outside the picture are left out.

    Raises:
        InputError: one of them is not of the form of `parsed`.
    """
    found = [_inside(part, shape) for part in text.split(";") if part.strip()]
    return [box for box in found if box is not None]


def _inside(text: str, shape: tuple[int, ...]) -> Box | None:
    h, w = shape[:2]
    try:
        x, y, width, height = (float(v) for v in text.replace(" ", "").split(","))
    except ValueError:
        raise InputError(f"box {text!r}", "x,y,width,height") from None
    if not all(np.isfinite([x, y, width, height])):
        raise InputError(f"box {text!r}", "finite numbers")
    if max(abs(x), abs(y), width, height) <= 1:
        x, y, width, height = x * w, y * h, width * w, height * h
    left, top = max(0, round(x)), max(0, round(y))
    right, bottom = min(w, round(x + width)), min(h, round(y + height))
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def place(settings: ControlSettings, cell: str | None, shape: tuple[int, ...]) -> Box:
    """Where the background crop of one image lies: its own box, the box of all, or the corner."""
    if cell is not None:
        return parsed(cell, shape)
    if settings.box is not None:
        return parsed(settings.box, shape)
    return at_corner(settings.corner, settings.width_height, shape)


def cut(picture: Pixels, box: Box) -> Pixels:
    """The part of a picture, (height, width, 3); a view."""
    x, y, w, h = box
    return picture[y : y + h, x : x + w]


def overlap(box: Box, others: Sequence[Box]) -> float:
    """Share of `box` that other boxes cover."""
    x, y, w, h = box
    covered = np.zeros((h, w), bool)
    for a, b, c, d in others:
        covered[max(0, b - y) : max(0, b + d - y), max(0, a - x) : max(0, a + c - x)] = True
    return float(covered.mean()) if covered.size else 0.0
