"""A constant picture reads as chance whatever the corpus, also where classes are 90:10."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd.controls._readers import described, prepared
from fiftyone_hsd.controls._study import study as study_of
from fiftyone_hsd.controls.constant import constant


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("aliased", [False, True])
def test_is_chance(corpus, share: float, aliased: bool) -> None:
    found = constant(corpus(share=share, cue=60, fingerprint=30, aliased=aliased))
    scores = [r for r in found.results if r.effect.what == "score" and r.effect.seed is None]
    assert {r.effect.metric for r in scores} == {"balanced_accuracy", "macro_f1", "accuracy"}
    for r in scores:
        if r.effect.condition == ("random" if aliased else "intact"):
            assert r.effect.p == 1
        if r.effect.metric != "macro_f1":
            assert r.effect.estimate <= r.chance + 1e-9
    assert found.notes[0].text.startswith("no sign")


@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_equal_pictures_are_no_vectors(corpus, preset: str) -> None:
    """Else the reader would name the class of the smallest id, which may be above chance by luck."""
    study = corpus(preset=preset)
    grey = np.full((20, 20, 3), 90, np.uint8)
    same = described(study, [prepared(study, grey)] * 5, "x")
    assert not same.values.any()
    other = described(study, [prepared(study, grey)] * 4 + [prepared(study, grey + np.uint8(80))], "x")
    assert other.values.any(axis=1).all()


def test_a_class_that_is_never_tested_moves_chance_in_words_and_numbers_alike(corpus) -> None:
    base = corpus()
    labels = base.samples.labels.copy()
    labels[0] = 2
    samples = dataclasses.replace(base.samples, labels=labels, classes=(*base.samples.classes, "rare"))
    found = constant(study_of(samples, base.scan, base.grouping, base.settings, base.gallery))
    told = {r.chance for r in found.results if r.effect.metric == "balanced_accuracy" and r.effect.what == "score"}
    (chance,) = told
    (said,) = [n.text for n in found.notes if "chance" in n.text]
    assert f"chance {chance:.3f}" in said
