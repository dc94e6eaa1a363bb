"""FiftyOne in and out, on a real mongod."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd import audit, cli, dataset, export, ladder, repair, verify
from fiftyone_hsd.controls._boxes import several
from fiftyone_hsd.dataset import bulk, marks
from fiftyone_hsd.errors import EmptyError, FieldError, InputError, StaleError
from fiftyone_hsd.model import Exposure

pytestmark = pytest.mark.mongod

CONDITIONS = ("intact", "q25", "q50", "q75", "random")


@pytest.fixture
def fo(mongod):
    # Importing it warns about its use of strawberry, connecting about mongoengine's; the rest is held to the rule.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import fiftyone

        fiftyone.list_datasets()

    return fiftyone


@pytest.fixture
def images(small_corpus) -> list[Path]:
    return sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())


@pytest.fixture
def pictures(images, tmp_path) -> list[Path]:
    """Six image files of a test's own."""
    return [Path(shutil.copy(p, tmp_path / f"{k}_{p.name}")) for k, p in enumerate(images[:6])]


@pytest.fixture
def blood(fo, images):
    """The small corpus as a dataset: split tags, a class, the patient as a field."""
    found = fo.Dataset()
    found.add_samples(
        [
            fo.Sample(
                filepath=str(path),
                tags=["mine", "Training" if path.parts[-3] == "TRAIN" else "test"],
                ground_truth=fo.Classification(label=path.parent.name),
                patient=path.name.split("_")[0],
            )
            for path in images
        ]
    )
    yield found
    found.delete()


@pytest.fixture
def audited(blood):
    return audit(blood, group_field="patient", seeds=1)


def documents(found):
    """Every sample document as it is stored, the time stamp aside."""
    return [
        {k: v for k, v in document.items() if k != "last_modified_at"} for document in found._sample_collection.find({})
    ]


def dataset_document(found):
    found.reload()
    times = ("last_modified_at", "last_loaded_at")
    return {k: v for k, v in found._doc.to_dict().items() if k not in times}


def topics(samples, level):
    return [n.topic for n in samples.notes if n.level == level]


def simple(fo, pictures, **columns):
    """A dataset of the pictures; each column holds one value a picture."""
    found = fo.Dataset()
    found.add_samples(
        [
            fo.Sample(filepath=str(p), **{name: values[i] for name, values in columns.items()})
            for i, p in enumerate(pictures)
        ]
    )
    return found


# Reading


def test_reads_ids_paths_labels_tags_and_columns_in_order(fo, blood, images):
    samples = dataset.from_view(blood, group_field="patient")
    assert list(samples.ids) == blood.values("id")
    assert list(samples.paths) == [str(p) for p in images]
    assert [samples.classes[c] for c in samples.labels] == [p.parent.name for p in images]
    assert Counter(samples.split.tolist()) == Counter("train" if p.parts[-3] == "TRAIN" else "test" for p in images)
    assert samples.column("patient").tolist() == [p.name.split("_")[0] for p in images]
    assert samples.names[0] == f"{images[0].parts[-3]}/{images[0].parts[-2]}/{images[0].name}"
    assert samples.notes == ()
    view = blood.match_tags("test")[3:11]
    assert list(dataset.from_view(view).ids) == view.values("id")
    assert dataset.from_name(blood.name, label_field="ground_truth").ids == samples.ids


def test_a_name_that_is_no_dataset(fo, blood):
    with pytest.raises(InputError, match="no FiftyOne dataset 'blod'") as error:
        dataset.from_name("blod")
    assert blood.name in error.value.allowed


def test_neither_a_view_nor_images(fo, blood):
    with pytest.raises(InputError, match="list"):
        dataset.from_view([1])
    with pytest.raises(EmptyError, match="no sample"):
        dataset.from_view(blood.match_tags("nobody"))
    video = fo.Dataset()
    video.add_sample(fo.Sample(filepath="/nowhere/a.mp4"))
    with pytest.raises(InputError, match="to_frames"):
        dataset.from_view(video)
    points = fo.Dataset()
    points.add_sample(fo.Sample(filepath="/nowhere/a.pcd"))
    with pytest.raises(InputError, match="point-cloud"):
        dataset.from_view(points)


def test_the_only_classification_is_the_label_and_two_are_a_question(fo, pictures):
    labels = [fo.Classification(label=c) for c in "aabbc"] + [None]
    found = simple(fo, pictures, truth=labels)
    found.add_sample_field("hsd_old_pred", fo.EmbeddedDocumentField, embedded_doc_type=fo.Classification)
    samples = dataset.from_view(found)
    assert samples.classes == ("a", "b", "c")
    assert samples.labels.tolist() == [0, 0, 1, 1, 2, -1]
    assert topics(samples, "warning") == ["unlabelled"]
    found.set_values("guess", labels)
    with pytest.raises(FieldError) as error:
        dataset.from_view(found)
    assert "truth" in error.value.allowed
    assert "guess" in error.value.allowed
    assert "hsd_old_pred" not in error.value.allowed
    assert dataset.from_view(found, label_field="guess").classes == ("a", "b", "c")


def test_text_and_numbers_can_be_labels(fo, pictures):
    found = simple(fo, pictures, kind=list("xyxyxy"), grade=[1, 2, 3, 1, 2, None])
    assert dataset.from_view(found, label_field="kind").classes == ("x", "y")
    assert dataset.from_view(found, label_field="grade").labels.tolist() == [0, 1, 2, 0, 1, -1]


@pytest.mark.parametrize("kind", ["Detections", "Segmentation", "Classifications", "Polylines", "Keypoints"])
def test_other_labels_are_named_and_not_evaluated(fo, pictures, kind):
    value = getattr(fo, kind)()
    found = simple(fo, pictures, things=[value] * 6)
    for samples in (dataset.from_view(found), dataset.from_view(found, label_field="things")):
        assert not samples.labelled
        (note,) = [n for n in samples.notes if n.level == "not evaluated"]
        assert "things" in note.text
        assert kind in note.text


def test_a_dataset_without_labels(fo, pictures):
    samples = dataset.from_view(simple(fo, pictures))
    assert samples.classes == ()
    assert topics(samples, "not evaluated") == ["labels"]


def test_fields_that_do_not_exist_or_cannot_serve(fo, pictures):
    found = simple(fo, pictures, patient=list("aabbcc"), marks=[["x"]] * 6)
    for options in ({"label_field": "nothing"}, {"split_field": "nothing"}, {"group_field": "nothing"}):
        with pytest.raises(FieldError, match="nothing") as error:
            dataset.from_view(found, **options)
        assert "patient" in error.value.allowed
    for name in ("marks", "metadata", "_id", "_media_type", "", "a.b.$c"):
        with pytest.raises(FieldError):
            dataset.from_view(found, metadata=[name])


def test_boxes_become_text(fo, pictures):
    """As controls read them: x,y,width,height as shares of the picture, several separated by `;`."""
    box = fo.Detection(bounding_box=[0.25, 0.5, 0.1, 0.2])
    many = fo.Detections(detections=[box, fo.Detection(bounding_box=[0, 0, 1, 1])])
    found = simple(fo, pictures, place=[box] * 6, cells=[many] * 5 + [None])
    samples = dataset.from_view(found, metadata=["place", "cells"])
    assert samples.column("place").tolist() == ["0.25,0.5,0.1,0.2"] * 6
    assert samples.column("cells").tolist() == ["0.25,0.5,0.1,0.2;0.0,0.0,1.0,1.0"] * 5 + [""]
    assert several(samples.column("cells")[0], (100, 200, 3)) == [(50, 50, 20, 20), (0, 0, 200, 100)]


def test_split_from_a_field(fo, pictures):
    values = ["TRAIN", "valid", "testing", "fold 3", None, " val "]
    found = simple(fo, pictures, part=values, other=[fo.Classification(label=v) for v in values])
    for name in ("part", "other"):
        samples = dataset.from_view(found, label_field="part", split_field=name)
        assert samples.split.tolist() == ["train", "val", "test", "fold 3", "", "val"]
    assert dataset.split_counts(found, "part") == {"train": 1, "val": 2, "test": 1, "fold 3": 1, "": 1}


def test_a_sample_with_two_split_tags_is_a_problem(fo, pictures):
    tags = [["train"], ["train", "TEST"], ["val", "validation"], ["x"], [], ["test", "x"]]
    samples = dataset.from_view(simple(fo, pictures, tags=tags))
    assert samples.split.tolist() == ["train", "", "val", "", "", "test"]
    (note,) = [n for n in samples.notes if n.level == "problem"]
    assert note.topic == "split"
    assert note.count == 1
    assert samples.ids[1] in note.examples[0]


def test_a_field_called_split_is_pointed_at(fo, pictures):
    samples = dataset.from_view(simple(fo, pictures, split=["train"] * 6))
    assert any("split_field" in n.text for n in samples.notes)


def test_missing_media_and_shared_files(fo, pictures, tmp_path):
    link = tmp_path / "link.jpg"
    link.symlink_to(pictures[0])
    found = simple(fo, [*pictures, pictures[1], link, tmp_path / "not there.jpg"])
    notes = {n.topic: n for n in dataset.from_view(found).notes}
    assert notes["missing media"].count == 1
    assert notes["missing media"].examples == (str(tmp_path / "not there.jpg"),)
    assert set(notes["duplicate path"].examples) == {str(pictures[1]), str(link)}


def test_a_sample_shown_twice_counts_once(fo, pictures):
    found = simple(fo, pictures)
    samples = dataset.from_view(found.concat(found[:2]))
    assert len(samples) == 6
    assert [n.count for n in samples.notes if n.topic == "duplicate sample"] == [2]


def test_grouped_slices_are_mates(fo, pictures):
    found = fo.Dataset()
    found.add_group_field("scene", default="left")
    for k in range(0, 6, 2):
        scene = fo.Group()
        found.add_samples(
            [
                fo.Sample(filepath=str(pictures[k]), scene=scene.element("left")),
                fo.Sample(filepath=str(pictures[k + 1]), scene=scene.element("right")),
                fo.Sample(filepath="/nowhere/a.pcd", scene=scene.element("points")),
            ]
        )
    samples = dataset.from_view(found)
    assert sorted(samples.paths) == sorted(map(str, pictures))
    groups = dict(zip(samples.paths, samples.column("group").tolist(), strict=True))
    assert len(set(groups.values())) == 3
    assert all(groups[str(pictures[k])] == groups[str(pictures[k + 1])] for k in range(0, 6, 2))
    assert any(n.level == "not evaluated" and "points" in n.text for n in samples.notes)


def test_patches_belong_to_their_image(fo, pictures):
    def cells():
        return fo.Detections(detections=[fo.Detection(label=c, bounding_box=[0, 0, 0.5, 0.5]) for c in "ab"])

    found = simple(fo, pictures, cells=[cells() for _ in pictures])
    patches = found.to_patches("cells")
    samples = dataset.from_view(patches)
    assert len(samples) == 12
    assert samples.classes == ("a", "b")
    assert samples.column("group").tolist() == [i for i in found.values("id") for _ in range(2)]
    assert "patches" in dataset.storable(patches)
    assert dataset.storable(found) == ""


def test_frames_of_a_video_are_mates(fo, pictures):
    videos = fo.Dataset()
    for k in (0, 3):
        sample = fo.Sample(filepath=f"/nowhere/{k}.mp4")
        for number in (1, 2, 3):
            sample.frames[number] = fo.Frame(filepath=str(pictures[k + number - 1]))
        videos.add_sample(sample)
    samples = dataset.from_view(videos.to_frames(sample_frames=False))
    assert sorted(samples.paths) == sorted(map(str, pictures))
    assert sorted(Counter(samples.column("group").tolist()).values()) == [3, 3]


def test_a_view_grouped_by_a_field_is_taken_flat(fo, pictures):
    found = simple(fo, pictures, patient=list("aabbcc"))
    assert sorted(dataset.from_view(found.group_by("patient")).ids) == sorted(found.values("id"))


# Writing


def test_writes_what_the_report_says(blood, audited):
    written = dataset.write_audit(blood, audited)
    assert blood.values("hsd_group") == audited.grouping.group_ids(audited.samples.ids)
    assert set(blood.values("hsd_evidence")) <= {"given", "bytes", "pixels", "bytes+given", "given+pixels", None} | {
        "bytes+given+pixels"
    }
    for condition in ("existing", *CONDITIONS):
        plan = audited.plan(condition)
        assert blood.values(f"hsd_{condition}") == plan.partition.tolist()
        for partition in set(plan.partition.tolist()):
            tagged = blood.match_tags(f"hsd:{condition}:{partition}").values("id")
            assert tagged == [audited.samples.ids[i] for i in plan.rows(partition)]
    first, intact = audited.exposures[0], audited.plan("intact")
    rows = np.flatnonzero(first.evaluated)
    assert [blood.values("hsd_exposed")[i] for i in rows] == first.exposed[rows].tolist()
    assert set(blood.match_tags("hsd:existing:train").values("hsd_exposed")) == {None}
    assert blood.values("hsd_mates_in_train") == first.mates_in_train.tolist()
    near = blood.values("hsd_nearest_train")
    assert [near[i] for i in rows] == [audited.samples.ids[j] for j in first.nearest_train[rows]]
    np.testing.assert_allclose(
        np.array(blood.values("hsd_nearest_similarity"), float)[rows], first.nearest_similarity[rows]
    )
    assert blood.count_sample_tags().get("hsd:intact:exposed", 0) == 0
    run = next(r for r in audited.runs if r.condition == "intact" and r.config.model == "linear_probe")
    predicted = blood.values("hsd_intact_pred_linear_probe.label")
    assert [predicted[i] for i in run.rows] == [audited.samples.classes[c] for c in run.predicted]
    assert {predicted[i] for i in intact.rows("train")} == {None}
    assert written.samples == len(blood)
    assert blood.first().hsd_intact_pred_linear_probe is None or blood.first().hsd_intact_pred_linear_probe.id
    assert dataset.stored(blood)["verdict"] == audited.verdict
    assert sorted(blood.list_runs()) == ["hsd_audit", "hsd_report"]


def test_saved_views_join_exposure_and_partition(blood, audited):
    written = dataset.write_audit(blood, audited)
    assert set(written.views) == set(blood.list_saved_views())
    plan, exposure = audited.plan("existing"), audited.exposures[0]
    for word, said in (("exposed", exposure.exposed), ("unexposed", ~exposure.exposed)):
        rows = np.flatnonzero((plan.partition == "test") & exposure.evaluated & said)
        name = f"hsd-existing-test-{word}"
        assert (name in written.views) == bool(len(rows))
        if len(rows):
            assert blood.load_saved_view(name).values("id") == [audited.samples.ids[i] for i in rows]
    pairs = blood.load_saved_view("hsd-existing-pairs").values(["id", "hsd_nearest_train"])
    assert pairs[0][1::2] == pairs[1][0::2]
    assert len(pairs[0]) <= 1000
    groups = blood.load_saved_view("hsd-groups").values("hsd_group")
    assert groups == sorted(groups)
    assert min(Counter(groups).values()) > 1


def test_a_second_audit_replaces_its_own_marks_only(blood, audited):
    before = documents(blood)
    first = dataset.write_audit(blood, audited)
    blood.save_view("hsd-mine", blood[:3])
    blood.tag_samples("hsd:reviewed")
    marked = documents(blood)
    assert dataset.write_audit(blood, audited) == first
    again = documents(blood)
    assert [{k: v for k, v in d.items() if "_pred_" not in k and k != "tags"} for d in marked] == [
        {k: v for k, v in d.items() if "_pred_" not in k and k != "tags"} for d in again
    ]
    assert [sorted(d["tags"]) for d in marked] == [sorted(d["tags"]) for d in again]
    other = audit(blood.match_tags("test"), group_field="patient", seeds=1, models=("nearest_neighbour",))
    written = dataset.write_audit(blood.match_tags("test"), other)
    assert not any("linear_probe" in name for name in blood.get_field_schema())
    assert written.samples == len(blood.match_tags("test"))
    assert set(blood.match_tags("Training").values("hsd_group")) == {None}
    dataset.undo(blood)
    assert blood.list_saved_views() == ["hsd-mine"]
    blood.untag_samples("hsd:reviewed")
    assert documents(blood) == before


def test_undo_restores_every_document(blood, audited):
    before, dataset_before = documents(blood), dataset_document(blood)
    written = dataset.write_audit(blood, audited)
    assert documents(blood) != before
    assert dataset.undo(blood) == written
    assert documents(blood) == before
    assert dataset_document(blood) == dataset_before
    assert dataset.stored(blood) is None
    with pytest.raises(InputError, match="holds no audit"):
        dataset.undo(blood)


def change_value(found):
    sample = found.first()
    sample["hsd_intact"] = "elsewhere"
    sample.save()


def change_prediction(found):
    name = "hsd_random_pred_linear_probe"
    found.exists(name).limit(1).set_values(f"{name}.label", ["something else"])


def take_tag(found):
    found.limit(2).untag_samples(next(t for t in found.first().tags if t.startswith("hsd:intact:")))


def add_tag(found):
    tag = "hsd:intact:train"
    found.match_tags(tag, bool=False).limit(1).tag_samples(tag)


def clear_field(found):
    found.limit(1).set_field("hsd_group", None).save("hsd_group")


def change_view(found):
    found.save_view("hsd-groups", found.limit(2), overwrite=True)


@pytest.mark.parametrize("change", [change_value, change_prediction, take_tag, add_tag, clear_field, change_view])
def test_changes_of_others_are_refused_in_words(blood, audited, change):
    before = documents(blood)
    dataset.write_audit(blood, audited)
    change(blood)
    changed = documents(blood)
    for act in (lambda: dataset.undo(blood), lambda: dataset.write_audit(blood, audited)):
        with pytest.raises(StaleError, match="changed since the audit wrote") as error:
            act()
        assert "force=True" in error.value.advice
        assert "Also drop marks that somebody changed since" in error.value.advice  # the box in the App
        assert documents(blood) == changed
    dataset.undo(blood, force=True)
    assert documents(blood) == before
    assert blood.list_saved_views() == []


def test_what_others_add_beside_the_marks_is_theirs(blood, audited):
    dataset.write_audit(blood, audited)
    blood.limit(3).tag_samples("seen")
    blood.set_values("note", ["x"] * len(blood))
    blood.delete_samples(blood.limit(1))
    dataset.undo(blood)
    assert blood.count_sample_tags()["seen"] == 2
    assert set(blood.values("note")) == {"x"}
    assert not [n for n in blood.get_field_schema() if n.startswith("hsd_")]
    assert not [t for t in blood.count_sample_tags() if t.startswith("hsd:")]


def add_sample(found):
    found.add_sample(found.first().copy())


def remove_sample(found):
    found.delete_samples(found.limit(1))


def change_label(found):
    found.limit(1).set_values("ground_truth.label", ["never seen"])


def change_split(found):
    found.match_tags("test").limit(1).untag_samples("test")


def change_group(found):
    found.limit(1).set_values("patient", ["P9999"])


@pytest.mark.parametrize("change", [add_sample, remove_sample, change_label, change_split, change_group])
def test_a_stale_audit_refuses_to_write(blood, audited, change):
    change(blood)
    before = documents(blood)
    with pytest.raises(StaleError, match="since the audit"):
        dataset.write_audit(blood, audited)
    assert documents(blood) == before
    assert blood.list_runs() == []


def test_names_of_ours_that_no_audit_recorded_are_not_overwritten(blood, audited):
    blood.set_values("hsd_group", ["mine"] * len(blood))
    with pytest.raises(StaleError, match="field hsd_group"):
        dataset.write_audit(blood, audited)
    blood.delete_sample_field("hsd_group")
    blood.limit(1).tag_samples("hsd:intact:train")
    with pytest.raises(StaleError, match="tag hsd:intact:train"):
        dataset.write_audit(blood, audited)
    blood.untag_samples("hsd:intact:train")
    blood.save_view("hsd-groups", blood[:1])
    with pytest.raises(StaleError, match="saved view hsd-groups"):
        dataset.write_audit(blood, audited)
    blood.delete_saved_view("hsd-groups")
    dataset.write_audit(blood, audited)


def test_a_stopped_write_leaves_nothing(blood, audited, monkeypatch):
    monkeypatch.setattr(bulk, "BATCH", 50)
    before, dataset_before = documents(blood), dataset_document(blood)

    def stop(done, total, label):
        if done >= 100:
            assert documents(blood) != before
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dataset.write_audit(blood, audited, progress=stop)
    assert documents(blood) == before
    assert dataset_document(blood) == dataset_before


def test_a_write_that_was_killed_is_cleaned_up_by_the_next(blood, audited):
    before = documents(blood)
    dataset.write_audit(blood, audited)
    config = blood.get_run_info("hsd_audit").config
    config.status = "writing"
    blood.update_run_config("hsd_audit", config)
    change_value(blood)
    assert dataset.stored(blood) is None
    dataset.write_audit(blood, audited)
    dataset.undo(blood)
    assert documents(blood) == before


def test_names_with_dollars_and_dots_are_only_text(fo, images):
    odd = ["$a", "a.b", "{'$gt': ''}", "<b>x</b>"]
    found = fo.Dataset()
    found.add_samples(
        [
            fo.Sample(
                filepath=str(p),
                tags=["$tag", "t.x"],
                kind=fo.Classification(label=odd[k % 4]),
                part=["train", "$ground.truth", "te.st"][k % 3],
                patient=f"$p.{k // 2}",
            )
            for k, p in enumerate(images[:120])
        ]
    )
    before = documents(found)
    report = audit(found, split_field="part", group_field="patient", seeds=1)
    written = dataset.write_audit(found, report)
    assert found.values("hsd_existing") == found.values("part")
    assert set(found.values("hsd_random_pred_linear_probe.label")) <= {*odd, None}
    view = found.load_saved_view("hsd-existing-ground-truth-exposed")
    exposed = report.exposures[0].exposed & (report.plan("existing").partition == "$ground.truth")
    assert len(view) == exposed.sum() > 0
    assert "hsd:existing:$ground.truth" in written.tags
    dataset.undo(found)
    assert documents(found) == before
    found.delete()


def test_marks_of_a_grouped_dataset(fo, images):
    found = fo.Dataset()
    found.add_group_field("scene", default="left")
    for k in range(0, 80, 2):
        scene, kind = fo.Group(), fo.Classification(label="ab"[k // 2 % 2])
        tags = ["train" if k % 4 else "test"]
        found.add_samples(
            [
                fo.Sample(filepath=str(images[k]), scene=scene.element("left"), kind=kind, tags=tags),
                fo.Sample(filepath=str(images[k + 1]), scene=scene.element("right"), kind=kind.copy(), tags=["train"]),
            ]
        )
    before = documents(found)
    report = audit(found, seeds=1)
    assert len(report.samples) == 80
    assert report.grouping.n_groups <= 40
    dataset.write_audit(found, report)
    flat = found.select_group_slices(["left", "right"])
    assert flat.values("hsd_group") == report.grouping.group_ids(report.samples.ids)
    exposed = report.exposures[0].exposed
    assert len(found.load_saved_view("hsd-existing-test-exposed")) == exposed.sum() > 0
    dataset.undo(found)
    assert documents(found) == before
    found.delete()


def test_patches_cannot_be_marked(fo, images):
    found = simple(
        fo,
        images[:40],
        cells=[
            fo.Detections(detections=[fo.Detection(label="ab"[k % 2], bounding_box=[0, 0, 1, 1])]) for k in range(40)
        ],
    )
    patches = found.to_patches("cells")
    report = audit(patches, seeds=1)
    with pytest.raises(InputError, match="patches"):
        dataset.write_audit(patches, report)


def test_no_view_stage_holds_more_than_the_pairs():
    n = 5000
    exposure = Exposure(
        "existing",
        0,
        np.arange(n) < n // 2,
        np.ones(n, int),
        np.where(np.arange(n) < n // 2, np.arange(n) % 700 + n // 2, -1),
        np.linspace(1, 0, n),
        np.arange(n) < n // 2,
    )
    ids = [f"{i:024x}" for i in range(n)]
    pairs = marks._pairs(exposure, ids)
    assert len(pairs) == 2 * marks.MAX_PAIRS
    assert len(set(pairs)) == len(pairs)
    assert pairs[:2] == (ids[0], ids[n // 2])


@pytest.mark.parametrize(
    ("name", "part"), [("timm:resnet50.a1_in1k", "timm_resnet50_a1_in1k"), ("$é", "unnamed"), ("a b", "a_b")]
)
def test_names_become_field_names(name, part):
    assert marks.field_part(name) == part


# Repair


def test_a_repair_is_written_beside_an_audit_and_undone_alone(blood, audited):
    dataset.write_audit(blood, audited)
    before, dataset_before = documents(blood), dataset_document(blood)
    found = repair(blood, group_field="patient", freeze="test", write=True)
    partition = blood.values("hsd_repaired")
    assert partition == found.repair.plan.partition.tolist()
    places = {}
    for part, patient in zip(partition, blood.values("patient"), strict=True):
        places.setdefault(patient, set()).update({part} - {"unused"})
    assert max(map(len, places.values())) == 1
    tags = blood.count_sample_tags()
    assert {t: n for t, n in tags.items() if t.startswith("hsd:repaired:") and t.split(":")[2] in set(partition)} == {
        f"hsd:repaired:{p}": n for p, n in Counter(partition).items()
    }
    assert tags["hsd:repaired:set-aside"] == found.repair.set_aside > 0
    assert len(blood.load_saved_view("hsd-repaired-set-aside")) == found.repair.set_aside
    assert not any(blood.values("hsd_repaired_exposed"))
    repair(blood, group_field="patient", write=True)  # a second one replaces the first
    dataset.undo(blood, what="repair")
    assert documents(blood) == before
    assert dataset_document(blood) == dataset_before
    with pytest.raises(InputError, match="holds no repair"):
        dataset.undo(blood, what="repair")
    assert dataset.undo(blood).samples == len(blood)


def test_a_stale_or_changed_repair_is_refused(blood, capsys):
    done = repair(blood, group_field="patient", write=True)
    blood.limit(1).set_values("hsd_repaired", ["elsewhere"])
    with pytest.raises(StaleError, match="changed since"):
        dataset.undo(blood, what="repair")
    with pytest.raises(SystemExit):
        cli.main(["undo", f"fiftyone:{blood.name}", "--what", "repair", "--force"])
    assert f"{len(blood)} samples" in capsys.readouterr().out
    assert "hsd_repaired" not in blood.get_field_schema()
    blood.delete_samples(blood.limit(1))
    with pytest.raises(StaleError, match="1 removed"):
        dataset.write_repair(blood, done.report, done.repair, done.after)


def test_the_source_of_a_ladder_may_be_a_field(blood):
    blood.set_values("site_of_scan", [f"s{i % 2}" for i in range(len(blood))])
    found = ladder(blood, group_field="patient", source="site_of_scan", seeds=1)
    assert set(found.samples.column("site_of_scan")) == {"s0", "s1"}
    with pytest.raises(FieldError):
        ladder(blood, group_field="patient", source="nowhere", seeds=1)


# Release


def test_a_release_of_a_dataset_holds_neither_ids_nor_paths(blood, tmp_path):
    audit(blood, group_field="patient", seeds=1, models=(), out=tmp_path / "out")
    release = export(tmp_path / "out", tmp_path / "release")
    data = b"".join(p.read_bytes() for p in release.rglob("*") if p.is_file())
    ids, paths = blood.values(["id", "filepath"])
    for word in (*ids, *paths, *(Path(p).name for p in paths), *(Path(p).stem for p in paths), blood.name):
        assert word.encode() not in data
    root = Path(paths[0]).parents[2]
    key = tmp_path / "out" / ".hsd" / "alias_key.json"
    assert verify(release, images=root, key=key).holds
