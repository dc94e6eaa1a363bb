"""The coarse picture still holds the object."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.haar import _coarse, haar


def test_finds_what_it_is_for(corpus, score) -> None:
    found = haar(corpus())
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = haar(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_is_the_mean_of_blocks() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (10, 13, 3), dtype=np.uint8)
    expected = picture[:8, :12].reshape(2, 4, 3, 4, 3).mean(axis=(1, 3))
    found = _coarse(0, picture)
    assert found.shape == (2, 3, 3)
    assert np.abs(found - expected).max() <= 0.51
    assert np.array_equal(_coarse(0, picture[:3]), picture[:3])
