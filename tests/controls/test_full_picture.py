"""The reference reads the object, and inflation where groups repeat."""

from __future__ import annotations

from fiftyone_hsd.controls.full_picture import full_picture


def test_the_object_is_read(corpus, score) -> None:
    found = full_picture(corpus())
    assert score(found, "intact").effect.estimate > 0.9
    assert score(found, "intact").effect.p < 0.01


def test_the_runs_are_kept_for_other_controls(corpus) -> None:
    study = corpus()
    first = full_picture(study)
    assert study.kept["full_picture|linear_probe"] == tuple(r for r in first.runs if r.config.model == "linear_probe")
    assert full_picture(study).runs == first.runs


def test_labels_that_have_nothing_to_do_with_pictures_are_not_read(corpus) -> None:
    assert full_picture(corpus(blind=True)).notes[0].text.startswith("no sign")
