"""Objects by Otsu, crops around and away from them, and what is read in them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from skimage.filters import threshold_otsu
from skimage.measure import label

from fiftyone_hsd.controls._objects import crops_of, fitting, found_by_otsu
from fiftyone_hsd.controls.objects_background import objects_background

SMALL = {"object_side": 16}


def by_variant(outcome, variant: str, condition: str = "intact"):
    found = [
        r
        for r in outcome.results
        if (r.variant, r.effect.what, r.effect.condition, r.effect.metric, r.effect.seed)
        == (variant, "score", condition, "balanced_accuracy", None)
    ]
    return max(found, key=lambda r: r.effect.estimate)


def test_objects_are_read_and_a_plain_ground_is_not(corpus) -> None:
    found = objects_background(corpus(noise=2, **SMALL))
    assert by_variant(found, "objects").effect.estimate > 0.9
    assert by_variant(found, "background").effect.p > 0.02
    assert any("119 objects with as many places without one in 119 of 120 images" in n.text for n in found.notes)
    assert len(found.sheets) == 2


def test_a_cue_in_the_ground_is_read_away_from_objects(corpus) -> None:
    found = objects_background(corpus(cue=40, noise=2, **SMALL))
    assert by_variant(found, "background").effect.estimate > 0.9
    assert any("can be told apart by crops without an object" in n.text for n in found.notes)


def test_crops_of_one_image_stay_with_its_group(corpus) -> None:
    """A fingerprint of images: known crops are recognised at random, those of new groups are not."""
    found = objects_background(corpus(groups=40, images=6, fingerprint=25, noise=0.5, seeds=3, **SMALL))
    assert by_variant(found, "background", "random").effect.estimate > 0.9
    assert by_variant(found, "background").effect.p > 0.02


def test_given_boxes_replace_otsu(corpus) -> None:
    boxes = ["18,18,12,12"] * 120
    found = objects_background(corpus(noise=2, metadata={"cells": boxes}, objects_field="cells", **SMALL))
    assert any("column cells" in n.text for n in found.notes)
    none = objects_background(corpus(metadata={"cells": [""] * 120}, objects_field="cells", **SMALL))
    assert none.notes[0].level == "not evaluated"


@pytest.mark.parametrize("bright", [True, False])
def test_otsu_against_scikit_image(bright: bool) -> None:
    rng = np.random.default_rng(0)
    grey = rng.normal(90, 8, (80, 100))
    grey[10:20, 10:30] += 100
    grey[50:57, 60:66] += 100
    grey[70:74, 5:10] += 100
    grey = np.clip(np.rint(grey if bright else 255 - grey), 0, 255).astype(np.uint8)
    mask, boxes = found_by_otsu(np.repeat(grey[..., None], 3, 2), 40)
    level = threshold_otsu(grey)
    parts = label(grey > level if bright else grey <= level, connectivity=2)
    sizes = np.bincount(parts.ravel())[1:]
    assert len(boxes) == (sizes > 40).sum() == 2
    assert boxes == [(10, 10, 20, 10), (60, 50, 6, 7)]
    assert mask.sum() == sizes[sizes > 40].sum()


def test_no_background_crop_touches_an_object() -> None:
    rng = np.random.default_rng(0)
    mask = np.zeros((60, 60), bool)
    mask[20:30, 20:30] = True
    picture = np.repeat((mask * 255).astype(np.uint8)[..., None], 3, 2)
    for k in range(20):
        ((around, away),) = crops_of(picture, mask, [(20, 20, 10, 10)], 12, np.random.default_rng(k))
        assert around.shape == away.shape == (12, 12, 3)
        assert around.mean() > 150
        assert away.max() == 0
    assert crops_of(picture, np.ones_like(mask), [(20, 20, 10, 10)], 12, rng) == []
    ((around, _),) = crops_of(picture, mask, [(0, 0, 2, 2)], 60, rng)
    assert around.shape == (30, 30, 3)
    assert found_by_otsu(np.full((9, 9, 3), 7, np.uint8), 1)[1] == []


def test_given_masks_replace_otsu_and_boxes(corpus) -> None:
    study = corpus(noise=2, cue=40, **SMALL)
    disc = np.zeros((48, 48), bool)
    disc[16:32, 16:32] = True
    few = dataclasses.replace(study, masks=dict.fromkeys(study.samples.ids[:60], disc))
    found = objects_background(few)
    assert any(
        "60 objects with as many places without one in 60 of 120 images, by the given masks" in n.text
        for n in found.notes
    )
    assert by_variant(found, "background").effect.estimate > 0.9
    none = objects_background(dataclasses.replace(study, masks={}))
    assert none.notes[0].level == "not evaluated"
    plain = corpus(noise=2, **SMALL)
    fair = objects_background(dataclasses.replace(plain, masks=dict.fromkeys(plain.samples.ids, disc)))
    assert by_variant(fair, "background").effect.p > 0.02


def test_a_mask_of_another_size_is_fitted() -> None:
    mask = np.zeros((10, 20), bool)
    mask[:5, 10:] = True
    larger = fitting(mask, (20, 40, 3))
    assert larger.shape == (20, 40)
    assert larger[:10, 20:].all()
    assert not larger[10:].any()
    assert not larger[:, :20].any()
    assert not fitting(None, (4, 5, 3)).any()
