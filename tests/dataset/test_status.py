"""A dataset says what is going on with it: nothing, a run, a failure, an interruption, a stored or a stale audit."""

from __future__ import annotations

import importlib

import pytest

from fiftyone_hsd import audit, dataset, repair
from fiftyone_hsd.dataset import Status
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.store import from_bytes, to_bytes

pytestmark = pytest.mark.mongod


@pytest.fixture
def marked(blood):
    dataset.write_audit(blood, audit(blood, group_field="patient", seeds=1, models=("nearest_neighbour",)))
    return blood


def test_a_run_is_seen_while_it_lasts_and_only_then(blood):
    assert dataset.status(blood).kind == "none"
    told = []
    with dataset.running(blood, "HSD: audit", lambda *state: told.append(state)) as tell:
        found = dataset.status(blood)
        assert (found.kind, found.share) == ("running", None)
        assert "HSD: audit" in found.words
        tell(3, 4, "training")
    assert told == [(0, 0, "starting"), (3, 4, "training")]
    assert dataset.status(blood).kind == "none"


def test_a_failure_keeps_its_words_until_the_next_run(blood):
    with pytest.raises(ValueError, match="no disk"), dataset.running(blood, "HSD: audit"):
        raise ValueError("no disk")
    found = dataset.status(blood)
    assert found.kind == "failed"
    assert "no disk" in found.words
    with dataset.running(blood, "HSD: audit"):
        pass
    assert dataset.status(blood).kind == "none"


def test_a_run_without_a_sign_of_life_was_interrupted(blood, monkeypatch):
    # The name of the module is also that of its verb.
    monkeypatch.setattr(importlib.import_module("fiftyone_hsd.dataset.status"), "SILENT", 0.0)
    with dataset.running(blood, "HSD: audit"):
        assert dataset.status(blood).kind == "interrupted"


def test_a_stored_audit_is_shown_also_while_another_runs_or_failed(marked):
    assert dataset.status(marked).kind == "stored"
    with pytest.raises(ValueError, match="x"), dataset.running(marked, "HSD: audit"):
        raise ValueError("x")
    found = dataset.status(marked)
    assert found.kind == "stored"
    assert "failed" in found.words


def test_changes_since_the_audit_are_counted(marked, fo):
    assert dataset.changed_since(marked) == ""
    marked.add_samples([fo.Sample(filepath=f"/nowhere/{i}.png") for i in range(3)])
    assert dataset.changed_since(marked) == "3 added"
    marked.delete_samples(marked.limit(2).values("id"))
    view = marked.limit(1)
    view.set_values("ground_truth.label", ["other"])
    assert dataset.changed_since(marked) == "3 added, 2 removed, 1 changed (labels, tags or other fields)"


def test_marks_of_our_own_are_no_changes(marked):
    repair(marked, group_field="patient", write=True)
    assert dataset.changed_since(marked) == ""
    dataset.undo(marked, what="repair")
    assert dataset.changed_since(marked) == ""
    marked.limit(1).set_values("ground_truth.label", ["other"])
    assert dataset.changed_since(marked) == "1 changed (labels, tags or other fields)"


def test_marks_of_our_own_hide_no_earlier_change(marked):
    marked.delete_samples(marked.limit(3).values("id"))
    marked.limit(5).set_values("ground_truth.label", ["other"] * 5)
    assert dataset.changed_since(marked) == "3 removed, 5 changed (labels, tags or other fields)"
    one, *others = zip(*marked.skip(5).values(["id", "hsd_group"]), strict=True)
    other = next(name for name, group in others if group != one[1])
    assert dataset.add_verdict(marked, one[0], other, "same", "ann") > 0
    assert dataset.changed_since(marked).startswith("3 removed, ")
    repair(marked, group_field="patient", write=True)
    assert dataset.changed_since(marked).startswith("3 removed, ")
    dataset.undo(marked, what="repair")
    assert dataset.changed_since(marked).startswith("3 removed, ")


def test_a_copy_of_an_audited_dataset_says_so(marked):
    copy = marked.clone()
    assert dataset.changed_since(copy) == "this is a copy of an audited dataset: run HSD: audit"
    assert dataset.stale(copy) == f"Stale: {dataset.changed_since(copy)}"
    copy.delete()
    assert dataset.stale(marked) == ""


def test_fields_without_their_record_and_a_record_without_its_fields_are_said(marked):
    marked.delete_sample_fields(["hsd_exposed", "hsd_group_size"])
    assert "2 of its fields deleted" in dataset.changed_since(marked)
    assert dataset.stale(marked).startswith("Stale: since the audit of this dataset ")
    assert dataset.unrecorded(marked) == ""
    marked.delete_runs()
    assert dataset.changed_since(marked) == ""
    with pytest.raises(InputError, match=r"hsd_\w+, .* exist without a record"):
        dataset.undo(marked)


def test_two_datasets_do_not_speak_of_each_other(marked, fo):
    other = fo.Dataset()
    with dataset.running(other, "HSD: audit"):
        assert dataset.status(marked) == Status("stored")
        assert dataset.status(other).kind == "running"
    assert dataset.stored_overview(other) is None
    other.delete()


def test_the_whole_report_comes_back(blood):
    assert dataset.stored_report(blood) is None
    report = audit(blood, group_field="patient", seeds=1, models=("nearest_neighbour",))
    dataset.write_audit(blood, report)
    again = dataset.stored_report(blood)
    assert again.verdict == report.verdict
    assert [p.digest for p in again.plans] == [p.digest for p in report.plans]
    assert [str(e) for e in again.effects] == [str(e) for e in report.effects]
    assert dataset.stored_overview(blood)["verdict"] == report.verdict
    dataset.undo(blood)
    assert blood.list_runs() == []
    assert dataset.stored_overview(blood) is None


def test_a_noun_survives_as_bytes(blood):
    from fiftyone_hsd.model import Note

    note = Note("info", "a", "b", 3, ("x",))
    assert from_bytes(to_bytes(note), Note) == note
