"""Colours without places carry a cue in the background."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.colour_only import _sorted, colour_only


def test_finds_what_it_is_for(corpus, score) -> None:
    found = colour_only(corpus(cue=60, noise=2))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = colour_only(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_only_which_colours_occur_counts() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    mixed = np.random.default_rng(1).permutation(picture.reshape(-1, 3)).reshape(picture.shape)
    first, second = (_sorted(0, p).reshape(-1, 3).sum(axis=1, dtype=int) for p in (picture, mixed))
    assert (np.diff(first) >= 0).all()
    assert np.array_equal(first, second)
    large = np.tile(picture, (6, 6, 1))
    assert np.abs(np.median(_sorted(0, large)) - np.median(large)) < 6
