"""Whether two images show the same pixels: matched local features, one affine map, and the pixels under it.

Chance matches are told from real ones a contrario (Moisan & Stival 2004): a pair is accepted by geometry when so many
matches agree on one map that less than a stated number of such agreements is expected in the whole search by chance.
Where repetitive texture (cells, tiles, ribs) makes features match that are not the same, the pixels decide: under the
map the structure of both images must agree wherever there is any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local_features import MIRROR, Gray

RATIO = 0.8
"""Lowe's ratio between the nearest and the second nearest descriptor."""
REACH = 4.0
"""Pixels between a mapped keypoint and its match that still count as agreement (our choice)."""
FEWEST = 8
"""Fewest agreeing matches that are looked at further (our choice)."""
MOST_STRETCH = 2.5
"""Largest ratio between the two scales of the map; scales themselves lie within 1/5 to 5 (our choice)."""
SMALLEST_OVERLAP = 0.05
"""Smallest share of an image that both must show, with structure in it (our choice)."""

SHADING = 49
"""Width in pixels of the window whose mean is slow shading (our choice)."""

Features = tuple[NDArray[np.float32], NDArray[np.float32]]
"""((k, 2) pixels, (k, 128) unit descriptors) of one image."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A reduced grey image, and where it shows anything: uint8 (h, w), bool (h, w)."""

    gray: Gray
    shown: NDArray[np.bool_]


@dataclass(frozen=True)
class Alignment:
    """How two images fit on each other.

    Attributes:
        matches: features that agree on one map; 0 = no map.
        chance: log10 of the expected number of such agreements by chance in one pair.
        overlap: share of the first image's pixels that the second shows too.
        agreement: correlation of structure (grey, without shading) over the textured part of the overlap.
        mirrored: the second image had to be mirrored.
    """

    matches: int = 0
    chance: float = 0.0
    overlap: float = 0.0
    agreement: float = 0.0
    mirrored: bool = False


NOTHING = Alignment()


def align(first: Features, second: Features, images: Callable[[], tuple[Picture, Picture]]) -> Alignment:
    """The best alignment of the second image with the first, mirrored or not.

    Args:
        first, second: local features.
        images: gives both pictures; called only where geometry speaks for the pair.
    """
    best = NOTHING
    if min(len(first[0]), len(second[0])) < FEWEST:
        return best
    loaded: tuple[Picture, Picture] | None = None
    for mirrored in (False, True):
        found = _map(first, second, mirrored)
        if found is None or found[1] <= best.matches:
            continue
        loaded = loaded or images()
        matrix, matches, tried = found
        overlap, agreement = _agreement(*loaded, matrix)
        best = Alignment(matches, _chance(matches, tried, loaded[1].gray.size), overlap, agreement, mirrored)
    return best


def _map(first: Features, second: Features, mirrored: bool) -> tuple[NDArray[np.float64], int, int] | None:
    """(2 x 3 map from the first to the second image, agreeing matches, matches tried), None without one."""
    import cv2

    (xy_a, a), (xy_b, b) = first, second
    product = a @ (b[:, MIRROR] if mirrored else b).T
    every = np.arange(len(product))
    nearest = product.argmax(1)
    best = product[every, nearest]
    product[every, nearest] = -1
    distance, second_distance = (np.sqrt(np.maximum(0, 2 - 2 * v)) for v in (best, product.max(1)))
    rows = np.flatnonzero(distance < RATIO * second_distance)
    # one match a keypoint of the second image: many-to-one matches agree on a degenerate map
    rows = rows[np.argsort(distance[rows], kind="stable")]
    rows = rows[np.unique(nearest[rows], return_index=True)[1]]
    if len(rows) < FEWEST:
        return None
    matrix, inside = cv2.estimateAffine2D(
        xy_a[rows], xy_b[nearest[rows]], method=cv2.RANSAC, ransacReprojThreshold=REACH, maxIters=1000
    )
    if matrix is None or int(inside.sum()) < FEWEST:
        return None
    large, small = np.linalg.svd(matrix[:, :2], compute_uv=False)
    if small < 0.2 or large > 5 or large > MOST_STRETCH * small or (np.linalg.det(matrix[:, :2]) < 0) != mirrored:
        return None
    return matrix, int(inside.sum()), len(rows)


def _chance(matches: int, tried: int, area: int) -> float:
    """log10 of the expected number of subsets of `matches` among `tried` that agree on an affine map by chance."""
    from scipy.special import gammaln

    def choose(n: int, k: int) -> float:
        return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    inside = np.log(np.pi * REACH**2 / area)
    log = np.log(max(1, tried - 3)) + choose(tried, matches) + choose(matches, 3) + (matches - 3) * inside
    return float(log / np.log(10))


def _agreement(one: Picture, two: Picture, matrix: NDArray[np.float64]) -> tuple[float, float]:
    """(overlap, correlation of structure) of `two` under the map from `one` to `two`."""
    import cv2

    height, width = one.gray.shape
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen = cv2.warpAffine(np.ones_like(two.gray), matrix, (width, height), flags=how, borderValue=0) > 0
    warped = cv2.warpAffine(two.gray, matrix, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE)
    shown = cv2.warpAffine(two.shown.astype(np.float32), matrix, (width, height), flags=how, borderValue=0) > 0.99
    both = one.shown & shown
    textured = both & _textured(one.gray) & _textured(warped)
    if textured.sum() < SMALLEST_OVERLAP * one.gray.size:
        return float(seen.mean()), 0.0
    a, b = _structure(one.gray, both)[textured], _structure(warped, both)[textured]
    a, b = a - a.mean(), b - b.mean()
    return float(seen.mean()), float((a * b).sum() / max(1e-6, np.sqrt((a * a).sum() * (b * b).sum())))


def picture(gray: Gray) -> Picture:
    """A reduced grey image with what it shows: all but the flat areas that touch its border."""
    import cv2

    flat = (~_textured(gray)).astype(np.uint8)
    _, area = cv2.connectedComponents(flat, connectivity=4)
    rim = np.unique(np.concatenate([area[0], area[-1], area[:, 0], area[:, -1]]))
    fill = np.isin(area, rim[rim > 0]).astype(np.uint8)
    # what is flat was eroded by half a window; two pixels more for the ringing of compression
    return Picture(gray, cv2.dilate(fill, np.ones((13, 13), np.uint8)) == 0)


def _textured(gray: Gray) -> NDArray[np.bool_]:
    """Where there is any structure: flat fill and plain background say nothing."""
    import cv2

    kernel = np.ones((9, 9), np.uint8)
    return np.asarray(cv2.dilate(gray, kernel).astype(np.int16) - cv2.erode(gray, kernel) > 8)


def _structure(gray: Gray, shown: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Grey values without noise and without slow shading, from what is shown alone."""
    import cv2

    weight = shown.astype(np.float32)
    value = gray.astype(np.float32) * weight

    def of_shown(smooth: Callable[[NDArray[np.float32]], Any]) -> NDArray[np.float32]:
        return np.asarray(smooth(value) / np.maximum(smooth(weight), 1e-3), np.float32)

    fine = of_shown(lambda v: cv2.GaussianBlur(v, (9, 9), 1.5))
    return fine - of_shown(lambda v: cv2.blur(v, (SHADING, SHADING)))
