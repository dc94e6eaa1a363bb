"""Label errors in FiftyOne: fields, tags and views, beside those of an audit, and out again."""

from __future__ import annotations

import dataclasses
import importlib.util
import warnings

import numpy as np
import pytest

from fiftyone_hsd import audit, dataset, labels
from fiftyone_hsd.dataset.label_marks import label_marks
from fiftyone_hsd.errors import InputError, StaleError
from fiftyone_hsd.model import LabelIssues

pytestmark = pytest.mark.mongod


@pytest.fixture
def fo(mongod):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import fiftyone

        fiftyone.list_datasets()
    return fiftyone


@pytest.fixture
def blood(fo, small_corpus):
    found = fo.Dataset()
    paths = sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())[:40]
    found.add_samples(
        [
            fo.Sample(filepath=str(p), tags=["mine"], truth=fo.Classification(label=p.parent.name), patient=p.name[:5])
            for p in paths
        ]
    )
    yield found
    found.delete()


@pytest.fixture
def report(blood):
    """An audit with label results made by hand: what is tested is the writing."""
    whole = audit(blood, group_field="patient", seeds=1, models=("nearest_neighbour",))
    n = len(whole.samples)
    mechanism = np.full(n, "", "<U21")
    mechanism[[3, 4, 9]] = ["group-wide", "group-wide", "cross-class duplicate"]
    score = np.where(np.arange(n) == 5, np.nan, 0.25)
    none = np.zeros(n, bool)
    suggested = np.where(np.arange(n) == 3, 0, -1)
    likely = np.arange(n) == 4
    issues = LabelIssues("linear_probe", mechanism, suggested, score, none, none, score, score, likely=likely)
    return dataclasses.replace(whole, label_results=(issues,))


def documents(found):
    return [
        {k: v for k, v in document.items() if k != "last_modified_at"} for document in found._sample_collection.find({})
    ]


def test_fields_tags_and_views_come_and_go_beside_an_audit(blood, report):
    before = documents(blood)
    dataset.write_audit(blood, report)
    audited = documents(blood)
    written = dataset.write_labels(blood, report)
    assert written.fields == ("hsd_label_issue", "hsd_label_suggested", "hsd_label_score")
    values = blood.values("hsd_label_issue")
    assert [i for i, v in enumerate(values) if v] == [3, 4, 9]
    assert values[9] == "cross-class duplicate"
    assert blood.values("hsd_label_suggested")[3] == report.samples.classes[0]
    assert blood.values("hsd_label_score")[4:6] == [0.25, None]
    assert blood.load_saved_view("hsd-label-likely").values("id") == [report.samples.ids[4]]
    assert set(written.views) == {
        "hsd-label-issues",
        "hsd-label-likely",
        "hsd-label-group-wide",
        "hsd-label-cross-class-duplicate",
    }
    assert len(blood.load_saved_view("hsd-label-issues")) == 3
    assert len(blood.load_saved_view("hsd-label-group-wide")) == 2
    assert dataset.stored(blood, "labels") is not None
    assert dataset.write_labels(blood, report) == written  # a second time replaces, not adds
    dataset.undo(blood, what="labels")
    assert documents(blood) == audited
    assert "hsd-groups" in blood.list_saved_views()
    assert not any("label" in v for v in blood.list_saved_views())
    dataset.undo(blood)
    assert documents(blood) == before


@pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")
def test_what_labels_finds_in_a_view_is_written_to_it(blood):
    view = blood.take(30, seed=0)
    found = labels(view, group_field="patient", model="nearest_neighbour", folds=3, seeds=1)
    written = dataset.write_labels(view, found)
    assert written.samples == 30
    flagged = found.label_results[0].flagged
    assert blood.count("hsd_label_issue") == int(flagged.sum())
    dataset.undo(blood, what="labels")
    with pytest.raises(StaleError, match="since the audit 10 samples were added"):
        dataset.write_labels(blood, found)


def test_what_somebody_changed_is_not_lost_unasked(blood, report):
    dataset.write_labels(blood, report)
    blood.set_values("hsd_label_issue", ["looked at"] * len(blood))
    with pytest.raises(StaleError, match="changed since"):
        dataset.undo(blood, what="labels")
    dataset.undo(blood, what="labels", force=True)
    assert "hsd_label_issue" not in blood.get_field_schema()
    with pytest.raises(InputError, match="holds no labels"):
        dataset.undo(blood, what="labels")


def test_no_issues_leave_a_field_and_no_view(blood, report):
    (issues,) = report.label_results
    nothing = np.full(len(report.samples), "", "<U1")
    none = dataclasses.replace(issues, mechanism=nothing, likely=np.zeros(len(nothing), bool))
    assert label_marks(dataclasses.replace(report, label_results=(none,))).views == ()
    with pytest.raises(InputError, match="no label results"):
        dataset.write_labels(blood, dataclasses.replace(report, label_results=()))
