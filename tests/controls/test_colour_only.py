"""Colours without places carry a cue in the background."""

from __future__ import annotations

from fiftyone_hsd.controls.colour_only import colour_only


def test_finds_what_it_is_for(corpus, score) -> None:
    found = colour_only(corpus(cue=60, noise=2))
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = colour_only(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")
