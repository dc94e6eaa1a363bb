"""Objects out of a dataset: boxes and segmentations, in the database and in files."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd import controls, dataset
from fiftyone_hsd.errors import FieldError

pytestmark = pytest.mark.mongod


@pytest.fixture
def segmented(fo, tinted_corpus):
    """Images with boxes, masks in the database, and masks in files."""
    found = fo.Dataset()
    samples = []
    for path in sorted((tinted_corpus / "images").rglob("*.png")):
        file = tinted_corpus / "masks" / path.parent.name / path.name
        mask = np.asarray(Image.open(file)) > 0
        y, x = np.nonzero(mask)
        box = [x.min() / 40, y.min() / 40, (x.max() - x.min() + 1) / 40, (y.max() - y.min() + 1) / 40]
        samples.append(
            fo.Sample(
                filepath=str(path),
                truth=fo.Classification(label=path.parent.name),
                patient=path.name[:3],
                cells=fo.Detections(detections=[fo.Detection(label="cell", bounding_box=box)]),
                inside=fo.Segmentation(mask=mask.astype(np.uint8) * 7),
                files=fo.Segmentation(mask_path=str(file)),
            )
        )
    found.add_samples(samples)
    yield found
    found.delete()


def truth(path):
    return np.asarray(Image.open(path.replace("/images/", "/masks/"))) > 0


def test_masks_are_those_of_the_samples(segmented, fo):
    assert dataset.object_fields(segmented) == {
        "cells": "Detections",
        "inside": "Segmentation",
        "files": "Segmentation",
    }
    segmented.add_sample_field("hsd_mask", fo.EmbeddedDocumentField, embedded_doc_type=fo.Segmentation)
    assert "hsd_mask" not in dataset.object_fields(segmented)
    ids, paths = segmented.values(["id", "filepath"])
    for field in ("inside", "files"):
        masks = dataset.object_masks(segmented, field)
        assert sorted(masks) == sorted(ids)
        assert all((masks[i] == truth(p)).all() for i, p in zip(ids[::9], paths[::9], strict=True))
    assert dataset.object_masks(segmented, "cells") is None
    assert dataset.object_masks(segmented, "nothing") is None
    segmented.set_values("inside", [None] * len(ids))
    with pytest.raises(FieldError, match="no image has a mask in 'inside'"):
        dataset.object_masks(segmented, "inside")


def test_objects_and_background_by_boxes_masks_and_threshold(segmented):
    options = {"group_field": "patient", "control": "objects_background", "seeds": 1, "object_side": 12}
    said = {}
    for field in ("cells", "inside", None):
        report = controls(segmented, objects_field=field, object_pixels=20, **options)
        said[field] = next(n.text for n in report.notes if "objects with as many" in n.text)
        cue = next(n.text for n in report.notes if "crops without an object" in n.text)
        assert "classes differ in acquisition" in cue
    assert said["cells"].endswith("by column cells")
    assert said["inside"].endswith("by masks of inside")
    assert "Otsu" in said[None]
    assert said["cells"].split(",")[0] == said["inside"].split(",")[0]


def test_a_crop_that_lies_in_masks_is_no_background(segmented):
    options = {"group_field": "patient", "control": "background_crop", "seeds": 1, "size": "6x6"}
    middle = controls(segmented, objects_field="files", corner="middle", **options)
    (share,) = (c.effect for c in middle.control_results if c.effect.what == "not_blank")
    ids, paths = segmented.values(["id", "filepath"])
    covered = {i: truth(p)[17:23, 17:23].mean() > 0.05 for i, p in zip(ids, paths, strict=True)}
    assert share.estimate >= np.mean(list(covered.values())) > 0.5
    corner = controls(segmented, objects_field="files", corner="upper-left", **options)
    (share,) = (c.effect for c in corner.control_results if c.effect.what == "not_blank")
    assert share.estimate == 0
