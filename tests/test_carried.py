"""An audit that is run again keeps what other verbs found, if it speaks of the same, and says what it left out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fiftyone_hsd as hsd
from fiftyone_hsd.carried import carried_over
from fiftyone_hsd.drawn import PATTERN
from fiftyone_hsd.model import ControlResult, LabelIssues, Note, RunRecord, TrainConfig
from fiftyone_hsd.report.stored import load_report

QUICK = {"pattern": PATTERN, "models": ("nearest_neighbour",), "seeds": 2}


@pytest.fixture(scope="module")
def report(small_corpus):
    return hsd.audit(small_corpus / "images", **QUICK)


@pytest.fixture(scope="module")
def full(report):
    """The audit with results of every other verb, by hand: one trained run is right about everything."""
    n = len(report.samples)
    none, half = np.zeros(n, bool), np.full(n, 0.5)
    issues = LabelIssues("linear_probe", np.full(n, ""), np.full(n, -1), half, none, none, half, half)
    control = ControlResult("constant", "grey", 0.5, report.effects[0])
    runs, records = [], []
    for run in report.runs:
        if run.condition in ("intact", "random"):
            sure = np.eye(len(report.samples.classes), dtype=np.float32)[report.samples.labels[run.rows]]
            runs.append(dataclasses.replace(run, config=TrainConfig("resnet50", run.seed), probabilities=sure))
            records.append(RunRecord("resnet50", run.condition, run.seed, "done", 1.0, 0.0, ""))
    notes = (Note("warning", "control: constant", "a reading"), Note("info", "audit", "not ours"))
    return dataclasses.replace(
        report,
        label_results=(issues,),
        control_results=(control,),
        runs=(*report.runs, *runs),
        run_records=tuple(records),
        notes=(*report.notes, *notes),
        settings={**report.settings, "control_seeds": 3, "training": ["hsd train"]},
    )


def test_everything_stays_where_the_same_is_audited_again(report, full):
    kept = carried_over(report, full)
    assert kept.label_results == full.label_results
    assert kept.control_results == full.control_results
    assert [n for n in kept.notes if n not in report.notes] == [Note("warning", "control: constant", "a reading")]
    assert (kept.settings["control_seeds"], kept.settings["training"]) == (3, ["hsd train"])
    assert len(kept.runs) == len(full.runs)
    (score,) = (
        e
        for e in kept.effects
        if (e.what, e.model, e.condition, e.metric, e.seed) == ("score", "resnet50", "intact", "accuracy", None)
        if not e.class_name and e.partition == "test"
    )
    assert score.estimate == 1.0
    assert {e.model for e in report.effects} < {e.model for e in kept.effects}


def test_without_an_earlier_report_nothing_changes(report):
    assert carried_over(report, None) is report
    assert carried_over(report, report) is report


@pytest.mark.parametrize("what", ["images", "labels", "groups"])
def test_what_speaks_of_something_else_is_left_out_and_named(report, full, what):
    samples, grouping, scan = full.samples, full.grouping, full.scan
    if what == "images":
        scan = dataclasses.replace(scan, content=("0" * 64, *scan.content[1:]))
    elif what == "labels":
        samples = dataclasses.replace(samples, labels=np.roll(samples.labels, 1))
    else:
        grouping = dataclasses.replace(grouping, codes=np.arange(len(samples)))
    kept = carried_over(report, dataclasses.replace(full, samples=samples, grouping=grouping, scan=scan))
    assert (kept.label_results, kept.control_results, kept.run_records) == ((), (), ())
    (note,) = (n for n in kept.notes if n.topic == "earlier results")
    assert note.text.startswith("label results and control results and trained runs of the earlier report spoke of")
    assert f"other {what} " in note.text


def test_a_run_whose_split_is_gone_goes_with_it(small_corpus, full):
    fewer = hsd.audit(small_corpus / "images", **{**QUICK, "seeds": 1})
    kept = carried_over(fewer, full)
    assert {(r.condition, r.seed) for r in kept.run_records} == {("intact", 0), ("random", 0)}
    assert {r.seed for r in kept.runs} == {0}
    assert any("2 trained runs were left out" in n.text for n in kept.notes)


def test_the_folder_of_an_audit_keeps_its_controls_and_its_training(tmp_path, small_corpus):
    asked = {"labels": None, "pattern": PATTERN}
    hsd.audit(small_corpus / "images", out=tmp_path, **QUICK)
    hsd.controls(small_corpus / "images", out=tmp_path, control="constant", seeds=1, **asked)
    lines = (tmp_path / "controls.csv").read_text()
    hsd.train(small_corpus / "images", out=tmp_path, models=("linear_probe",), conditions="endpoints")
    trained = load_report(tmp_path)
    assert any(n.topic == "control: constant" for n in trained.notes)
    assert trained.settings["control_seeds"] == 1
    hsd.audit(small_corpus / "images", out=tmp_path, **QUICK)
    assert (tmp_path / "controls.csv").read_text() == lines
    assert {r.model for r in load_report(tmp_path).run_records} == {"linear_probe"}
    assert any(n.topic == "control: constant" for n in load_report(tmp_path).notes)
    assert "Control experiments" in (tmp_path / "report.html").read_text()
