"""Eight pixels and a forest find a cue in the background."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.eight_pixels import _eight, eight_pixels


def test_finds_what_it_is_for(corpus, score) -> None:
    found = eight_pixels(corpus(cue=60))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = eight_pixels(corpus())
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_which_pixels() -> None:
    y, x = np.mgrid[:50, :80]
    places = _eight(0, np.stack([y, x, y * 0], axis=2).astype(np.uint8))[:, :2].tolist()
    assert places == [[2, 2], [2, 40], [2, 77], [25, 2], [25, 77], [47, 2], [47, 40], [47, 77]]
    assert _eight(0, np.zeros((1, 1, 3), np.uint8)).shape == (8, 3)
