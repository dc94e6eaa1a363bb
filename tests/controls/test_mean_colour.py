"""The mean colour carries stain and exposure."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.mean_colour import _mean, mean_colour


def test_finds_what_it_is_for(corpus, score) -> None:
    found = mean_colour(corpus(cue=40))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = mean_colour(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_is_the_mean_of_each_channel() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    assert (_mean(0, picture) == np.rint(picture.mean(axis=(0, 1)))).all()
