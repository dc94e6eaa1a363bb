"""From a row of the corpus to the bytes of its file."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from .cells import Density, Slide, blood, develop, scene, slide
from .corpus import Recipe, Row
from .kinds import CELL_TYPES

VIEW_JITTER = 0.02
QUALITY = 92
WARM = np.array([1.02, 0.965, 0.87])

Key = tuple[int, ...]


class Studio:
    """Draws the images of one corpus; each part has the seed of what it belongs to, so the order of calls is free.

    Args:
        recipe: the dependences.
        looks: seed of the appearance.
    """

    def __init__(self, recipe: Recipe, looks: np.random.SeedSequence) -> None:
        self._recipe = recipe
        self._entropy = looks.generate_state(4).tolist()
        self._scene = lru_cache(maxsize=4)(self._draw_scene)
        self._exposure = lru_cache(maxsize=4)(self._draw_exposure)

    def jpeg(self, row: Row) -> bytes:
        """The file of one row."""
        image = self._exposure(row.patient, row.slide, row.label, row.field, row.view)
        if row.copy:
            image = augmented(image, row.copy, self._chance(5, row.patient, row.field, row.view))
        ok, data = cv2.imencode(".jpg", np.ascontiguousarray(image[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        if not ok:
            raise RuntimeError("OpenCV did not encode a JPEG")
        return bytes(data)

    def _chance(self, *key: int) -> np.random.Generator:
        return np.random.default_rng([*self._entropy, *key])

    def _draw_scene(self, patient: int, label: int, field: int) -> Density:
        red = blood(self._chance(1, patient), self._recipe.patient_look)
        return scene(CELL_TYPES[label], red, self._recipe.side, self._chance(2, patient, field))

    def _draw_exposure(self, patient: int, number: int, label: int, field: int, view: int) -> NDArray[np.uint8]:
        recipe = self._recipe
        on = slide(self._chance(3, patient, number), recipe.slide_stain)
        own = slide(self._chance(4, patient, field), recipe.image_stain)
        standard = slide(self._chance(0), 0.0)
        both = Slide(
            on.dyes * own.dyes / standard.dyes,
            np.minimum(on.light * own.light / standard.light, 1.0),
            on.centre + own.centre,
            float(np.clip(on.vignette + own.vignette - 0.14, 0.02, 0.45)),
        )
        tint = WARM**recipe.cue if label == 0 and recipe.cue else None
        jitter = VIEW_JITTER if view else 0.0
        chance = self._chance(6, patient, field, view)
        return develop(self._scene(patient, label, field), both, recipe.side, chance, jitter=jitter, tint=tint)


def augmented(image: NDArray[np.uint8], kind: str, rng: np.random.Generator) -> NDArray[np.uint8]:
    """One augmented copy: hflip, vflip, rot90, rot180, crop (70 to 90 % of the side, resized), bright, dark."""
    if kind == "hflip":
        return image[:, ::-1]
    if kind == "vflip":
        return image[::-1]
    if kind in ("rot90", "rot180"):
        return np.rot90(image, 1 if kind == "rot90" else 2)
    if kind == "crop":
        side = len(image)
        size = round(side * float(rng.uniform(0.7, 0.9)))
        y, x = rng.integers(0, side - size + 1, 2)
        part = np.ascontiguousarray(image[y : y + size, x : x + size])
        return np.asarray(cv2.resize(part, (side, side), interpolation=cv2.INTER_LINEAR), np.uint8)
    factor = float(rng.uniform(1.06, 1.14)) if kind == "bright" else float(rng.uniform(0.8, 0.92))
    return np.asarray(np.clip(np.rint(image * factor), 0, 255), np.uint8)
