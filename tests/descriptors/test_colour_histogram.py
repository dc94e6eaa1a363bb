"""Shares of 512 colours."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.descriptors.colour_histogram import colour_histogram


def test_shares_are_counted_by_hand():
    image = np.zeros((2, 2, 3), np.uint8)
    image[0, 0] = (255, 31, 32)
    image[0, 1] = (255, 0, 63)
    vector = colour_histogram().encode([colour_histogram().prepare(image)])[0]
    assert vector[7 * 64 + 1] == 0.5
    assert vector[0] == 0.5
    assert vector.sum() == 1


def test_flips_and_rotations_change_nothing_and_colour_does():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    describe = colour_histogram()
    base, flipped, turned, other = (describe.prepare(i) for i in (image, image[:, ::-1], np.rot90(image), image // 2))
    assert np.array_equal(base, flipped)
    assert np.array_equal(base, turned)
    assert not np.allclose(base, other)


def test_large_images_and_empty_batch():
    describe = colour_histogram()
    assert describe.prepare(np.zeros((1000, 700, 3), np.uint8)).sum() == 1
    assert describe.encode([]).shape == (0, describe.dim)
