"""Pictures survive the way through unit rows, and cosines fall with distance."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Descriptors
from fiftyone_hsd.pixel_rows import holds_pixels, long_rows, pixel_rows, pixels_of


@pytest.mark.parametrize("shape", [(5, 21, 21, 1), (3, 29, 22, 3), (1, 1, 1, 3)])
def test_pixels_come_back(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    rows = pixel_rows(images)
    assert holds_pixels(rows)
    assert np.array_equal(np.rint(pixels_of(rows) * 255).astype(np.uint8), images)


def test_brightness_is_not_lost() -> None:
    dark, bright = (pixel_rows(np.full((1, 8, 8, 3), v, np.uint8)).values[0] for v in (40, 60))
    assert float(dark @ bright) < 0.9999


def test_the_nearest_in_distance_is_the_nearest_in_cosine() -> None:
    x = np.random.default_rng(1).normal(0, 0.1, (40, 30))
    rows = long_rows(x)
    distance = np.linalg.norm(x[:, None] - x[None], axis=2) + np.eye(40) * 9
    cosine = rows @ rows.T - 2 * np.eye(40)
    assert (distance.argmin(1) == cosine.argmax(1)).mean() > 0.85


def test_rows_without_a_vector_and_strangers() -> None:
    assert (pixels_of(Descriptors("pixels:2x2x1", np.zeros((1, 5), np.float32))) == 0.5).all()
    with pytest.raises(InputError, match="pixels"):
        pixels_of(Descriptors("colour", np.zeros((1, 5), np.float32)))
