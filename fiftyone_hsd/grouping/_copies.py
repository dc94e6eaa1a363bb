"""Copies made on purpose from images of the corpus: what is found of them says what would be found of real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..local_features import LocalFeatures, keypoints, reduced, unit
from ..model import Floats
from ._geometry import Features, Picture, align, picture

IMAGES = 20
"""Images that copies are made of (our choice)."""
Image = NDArray[np.uint8]


class Source(Protocol):
    """Images of the corpus by row."""

    def colour(self, row: int) -> Any:
        """uint8 (h, w, 3)."""


def _smaller(image: Image) -> Image:
    import cv2

    return np.asarray(cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)


def _recompressed(image: Image) -> Image:
    import cv2

    coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 50])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)


def _grey(image: Image) -> Image:
    return np.asarray(np.repeat(image.mean(2, keepdims=True).astype(np.uint8), 3, axis=2), np.uint8)


def _mirrored(image: Image) -> Image:
    return np.ascontiguousarray(image[:, ::-1])


def _quarter_turn(image: Image) -> Image:
    return np.ascontiguousarray(np.rot90(image))


def _turned(image: Image) -> Image:
    import cv2

    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 20, 1.0)
    return np.asarray(cv2.warpAffine(image, matrix, (width, height)), np.uint8)


def _cropped(image: Image) -> Image:
    height, width = image.shape[:2]
    return np.ascontiguousarray(image[height // 10 : height - height // 5, width // 5 : width - width // 20])


def _shifted(image: Image) -> Image:
    import cv2

    height, width = image.shape[:2]
    matrix = np.array([[1, 0, 0.15 * width], [0, 1, -0.1 * height]])
    return np.asarray(cv2.warpAffine(image, matrix, (width, height)), np.uint8)


def _brighter(image: Image) -> Image:
    return np.asarray(np.clip(image.astype(np.float32) * 1.15 + 12, 0, 255), np.uint8)


def _moved(image: Image, rng: np.random.Generator) -> Image:
    """Turned by any angle, scaled by 0.8 to 1.25, sheared by up to 0.15, mirrored every other time; JPEG quality 75."""
    import cv2

    height, width = image.shape[:2]
    angle, scale = rng.uniform(-np.pi, np.pi), np.exp(rng.uniform(np.log(0.8), np.log(1.25)))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shear = np.array([[rng.choice([-1.0, 1.0]), rng.uniform(-0.15, 0.15)], [0, 1]])
    matrix = scale * turn @ shear
    centre = np.array([width / 2, height / 2])
    moved = cv2.warpAffine(image, np.c_[matrix, centre - matrix @ centre], (width, height))
    coded = cv2.imencode(".jpg", moved, [cv2.IMWRITE_JPEG_QUALITY, 75])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)


CHANGES: Mapping[str, Callable[[Image], Image]] = {
    "half size": _smaller,
    "JPEG quality 50": _recompressed,
    "grey": _grey,
    "mirrored": _mirrored,
    "quarter turn": _quarter_turn,
    "turned by 20 degrees": _turned,
    "cropped": _cropped,
    "shifted": _shifted,
    "brighter": _brighter,
}


def made_copies(features: LocalFeatures, images: Source, *, seed: int = 0) -> Floats:
    """Agreement between two copies made of one image, each changed in its own way, as augmented copies are.

    Returns:
        float64 (k,), for each image drawn every change of it against the image turned, scaled, sheared and perhaps
        mirrored at random; -1 where the alignment fails.
    """
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(features.count)
    rows = np.sort(rng.choice(there, min(IMAGES, len(there)), replace=False))
    scores = []
    for row in rows.tolist():
        image = images.colour(row)
        whole = _described(_moved(image, rng))
        for change in CHANGES.values():
            one, first = _described(change(image))
            two, second = whole
            found = align(first, second, partial(_both, one, two))
            scores.append(found.agreement if found.matches else -1.0)
    return np.array(scores, float)


def _described(image: Image) -> tuple[Picture, Features]:
    gray = reduced(image)
    xy, raw = keypoints(gray)
    return picture(gray), (xy, unit(raw))


def _both(one: Picture, two: Picture) -> tuple[Picture, Picture]:
    return one, two
