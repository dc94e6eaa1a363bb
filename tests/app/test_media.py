"""What the form and the audit say of every kind of media, of nothing to read, and of images that cannot be read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiftyone_hsd import dataset

pytestmark = pytest.mark.mongod

PLUGIN = "@fiftyone-hsd/hsd"
QUICK = {"seeds": 1, "models": ["nearest_neighbour"], "near_copies": "off"}


@pytest.fixture
def run(fo, downloaded):
    """Run an operator on a dataset or view by SDK."""

    def call(name, view, **params):
        return fo.operators.get_operator(f"{PLUGIN}/{name}")(view, **params).result

    return call


@pytest.fixture
def shown(fo, downloaded):
    """The form of an operator for a dataset or view, as text, as the App's server makes it."""

    def call(name, view):
        operator = fo.operators.get_operator(f"{PLUGIN}/{name}")
        request = {"dataset_name": dataset.root(view).name, "view": view.view()._serialize(), "params": {}}
        executor = fo.operators.executor.Executor()
        ctx = fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=operator.uri)
        return json.dumps(operator.resolve_type(ctx, "inputs").to_json())

    return call


@pytest.fixture
def images(small_corpus):
    return sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())


@pytest.fixture
def new(fo):
    """An empty dataset of a name, deleted at the end."""
    made = []

    def make(name):
        made.append(fo.Dataset(name, overwrite=True))
        return made[-1]

    yield make
    for found in made:
        found.delete()


def video(path):
    import cv2

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), 5, (32, 32))
    for k in range(3):
        writer.write(np.full((32, 32, 3), 60 * k, np.uint8))
    writer.release()


def test_slices_of_a_group_are_mates_and_other_media_are_named(fo, run, shown, new, images, tmp_path):
    found = new("sliced")
    found.add_group_field("group", default="left")
    video(tmp_path / "one.mp4")
    for k in range(0, 24, 2):
        group, tags = fo.Group(), ["train" if k % 4 else "test"]
        for name, path in (("left", images[k]), ("right", images[k + 1])):
            label = fo.Classification(label=path.parent.name)
            found.add_sample(fo.Sample(filepath=str(path), group=group.element(name), ground_truth=label, tags=tags))
        if not k:
            found.add_sample(fo.Sample(filepath=str(tmp_path / "one.mp4"), group=group.element("film")))
    assert '"invalid": true' not in shown("audit", found)
    result = run("audit", found, names=False, **QUICK)
    assert (result["images"], result["groups"]) == (24, 12)
    assert any("slices that hold no images are not evaluated: film" in n for n in result["notes"])
    flat = dataset.images(found)
    of_group = {}
    for group, ours in zip(*flat.values(["group.id", "hsd_group"]), strict=True):
        of_group.setdefault(group, set()).add(ours)
    assert all(len(ours) == 1 for ours in of_group.values())


def test_video_is_refused_by_name_in_the_form_and_by_sdk(fo, run, shown, new, tmp_path):
    found = new("films")
    video(tmp_path / "one.mp4")
    found.add_sample(fo.Sample(filepath=str(tmp_path / "one.mp4")))
    for name in ("audit", "groups"):
        assert "video dataset" in shown(name, found)
        with pytest.raises(fo.operators.executor.ExecutionError, match="video dataset or clips view"):
            run(name, found)
    found.reload()
    assert found.list_runs() == []


@pytest.fixture
def boxes(fo, new, images):
    """Two boxes an image, split by the image."""
    found = new("boxes")
    for k, path in enumerate(images[:12]):
        halves = [fo.Detection(label=path.parent.name, bounding_box=[0, y, 1, 0.5]) for y in (0, 0.5)]
        tags = ["train" if k % 2 else "test"]
        found.add_sample(fo.Sample(filepath=str(path), tags=tags, objects=fo.Detections(detections=halves)))
    return found


def test_a_detections_field_is_not_evaluated_by_name(run, shown, boxes):
    assert "objects: not one class an image" in shown("audit", boxes)
    result = run("audit", boxes, names=False, **QUICK)
    assert any("objects" in note and "training" in note for note in result["notes"])
    row = {r["condition"]: r for r in result["conditions"]}["existing"]
    assert (row["n"], row["score"]) == (6, "not evaluated")


def test_patches_of_one_image_are_mates_and_cannot_be_marked(run, shown, boxes):
    patches = boxes.to_patches("objects")
    assert "nothing is marked: a view of patches" in shown("audit", patches)
    result = run("audit", patches, names=False, **QUICK)
    assert (result["images"], result["groups"], result["fields"]) == (24, 12, [])
    assert any("a view of patches" in note for note in result["notes"])


def test_several_labels_an_image_are_not_evaluated_by_name(fo, run, shown, new, images):
    found = new("multi")
    for k, path in enumerate(images[:12]):
        both = [fo.Classification(label="a"), fo.Classification(label="b")]
        tags = ["train" if k % 2 else "test"]
        found.add_sample(fo.Sample(filepath=str(path), tags=tags, kinds=fo.Classifications(classifications=both)))
    assert "kinds: not one class an image" in shown("audit", found)
    result = run("audit", found, names=False, **QUICK)
    assert any("kinds" in note for note in result["notes"])
    row = {r["condition"]: r for r in result["conditions"]}["existing"]
    assert (row["n"], row["score"]) == (6, "not evaluated")


def test_an_empty_view_cannot_be_executed(shown, boxes):
    for name in ("audit", "groups"):
        assert "This view shows no image" in shown(name, boxes.match_tags("nothing"))


def test_a_broken_image_is_counted_and_the_others_are_audited(run, make_dataset, tmp_path):
    found = make_dataset("one-broken", every=6)
    (tmp_path / "broken.jpg").write_text("this is no image")
    first = found.first()
    first.filepath = str(tmp_path / "broken.jpg")
    first.save()
    result = run("audit", found, pattern=r"(?P<group>P\d+)_S", **QUICK)
    assert (result["images"], result["failures"]) == (len(found) - 1, 1)
    found.reload()
    assert found[first.id].has_field("hsd_group")
    assert found[first.id].hsd_group is None
    assert any("1 image could not be used" in note for note in result["notes"])
    groups = run("groups", found, pattern=r"(?P<group>P\d+)_S", near_copies="off")
    assert groups["images"] == len(found) - 1
    assert any("1 image could not be read" in note for note in groups["notes"])
