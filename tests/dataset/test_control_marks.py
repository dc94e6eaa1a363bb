"""Controls in FiftyOne: marks beside those of an audit, out again, and what the panel reads of them."""

from __future__ import annotations

import base64
import dataclasses
import io
import json

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd import audit, controls, dataset
from fiftyone_hsd.control_experiments import given_away
from fiftyone_hsd.dataset.control_marks import control_marks
from fiftyone_hsd.dataset.control_overview import control_overview
from fiftyone_hsd.errors import InputError, StaleError
from fiftyone_hsd.model import Note

ASKED = ("full_picture", "background_crop", "eight_pixels", "constant", "mean_colour", "objects_background")


@pytest.fixture(scope="module")
def cued(tinted_corpus):
    """Controls of a corpus whose ground tells the classes apart."""
    pattern = r"/(?P<group>p\d+)_"
    options = {"size": "8x8", "seeds": 2, "object_pixels": 20, "object_side": 12}
    return controls(tinted_corpus / "images", pattern=pattern, control=ASKED, **options)


@pytest.fixture(scope="module")
def fair(cued):
    """The same with labels dealt anew to patients: nothing can be read."""
    code = np.random.default_rng(3).permutation(40) % 2
    labels = code[np.array([int(i.rpartition("/")[2][1:3]) for i in cued.samples.ids])]
    blank = dataclasses.replace(cued, samples=dataclasses.replace(cued.samples, labels=labels), control_results=())
    blank = dataclasses.replace(blank, control_runs=(), control_sheets=(), notes=())
    return controls(blank, control=("background_crop", "eight_pixels"), size="8x8", seeds=2)


@pytest.fixture
def tinted(fo, tinted_corpus):
    found = fo.Dataset()
    paths = sorted((tinted_corpus / "images").rglob("*.png"))
    found.add_samples(
        [
            fo.Sample(filepath=str(p), truth=fo.Classification(label=p.parent.name), patient=p.name[:3], tags=["mine"])
            for p in paths
        ]
    )
    yield found
    found.delete()


def by_name(marks):
    return {c.name: c.values for c in marks.columns}


def test_marks_are_the_images_that_each_control_gives_away(cued):
    marks = control_marks(cued)
    columns, tags = by_name(marks), {t.tag: t.rows.tolist() for t in marks.tags}
    crop, pixels = (given_away(cued, c).tolist() for c in ("background_crop", "eight_pixels"))
    assert tags["hsd:background-crop:gives-class-away"] == crop != []
    assert tags["hsd:eight-pixels:gives-class-away"] == pixels != []
    assert tags["hsd:background:gives-class-away"] == sorted({*crop, *pixels})
    assert "hsd:constant:gives-class-away" not in tags
    said = columns["hsd_given_away"]
    assert [i for i, s in enumerate(said) if s and "background_crop" in s.split(", ")] == crop
    assert not {"hsd_control_full_picture", "hsd_control_mean_colour"} & set(columns)
    predicted = columns["hsd_control_background_crop"]
    classes = cued.samples.classes
    assert all(predicted[r][0] == classes[cued.samples.labels[r]] for r in crop)
    tested = {int(r) for run in cued.control_runs for r in run.rows}
    assert {i for i, v in enumerate(predicted) if v} <= tested
    assert all(0 <= v[1] <= 1 for v in predicted if v)


def test_where_nothing_can_be_read_nothing_is_tagged(fair):
    marks = control_marks(fair)
    assert marks.tags == marks.views == ()
    assert set(by_name(marks)["hsd_given_away"]) == {None}
    shown = control_overview(fair)
    assert {c["given_away"] for c in shown["controls"]} == {0}
    assert {c["verdict"]["level"] for c in shown["controls"]} == {"info"}


def test_the_overview_says_what_the_results_say(cued):
    shown = control_overview(cued, label="truth.label")
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert [c["control"] for c in shown["controls"]] == [
        "full_picture", "background_crop", "eight_pixels", "constant", "objects_background", "mean_colour"
    ]  # fmt: skip
    one = {c["control"]: c for c in shown["controls"]}
    crop = one["background_crop"]
    assert crop["verdict"]["level"] == "warning"
    assert crop["verdict"]["text"].startswith("classes differ in acquisition")
    assert crop["given_away"] == len(given_away(cued))
    assert one["constant"]["verdict"]["level"] != "warning"
    assert one["mean_colour"]["given_away"] is None
    assert (crop["without_object"], one["mean_colour"]["without_object"]) == (True, False)
    for model in crop["models"]:
        scores = {
            (c.control, c.effect.condition): [c.effect.estimate, c.effect.low, c.effect.high]
            for c in cued.control_results
            if (c.effect.what, c.effect.metric, c.effect.model) == ("score", "balanced_accuracy", model["model"])
            if c.effect.seed is None
        }
        for condition in ("intact", "random"):
            assert model[condition] == pytest.approx(scores["background_crop", condition])
            assert model[f"whole_{condition}"] == pytest.approx(scores["full_picture", condition])
        assert model["chance"] == 0.5
        assert model["fingerprint"][0] == pytest.approx(model["random"][0] - model["intact"][0])
    inner = one["objects_background"]["models"][0]
    assert inner["whole_intact"] is not None
    assert inner["inflation"] is not None


def test_a_sheet_is_one_picture_of_the_crops(cued):
    sheet = next(s for s in cued.control_sheets if s.control == "background_crop")
    shown = next(c for c in control_overview(cued)["controls"] if c["control"] == "background_crop")["sheets"][0]
    assert [c["id"] for c in shown["cells"]] == [cued.samples.ids[r] for r in sheet.rows]
    head, _, data = shown["uri"].partition(",")
    assert head == "data:image/jpeg;base64"
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))), np.float64)
    h, w = sheet.pictures.shape[1:3]
    assert picture.shape[:2] == (shown["rows"] * h, shown["columns"] * w)
    k = len(sheet.rows) - 1
    y, x = divmod(k, shown["columns"])
    part = picture[y * h : (y + 1) * h, x * w : (x + 1) * w]
    assert abs(part.mean() - sheet.pictures[k].mean()) < 3


def test_what_was_not_evaluated_has_words(cued):
    note = Note("not evaluated", "control: session_split", "session split: no column of sessions. Give one")
    found = dataclasses.replace(cued, control_results=(), control_runs=(), control_sheets=(), notes=(note,))
    (only,) = control_overview(found)["controls"]
    assert only["verdict"] == {"level": "not evaluated", "text": "not evaluated: no column of sessions"}
    assert only["models"] == only["sheets"] == []


@pytest.mark.mongod
def test_marks_come_and_go_beside_an_audit(tinted, fo):
    def documents():
        return [{k: v for k, v in d.items() if k != "last_modified_at"} for d in tinted._sample_collection.find({})]

    before = documents()
    whole = audit(tinted, group_field="patient", seeds=1, models=("nearest_neighbour",))
    dataset.write_audit(tinted, whole)
    audited = documents()
    report = controls(whole, control=("background_crop", "constant"), size="8x8", seeds=2)
    assert report.verdict == whole.verdict
    written = dataset.write_controls(tinted, report)
    assert written.views == ("hsd-background-gives-class-away", "hsd-background-crop-gives-class-away")
    ids = [report.samples.ids[r] for r in given_away(report)]
    assert tinted.load_saved_view(written.views[0]).values("id") == ids != []
    assert len(tinted.exists("hsd_given_away")) == len(ids)
    label = tinted.exists("hsd_control_background_crop").first().hsd_control_background_crop
    assert isinstance(label, fo.Classification)
    shown = dataset.stored_overview(tinted)["controls"]
    assert shown["views"] == list(written.views)
    assert shown["label"] == "truth.label"
    assert dataset.write_controls(tinted, report) == written
    dataset.undo(tinted, what="controls")
    assert documents() == audited
    dataset.undo(tinted)
    assert documents() == before


@pytest.mark.mongod
def test_controls_of_a_view_without_an_audit(tinted, fo):
    tinted.add_sample_field("other", fo.EmbeddedDocumentField, embedded_doc_type=fo.Classification)
    view = tinted.take(40, seed=0)
    report = controls(view, label_field="truth", group_field="patient", control="constant", seeds=1)
    written = dataset.write_controls(view, report)
    assert (written.samples, written.tags) == (40, ())
    assert dataset.stored_overview(tinted) is None
    assert set(dataset.stored_findings(tinted)) == {"controls"}
    view.limit(1).set_values("truth.label", ["class 9"])
    with pytest.raises(StaleError, match="labels of 1 samples changed"):
        dataset.write_controls(view, report)
    with pytest.raises(InputError, match="no control experiments"):
        dataset.write_controls(view, dataclasses.replace(report, control_results=(), notes=()))
