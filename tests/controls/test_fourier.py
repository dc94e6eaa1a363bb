"""Frequencies tell a square from a disc."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.fourier import _spectrum, fourier


def test_finds_what_it_is_for(corpus, score) -> None:
    found = fourier(corpus())
    assert score(found, "intact").effect.estimate > 0.85
    assert score(found, "intact").effect.p < 0.01
    assert len(found.sheets[0].pictures) == 12


def test_claims_nothing_without(corpus, score) -> None:
    found = fourier(corpus(blind=True, cue=60))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_places_do_not_matter_and_frequencies_do() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (128, 128, 3), dtype=np.uint8)
    assert np.abs(_spectrum(0, picture).astype(int) - _spectrum(0, np.roll(picture, (9, 31), (0, 1)))).max() <= 1
    wave = np.repeat((128 + 100 * np.cos(2 * np.pi * 16 * np.arange(128) / 128)).astype(np.uint8)[None], 128, 0)
    found = _spectrum(0, np.repeat(wave[..., None], 3, 2))[64, :, 0].astype(int)
    assert set(np.argsort(-found)[:3]) == {64 - 16, 64, 64 + 16}
