"""Can the group, or the source, be read from an image?"""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.controls.source_identification import _within, source_identification


def identified(outcome, origin: str = "background_crop"):
    return next(
        r for r in outcome.results if r.effect.what == "group_identified" and r.variant == f"group from {origin}"
    )


def test_a_fingerprint_of_groups_is_recognised(corpus) -> None:
    found = identified(source_identification(corpus(images=4, groups=30, fingerprint=30, noise=0.5)))
    assert found.effect.estimate > 0.8
    assert found.effect.p < 0.01
    assert found.chance < 0.1


def test_knowing_the_class_is_not_knowing_the_group(corpus) -> None:
    """The class is plain to see, and narrows 30 groups down to 15; that must count as chance."""
    outcome = source_identification(corpus(images=4, groups=30, cue=60))
    for origin in ("background_crop", "full_picture"):
        found = identified(outcome, origin)
        assert found.effect.p > 0.02
        assert 0.03 < found.chance < 0.12
    assert all("no sign" in n.text for n in outcome.notes)


def test_sources_of_new_groups(corpus) -> None:
    labels = corpus(cue=60).samples.labels
    seen = source_identification(corpus(cue=60, metadata={"site": labels.astype(str)}, source_field="site"))
    assert any("the source of new groups can be recognised" in n.text for n in seen.notes)
    mixed = np.random.default_rng(101).integers(0, 2, 60).repeat(2).astype(str)
    blind = source_identification(corpus(cue=60, metadata={"site": mixed}, source_field="site"))
    assert sum("no sign that the source of new groups" in n.text for n in blind.notes) == 2


def test_not_asked_where_classes_are_groups(corpus) -> None:
    for study in (corpus(aliased=True), corpus(images=1)):
        assert source_identification(study).notes[0].level == "not evaluated"


def test_every_group_is_on_both_sides() -> None:
    codes = np.repeat(np.arange(9), [2, 2, 3, 4, 5, 6, 7, 8, 1])
    plan = _within(codes, codes < 8, 0, tuple(f"{i:02d}" for i in range(len(codes))))
    for c in range(8):
        assert {"train", "test"} == set(plan.partition[codes == c])
    assert plan.partition[-1] == "unused"
