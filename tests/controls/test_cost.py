"""The estimate that stands before a control."""

from __future__ import annotations

import pytest

from fiftyone_hsd.controls._cost import expected_seconds, fast_seconds
from fiftyone_hsd.controls.full_picture import full_picture


def test_grows_with_images_and_networks_and_falls_once_pictures_are_read(corpus) -> None:
    few, many = corpus(groups=30), corpus(groups=120)
    assert fast_seconds(many, "haar") == pytest.approx(4 * fast_seconds(few, "haar"))
    assert fast_seconds(corpus(groups=30, preset="paper"), "haar") > 10 * fast_seconds(few, "haar")
    before = fast_seconds(few, "haar")
    full_picture(few)
    assert fast_seconds(few, "haar") < before


def test_before_anything_is_read_it_adds_up(corpus) -> None:
    study = corpus(groups=30)
    asked = ["full_picture", "eight_pixels", "haar"]
    expected = expected_seconds(len(study.samples), asked, study.settings)
    first = fast_seconds(study, "full_picture")
    full_picture(study)
    assert expected == pytest.approx(first + fast_seconds(study, "eight_pixels") + fast_seconds(study, "haar"))
    assert expected_seconds(2000, asked, study.settings) > 10 * expected
