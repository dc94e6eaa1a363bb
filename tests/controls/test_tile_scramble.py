"""Tiles in a new order keep what a tile shows."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.tile_scramble import _scrambled, tile_scramble


def test_finds_what_it_is_for(corpus, score) -> None:
    found = tile_scramble(corpus(cue=60))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = tile_scramble(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_tiles_move_and_nothing_else() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (64, 128, 3), dtype=np.uint8)
    mixed = _scrambled(3, picture)

    def tiles(image):
        return {image[y : y + 16, x : x + 16].tobytes() for y in range(0, 64, 16) for x in range(0, 128, 16)}

    assert tiles(mixed) == tiles(picture)
    assert not np.array_equal(mixed, picture)
    assert np.array_equal(mixed, _scrambled(3, picture))
    assert not np.array_equal(mixed, _scrambled(4, picture))
