"""Without fine texture the object still shows."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter as scipy_median

from fiftyone_hsd.controls.median_filter import _median, median_filter


def test_finds_what_it_is_for(corpus, score) -> None:
    found = median_filter(corpus())
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = median_filter(corpus(blind=True))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_is_the_median_of_five_by_five() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    expected = scipy_median(picture, size=(5, 5, 1), mode="nearest")
    assert np.array_equal(_median(0, picture), expected)
