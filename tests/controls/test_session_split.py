"""Sessions that were never seen, against the same sizes within sessions."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.controls._sessions import ACROSS, WITHIN, session_plans
from fiftyone_hsd.controls.session_split import session_split

GROUPS = 96


def study_of(corpus, drift: float):
    """Eight sessions of twelve patients. In each the ground tells the classes apart, in every session the other way."""
    import dataclasses

    from fiftyone_hsd.controls._gallery import Gallery

    session = np.repeat(np.arange(8), GROUPS // 8).repeat(2)
    base = corpus(groups=GROUPS, noise=1.0, seeds=3, metadata={"day": session}, session_field="day", corner="top")
    labels = base.samples.labels
    rng = np.random.default_rng(4)
    shift = rng.choice([-1, 1], 8)[session] * np.where(labels == 1, 1, -1) * drift + 9.0 * session
    rows = range(len(labels))
    made = base.gallery.each(lambda i, p: np.clip(p.astype(float) + shift[i] - 60, 0, 255).astype(np.uint8), rows, "")
    blind = [np.concatenate([p[:12], p[:12][::-1]] * 2) for p in made]
    return dataclasses.replace(base, gallery=Gallery.holding(blind))


@pytest.mark.parametrize(
    ("session", "words"),
    [
        (np.zeros(120, int), "there is one session"),
        (np.tile([0, 1], 60), "lie in several of the 2 sessions"),
    ],
)
def test_what_joins_all_sessions_is_said(corpus, session, words: str) -> None:
    found = session_split(corpus(metadata={"day": session}, session_field="day", seeds=1))
    assert words in found.notes[0].text
    assert found.results == ()


def gaps(outcome) -> dict[str, float]:
    return {
        r.variant.split()[0]: r.effect.low
        for r in outcome.results
        if r.effect.what == "session_gap"
        if r.effect.model == "nearest_neighbour"
    }


def test_what_holds_within_a_session_only_is_found(corpus) -> None:
    found = session_split(study_of(corpus, 12))
    assert min(gaps(found).values()) > 0.1
    assert any("knowledge of the session" in n.text for n in found.notes)


def test_no_gap_where_sessions_are_alike(corpus) -> None:
    rng = np.random.default_rng(0)
    session = rng.integers(0, 8, 60).repeat(2)
    found = session_split(corpus(cue=40, metadata={"day": session}, session_field="day", seeds=3))
    assert max(gaps(found).values()) <= 0
    assert all("no loss on sessions never seen" in n.text for n in found.notes[1:])


def test_sessions_stay_whole_and_sizes_are_alike(corpus) -> None:
    rng = np.random.default_rng(0)
    session = rng.integers(0, 8, 60).repeat(2)
    study = corpus(metadata={"day": session}, session_field="day")
    plans, _ = session_plans(study, "session_split")
    for plan in plans:
        codes = session if plan.condition == ACROSS else study.grouping.codes
        assert not set(codes[plan.partition == "train"]) & set(codes[plan.partition == "test"])
        assert abs(int((plan.partition == "train").sum()) - 60) <= 12
    assert {p.condition for p in plans} == {ACROSS, WITHIN}


def test_a_class_a_session_cannot_be_split(corpus) -> None:
    labels = corpus().samples.labels
    found = session_split(corpus(metadata={"day": labels.astype(str)}, session_field="day"))
    assert found.notes[0].level == "not evaluated"
    assert session_split(corpus()).notes[0].level == "not evaluated"
