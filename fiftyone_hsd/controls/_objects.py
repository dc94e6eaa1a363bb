"""Objects in a picture by Otsu's threshold, and crops around them and away from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._boxes import Box, cut

Pixels = NDArray[np.uint8]
MOST = 4
"""Crops of objects an image, and of background as many."""


def found_by_otsu(picture: Pixels, smallest: int) -> tuple[NDArray[np.bool_], list[Box]]:
    """(bool (h, w) pixels of objects, boxes of the objects, largest first).

    Objects are connected pixels (8 neighbours) on the side of Otsu's threshold that has fewer pixels, more than
    `smallest` of them. A picture of one grey has none.
    """
    import cv2

    grey = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY)
    if grey.min() == grey.max():
        return np.zeros(grey.shape, bool), []
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    above = grey > level
    return parts_of(above if above.mean() <= 0.5 else ~above, smallest)


def parts_of(mask: NDArray[np.bool_], smallest: int) -> tuple[NDArray[np.bool_], list[Box]]:
    """(bool (h, w) pixels of objects, their boxes, largest first) of connected pixels, more than `smallest` each."""
    import cv2

    _, parts, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    area = stats[:, cv2.CC_STAT_AREA]
    large = [k for k in np.argsort(-area, kind="stable").tolist() if k and area[k] > smallest]
    boxes = [(int(x), int(y), int(w), int(h)) for x, y, w, h in stats[large, :4].tolist()]
    return np.isin(parts, large), boxes


def fitting(mask: NDArray[np.bool_] | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """bool (h, w), a mask at the size of its picture; without a mask no pixel is an object."""
    import cv2

    h, w = shape[:2]
    if mask is None or not mask.size:
        return np.zeros((h, w), bool)
    if mask.shape == (h, w):
        return mask
    return np.asarray(cv2.resize(mask.astype(np.uint8), (w, h), interpolation=cv2.INTER_NEAREST) > 0, bool)


def inside_boxes(shape: tuple[int, ...], boxes: list[Box]) -> NDArray[np.bool_]:
    """bool (h, w), the pixels that boxes cover."""
    mask = np.zeros(shape[:2], bool)
    for x, y, w, h in boxes:
        mask[y : y + h, x : x + w] = True
    return mask


def crops_of(
    picture: Pixels, mask: NDArray[np.bool_], boxes: list[Box], side: int, rng: np.random.Generator
) -> list[tuple[Pixels, Pixels]]:
    """(crop around an object, crop that touches none), both (s, s, 3); as many as find a place, at most 4.

    s is `side`, or half of the shorter side of a small picture. A crop around an object is moved into the picture.
    """
    h, w = mask.shape
    s = min(side, min(h, w) // 2)
    if s < 1:
        return []
    taken = np.pad(mask.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    pairs = []
    for x, y, width, height in boxes[:MOST]:
        left = min(max(0, x + width // 2 - s // 2), w - s)
        top = min(max(0, y + height // 2 - s // 2), h - s)
        place = _free(taken, s, rng)
        if place is not None:
            pairs.append((cut(picture, (left, top, s, s)).copy(), cut(picture, (*place, s, s)).copy()))
    return pairs


def _free(taken: NDArray[np.int64], s: int, rng: np.random.Generator) -> tuple[int, int] | None:
    """x, y of a square without a pixel of an object, drawn evenly from all there are; None = there is none."""
    count = taken[s:, s:] - taken[:-s, s:] - taken[s:, :-s] + taken[:-s, :-s]
    y, x = np.nonzero(count == 0)
    if not len(y):
        return None
    k = int(rng.integers(len(y)))
    return int(x[k]), int(y[k])
