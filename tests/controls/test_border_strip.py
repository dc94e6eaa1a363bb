"""The frame of a picture shows a cue in the background, and no object."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.border_strip import _frame, border_strip


def test_finds_what_it_is_for(corpus, score) -> None:
    found = border_strip(corpus(cue=40))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = border_strip(corpus())
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_the_middle_is_painted_over() -> None:
    picture = np.random.default_rng(0).integers(0, 100, (50, 80, 3), dtype=np.uint8)
    frame = _frame(0, picture)
    assert (frame[3:-3, 3:-3] == 128).all()
    for side in (np.s_[:3], np.s_[-3:], np.s_[:, :3], np.s_[:, -3:]):
        assert np.array_equal(frame[side], picture[side])
    assert picture.max() < 100
