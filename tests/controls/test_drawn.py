"""Drawn blood smears: a cue in one class, a fingerprint of slides, and neither, told apart by the 2x2.

Patients have one to sixteen pictures, so that hardly two groups are of one size.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls._study import Study, study
from fiftyone_hsd.controls.background_crop import background_crop
from fiftyone_hsd.controls.eight_pixels import eight_pixels
from fiftyone_hsd.drawn import SMALL, draw
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.model import Grouping, Links
from fiftyone_hsd.scan import scan

PLAIN = {"patients": 50, "classes": 2, "classes_per_patient": 1, "slides": 1, "fields": 4, "views": 2, "copies": 1}
LOOKS = {"cue": 0.0, "patient_look": 0.0, "slide_stain": 0.0, "duplicates": 0}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """drawn(cue=, slide_stain=, ...) -> Study; the slide, here one a patient, is the group."""

    def make(**looks: float) -> Study:
        folder = tmp_path_factory.mktemp("drawn")
        images = draw(folder, SMALL, split="none", side=48, **{**PLAIN, **LOOKS, **looks})
        rows = {r["path"]: r["slide"] for r in csv.DictReader(Path(folder, "truth.csv").read_text().splitlines())}
        samples = from_folder(images)
        found, _ = scan(samples)
        codes = np.unique([rows[i] for i in samples.names], return_inverse=True)[1]
        options = ControlSettings(seeds=3, size="10x10")
        return study(samples, found, Grouping(codes, Links.of([], [], "")), options, Gallery.of(samples, found))

    return make


def test_a_cue_in_the_background_of_one_class(drawn) -> None:
    found = background_crop(drawn(cue=2.0))
    assert found.notes[0].text.startswith("classes differ in acquisition")
    assert eight_pixels(drawn(cue=2.0)).notes[0].text.startswith("classes differ in acquisition")


def test_a_fingerprint_of_slides_is_no_class_signal(drawn) -> None:
    found = background_crop(drawn(slide_stain=3.0, image_stain=0.0))
    assert found.notes[0].text.startswith("no sign")
    assert found.notes[1].text.startswith("groups have a fingerprint")


def test_neither(drawn) -> None:
    found = background_crop(drawn(image_stain=1.0, views=1, copies=0))
    assert found.notes[0].text.startswith("no sign")
    assert found.notes[1].text.startswith(("neither", "a random split inflates whole pictures, but no fingerprint"))
