"""Eight pixels and a forest find a cue in the background."""

from __future__ import annotations

from fiftyone_hsd.controls.eight_pixels import eight_pixels


def test_finds_what_it_is_for(corpus, score) -> None:
    found = eight_pixels(corpus(cue=60))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = eight_pixels(corpus())
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")
