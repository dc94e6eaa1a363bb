"""Predicted class shares that follow the session."""

from __future__ import annotations

import dataclasses

import numpy as np

from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls.session_prevalence import _shift, session_prevalence


def with_sessions(corpus, drift: float):
    session = np.random.default_rng(3).permutation(60).repeat(2) % 6
    study = corpus(cue=14, metadata={"day": session}, session_field="day", blind=False)
    shift = drift * (session - 2.5)
    made = study.gallery.each(
        lambda i, p: np.tile(np.clip(p[:8].astype(float) + shift[i], 0, 255).astype(np.uint8), (6, 1, 1)),
        range(120),
        "",
    )
    return dataclasses.replace(study, gallery=Gallery.holding(made))


def shift_of(outcome):
    return next(r for r in outcome.results if r.effect.what == "session_shift")


def test_a_session_that_looks_like_a_class_is_found(corpus) -> None:
    found = session_prevalence(with_sessions(corpus, 12))
    assert shift_of(found).effect.p < 0.01
    assert shift_of(found).effect.estimate > shift_of(found).chance
    assert "reads sessions as classes" in found.notes[-1].text


def test_sessions_that_are_alike_say_nothing(corpus) -> None:
    found = session_prevalence(with_sessions(corpus, 0))
    assert shift_of(found).effect.p > 0.02
    assert found.notes[-1].text.startswith("no sign")


def test_shares_of_each_session_are_reported(corpus) -> None:
    found = session_prevalence(with_sessions(corpus, 0))
    true = [r.effect for r in found.results if r.effect.what == "true_share" and r.effect.class_name == "square"]
    assert len(true) == 6
    assert abs(sum(e.estimate * e.n for e in true) - 60) < 1e-6
    assert session_prevalence(corpus()).notes[0].level == "not evaluated"


def test_the_shift_by_hand() -> None:
    """One class, two sessions of 10: 8 and 2 are called class 0. At 50 % each, half of |3| + |3| twice, over 20."""
    table = np.zeros((2, 2, 2))
    table[0] = [[8, 2], [2, 8]]
    assert _shift(table) == (3 + 3) / 20
