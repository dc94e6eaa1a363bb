"""A cue in the background is found and told from a fingerprint of groups; without either nothing is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.controls._boxes import at_corner, overlap, parsed, several
from fiftyone_hsd.controls.background_crop import background_crop
from fiftyone_hsd.errors import FieldError, InputError


def test_a_class_cue_in_the_background_is_found(corpus, score) -> None:
    found = background_crop(corpus(cue=40))
    assert score(found, "intact").effect.estimate > 0.9
    assert score(found, "intact").chance == 0.5
    assert score(found, "intact").effect.p < 0.01
    assert found.notes[0].level == "warning"
    assert "classes differ in acquisition" in found.notes[0].text
    assert "12x12 pixels at the upper-left" in found.notes[0].text


def test_without_a_cue_nothing_is_claimed(corpus, score) -> None:
    found = background_crop(corpus())
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign that classes can be told apart, on groups never seen")
    assert "neither a fingerprint" in found.notes[1].text


def test_a_fingerprint_of_groups_is_told_from_classes_that_differ(corpus, score) -> None:
    found = background_crop(corpus(images=6, groups=40, fingerprint=30, noise=0.5, seeds=3))
    assert score(found, "random").effect.estimate > 0.9
    assert score(found, "intact").effect.p > 0.02
    assert score(found, "random", what="fingerprint").effect.low > 0.1
    assert found.notes[0].text.startswith("no sign")
    assert "groups have a fingerprint" in found.notes[1].text


def test_one_group_a_class_is_only_a_question_about_images(corpus, score) -> None:
    study = corpus(cue=40, aliased=True)
    assert study.conditions == ["random"]
    assert "indistinguishable by design" in study.notes[0].text
    found = background_crop(study)
    assert "acquisitions can be told apart, image by image" in found.notes[0].text
    assert "permuted" in score(found, "random").effect.method
    assert "single images" in score(found, "random").effect.method
    blank = background_crop(corpus(aliased=True))
    assert blank.notes[0].text.startswith("no sign that classes can be told apart, image by image")


def test_too_few_test_groups_are_not_testable(corpus) -> None:
    found = background_crop(corpus(groups=8, cue=60, seeds=3))
    assert found.notes[0].level == "not evaluated"
    assert "not testable" in found.notes[0].text


def test_a_crop_that_holds_the_object_is_named(corpus) -> None:
    corner, middle = background_crop(corpus()), background_crop(corpus(corner="middle", size="24x24"))
    assert any("blank in all 120 images" in n.text for n in corner.notes)
    (note,) = [n for n in middle.notes if n.count]
    assert note.count == 120
    assert "square 60 of 60" in note.text
    assert note.examples[0].startswith("p000_0000.png: not blank")
    share = next(r.effect for r in middle.results if r.effect.what == "not_blank")
    assert (share.estimate, share.n) == (1.0, 120)
    assert any(line.startswith("not blank") for line in middle.sheets[0].lines)


def test_given_boxes_of_objects_decide_too(corpus) -> None:
    boxes = ["0,0,6,6" if i % 3 == 0 else "" for i in range(120)]
    found = background_crop(corpus(metadata={"cells": boxes}, objects_field="cells"))
    (note,) = [n for n in found.notes if n.count]
    assert note.count == 40
    assert "25% lies in boxes of objects" in note.examples[0]
    with pytest.raises(FieldError, match="cells"):
        background_crop(corpus(objects_field="cells"))


def test_a_box_of_each_image(corpus, score) -> None:
    places = [f"{i % 7},{i % 5},10,10" for i in range(120)]
    found = background_crop(corpus(cue=40, metadata={"box": places}, box_field="box"))
    assert score(found, "intact").effect.estimate > 0.9
    assert found.sheets[0].caption == "What is left: the pixels in the box of column box."


@pytest.mark.parametrize(
    ("corner", "box"),
    [
        ("upper-left", (0, 0, 21, 10)),
        ("upper-right", (79, 0, 21, 10)),
        ("lower-left", (0, 40, 21, 10)),
        ("lower-right", (79, 40, 21, 10)),
        ("top", (39, 0, 21, 10)),
        ("right", (79, 20, 21, 10)),
        ("middle", (39, 20, 21, 10)),
    ],
)
def test_corners(corner: str, box: tuple[int, int, int, int]) -> None:
    assert at_corner(corner, (21, 10), (50, 100, 3)) == box


def test_boxes() -> None:
    assert at_corner("upper-right", (200, 200), (50, 100, 3)) == (0, 0, 100, 50)
    assert parsed("149,60,22,29", (243, 320, 3)) == (149, 60, 22, 29)
    assert parsed("0.5, 0.5, 0.25, 0.5", (100, 200, 3)) == (100, 50, 50, 50)
    assert parsed("-5,-5,20,20", (50, 50, 3)) == (0, 0, 15, 15)
    assert several("0,0,2,2; 4,4,2,2; 90,90,5,5; 7,7,0,3;", (50, 50, 3)) == [(0, 0, 2, 2), (4, 4, 2, 2)]
    assert overlap((0, 0, 10, 10), [(5, 0, 10, 10), (5, 5, 5, 5)]) == 0.5
    for text in ("1,2,3", "a,b,c,d", "900,0,5,5", "0,0,nan,5", ""):
        with pytest.raises(InputError):
            parsed(text, (50, 50, 3))


def test_the_sheet_shows_what_the_model_saw(corpus) -> None:
    found = background_crop(corpus(corner="lower-right", cue=100))
    sheet = found.sheets[0]
    assert sheet.pictures.shape == (12, 96, 96, 3)
    labels = [0, 1] * 6
    bright = sheet.pictures.reshape(12, -1).mean(axis=1)
    assert np.corrcoef(bright, labels)[0, 1] > 0.95
