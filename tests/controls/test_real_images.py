"""The folders of real images, in small parts."""

from __future__ import annotations

import numpy as np
import pytest

import fiftyone_hsd as hsd
from fiftyone_hsd.folder import from_folder


@pytest.mark.data
def test_yale_faces_are_one_subject_a_class(real_data) -> None:
    top = real_data / "yale_a"
    report = hsd.controls(top, labels=top / "groups.csv", control="background_crop", box="149,60,22,29", seeds=1)
    assert any("indistinguishable by design" in n.text for n in report.notes)
    assert report.verdict.startswith("Acquisitions can be told apart, image by image")
    assert all("single images" in r.effect.method for r in report.control_results if r.effect.p == r.effect.p)


@pytest.mark.data
def test_chest_images_differ_at_the_border_and_groups_do_not_inflate(real_data) -> None:
    """800 images: bacteria, normal and virus, read by eight pixels of the border on patients never seen."""
    top = real_data / "chest_xray"
    samples = from_folder(top, labels=top / "groups.csv")
    rows = np.random.default_rng(0).permutation(len(samples))[:800]
    report = hsd.controls(samples.take(np.sort(rows)), control="eight_pixels", seeds=2)
    assert report.verdict.startswith("Classes differ in acquisition")
    (change,) = [
        r.effect
        for r in report.control_results
        if r.effect.what == "fingerprint" and r.effect.metric == "balanced_accuracy"
    ]
    assert change.low < 0 < change.high
