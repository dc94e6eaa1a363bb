"""A training grid in FiftyOne: predictions, evaluation runs, the panel's value; beside an audit, and out again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd import audit, dataset, train
from fiftyone_hsd.dataset.training_marks import readouts, training_marks, training_overview
from fiftyone_hsd.errors import InputError, StaleError
from fiftyone_hsd.model import RunRecord

MODELS = ("nearest_neighbour", "linear_probe")


@pytest.fixture(scope="module")
def trained(report, tmp_path_factory):
    """The audit of the drawn corpus, trained on: both cheap models again, under the endpoints."""
    return train(report, out=tmp_path_factory.mktemp("trained"), models=MODELS, conditions="endpoints", seeds=1)


def documents(found):
    return [{k: v for k, v in d.items() if k != "last_modified_at"} for d in found._sample_collection.find({})]


def test_an_audits_own_runs_are_no_training_and_its_fields_are_left_alone(report, trained):
    assert readouts(report) == []
    assert training_marks(report, []).columns == ()
    found = readouts(trained, taken={"hsd_intact_pred_linear_probe_trained"})
    names = [(r.plan.condition, r.predicted) for r in found]
    assert ("intact", "hsd_intact_pred_linear_probe_trained_2") in names
    assert ("random", "hsd_random_pred_linear_probe_trained") in names
    assert {r.plan.condition for r in found} == {"existing", "intact", "random"}
    every = [n for r in found for n in (r.predicted, r.evaluation)] + list({r.tested for r in found})
    assert len(every) == len(set(every))


def test_a_name_that_leads_home_stays_there(report):
    model = "timm:a@/home/somebody/weights.pt"
    run = report.runs[0]
    mine = dataclasses.replace(run, config=dataclasses.replace(run.config, model=model))
    record = RunRecord(model, run.condition, run.seed, "done", 1.0, 2.0, "d")
    found = readouts(dataclasses.replace(report, runs=(*report.runs, mine), run_records=(record,)))
    assert [r.predicted for r in found] == [f"hsd_{run.condition}_pred_timm_a_weights_pt"]


def test_counts_are_those_of_the_images(report, trained):
    found = readouts(trained)
    value = training_overview(trained, found)
    assert (value["total"], value["failures"]) == (6, 0)
    assert [(r["model"], r["condition"], r["done"]) for r in value["runs"]][:2] == [
        ("1 nearest neighbour", "existing", 1),
        ("1 nearest neighbour", "intact", 1),
    ]
    assert [m["model"] for m in value["ladder"]["models"]] == list(MODELS)
    swap = {e.model: e for e in trained.effects if e.what == "matched_swap"}
    assert [(m["effect"][0], m["pairs"]) for m in value["matched"]] == [(e.estimate, e.n) for e in swap.values()]
    assert len(swap) == 2
    one = next(t for t in value["tested"] if (t["model"], t["condition"]) == ("linear_probe", "random"))
    plan, exposure = trained.plan("random", 0), trained.exposures[list(trained.plans).index(trained.plan("random", 0))]
    run = next(r for r in trained.runs if (r.config.model, r.condition, r.seed) == ("linear_probe", "random", 0))
    right = dict(zip(run.rows.tolist(), (run.predicted == trained.samples.labels[run.rows]).tolist(), strict=True))
    test = np.flatnonzero(plan.partition == "test").tolist()
    exposed = [right[i] for i in test if exposure.exposed[i]]
    assert one["exposed"] == [sum(exposed), len(exposed)]
    assert one["exposed"][1] + one["unexposed"][1] == len(test)


def test_failed_runs_are_told_with_their_reasons(trained):
    bad = RunRecord("resnet50", "intact", 0, "failed", 0.0, float("nan"), "d", "out of memory <b>")
    value = training_overview(dataclasses.replace(trained, run_records=(*trained.run_records, bad)), [])
    assert (value["failures"], value["failed"][0]["reason"]) == (1, "out of memory <b>")
    assert value["runs"][-1]["memory"] is None
    assert value["runs"][-1]["done"] == 0


@pytest.mark.mongod
def test_predictions_and_evaluation_runs_come_and_go_beside_an_audit(blood, tmp_path):
    before = documents(blood)
    report = audit(blood, group_field="patient", seeds=1, models=("linear_probe",))
    dataset.write_audit(blood, report)
    audited, views = documents(blood), blood.list_saved_views()
    trained = train(report, out=tmp_path, models=MODELS, conditions="endpoints", seeds=1)
    written = dataset.write_training(blood, trained)
    assert len(written.evaluations) == 6
    assert "hsd_random_pred_linear_probe_trained" in written.fields
    plan = trained.plan("random", 0)
    rows = np.flatnonzero(plan.partition == "test")
    run = next(r for r in trained.runs if (r.config.model, r.condition) == ("nearest_neighbour", "random"))
    expected = np.isin(run.rows, rows)
    accuracy = float((run.predicted == trained.samples.labels[run.rows])[expected].mean())
    results = blood.load_evaluation_results("hsd_random_nearest_neighbour")
    assert results.metrics()["accuracy"] == pytest.approx(accuracy)
    assert len(results.ytrue) == len(rows)
    assert blood.count("hsd_random_nearest_neighbour") == len(rows) == blood.count("hsd_trained_random")
    names = [trained.samples.classes[c] for c in run.predicted.tolist()]
    labels = dict(zip(*blood.values(["id", "hsd_random_pred_nearest_neighbour_trained.label"]), strict=True))
    assert [labels[trained.samples.ids[r]] for r in run.rows.tolist()] == names
    value = dataset.stored_overview(blood)["training"]
    assert value["tested"][0]["fields"]["tested"] == "hsd_trained_existing"
    assert dataset.changed_since(blood) == ""
    assert dataset.write_training(blood, trained) == written  # a second time replaces, not adds
    removed = dataset.undo(blood, what="training")
    assert removed.evaluations == written.evaluations
    assert blood.list_evaluations() == []
    assert documents(blood) == audited
    assert blood.list_saved_views() == views
    dataset.write_training(blood, trained)
    dataset.write_audit(blood, audit(blood, group_field="patient", seeds=1, models=MODELS))  # no name is in its way
    dataset.undo(blood, what="training")
    dataset.undo(blood)
    assert documents(blood) == before
    assert not [n for n in blood.get_field_schema() if n.startswith("hsd_")]


@pytest.mark.mongod
def test_what_others_own_or_changed_is_not_lost_unasked(blood, tmp_path):
    report = audit(blood, group_field="patient", seeds=1, models=())
    with pytest.raises(InputError, match="no training runs"):
        dataset.write_training(blood, report)
    trained = train(report, out=tmp_path, models=("nearest_neighbour",), conditions="random", seeds=1)
    key = "hsd_random_nearest_neighbour"
    blood.evaluate_classifications("ground_truth", gt_field="ground_truth", eval_key=key)
    with pytest.raises(StaleError, match=f"{key} would be overwritten"):
        dataset.write_training(blood, trained)
    blood.delete_evaluation(key)
    dataset.write_training(blood, trained)
    blood.delete_evaluation(key)
    with pytest.raises(StaleError, match="changed since"):
        dataset.undo(blood, what="training")
    dataset.undo(blood, what="training", force=True)
    assert not [n for n in blood.get_field_schema() if n.startswith("hsd_")]
