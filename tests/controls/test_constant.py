"""A constant picture reads as chance whatever the corpus, also where classes are 90:10."""

from __future__ import annotations

import pytest

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


def test_never_above_chance_whatever_the_draw(corpus) -> None:
    for seed in range(12):
        for r in constant(corpus(groups=21, images=1, share=0.5, seed=seed, seeds=1)).results:
            if r.effect.what == "score" and r.effect.metric in ("accuracy", "balanced_accuracy"):
                assert r.effect.estimate == r.chance
