"""Training as a verb: an audit in the folder stays, what failed is named, both readouts are kept apart."""

from __future__ import annotations

import csv
import dataclasses
import html
import importlib.util
import re

import numpy as np
import pytest

import fiftyone_hsd
from fiftyone_hsd import audit, effects, train
from fiftyone_hsd.errors import FieldError, InfeasibleError, InputError, PathError, StaleError
from fiftyone_hsd.matched_swap import EFFECT
from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.release.aliasing import aliased
from fiftyone_hsd.train_inputs import chosen, merged, outlook

FRACTIONS = {"train": 0.6, "val": 0.2, "test": 0.2}


@pytest.fixture(scope="module")
def audited(small_corpus, tmp_path_factory):
    """An audit with known groups: (images, folder, report)."""
    out = tmp_path_factory.mktemp("audited")
    images = small_corpus / "images"
    how = {"groups": small_corpus / "truth.csv", "seeds": 2, "fractions": FRACTIONS}
    return images, out, audit(images, out=out, models=("nearest_neighbour",), **how)


def table(folder, name="runs.csv"):
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def pooled(report: AuditReport, what: str, condition: str) -> dict[str, float]:
    return {
        e.model: e.estimate
        for e in report.effects
        if (e.what, e.condition, e.metric, e.seed, e.class_name) == (what, condition, "accuracy", None, "")
    }


def test_the_verbs_are_functions():
    assert callable(fiftyone_hsd.train)
    assert callable(fiftyone_hsd.effects)


def test_an_audit_in_the_folder_keeps_its_groups_and_its_runs(audited):
    images, out, before = audited
    report = train(images, out=out, models=("linear_probe",), conditions="endpoints", seeds=1)
    assert np.array_equal(report.grouping.codes, before.grouping.codes)
    assert [p.digest for p in report.plans] == [p.digest for p in before.plans]
    kept = {(r.condition, r.seed): r.probabilities for r in before.runs}
    mine = {(r.condition, r.seed): r.probabilities for r in report.runs if r.config.model == "nearest_neighbour"}
    assert kept.keys() == mine.keys()
    assert all(np.array_equal(kept[k], mine[k]) for k in kept)
    trained = [(r.condition, r.seed) for r in report.runs if r.config.model == "linear_probe"]
    assert trained == [("existing", 0), ("intact", 0), ("random", 0)]
    assert pooled(report, "inflation", "random").keys() == {"nearest_neighbour", "linear_probe"}
    rows = table(out)
    assert list(rows[0])[:7] == ["model", "condition", "seed", "status", "seconds", "peak_memory", "digest"]
    assert {r["status"] for r in rows} == {"done"}
    assert len(rows) == len(report.runs) == len(before.runs) + 3


def test_what_is_asked_for_beats_what_the_audit_was_asked_for(audited):
    _, _, before = audited
    stored = merged({}, before)
    assert (stored.seeds, dict(stored.fractions), stored.models) == (2, FRACTIONS, ("lite0",))
    assert stored.groups == before.settings["groups"]
    assert merged({"seeds": 5}, before).seeds == 5
    named = merged({"pattern": "(?P<group>.)"}, before)
    assert (named.pattern, named.groups) == ("(?P<group>.)", None)
    assert merged({}, None).seeds == 5


def test_effects_are_computed_anew_from_what_the_folder_holds(audited):
    _, out, _ = audited
    report = effects(out)
    again = effects(out)
    assert [dataclasses.replace(e, p=0) for e in report.effects if np.isfinite(e.low)] == [
        dataclasses.replace(e, p=0) for e in again.effects if np.isfinite(e.low)
    ]
    run = next(r for r in report.runs if (r.config.model, r.condition, r.seed) == ("nearest_neighbour", "random", 0))
    plan = report.plan("random", 0)
    test = plan.partition[run.rows] == "test"
    expected = (run.predicted[test] == report.samples.labels[run.rows][test]).mean()
    scored = [
        e.estimate
        for e in report.effects
        if (e.what, e.model, e.condition, e.metric, e.seed) == ("score", "nearest_neighbour", "random", "accuracy", 0)
    ]
    assert scored == [pytest.approx(expected)]


def test_a_plan_alone_changes_nothing(audited):
    images, out, _ = audited
    before = (out / "report.json").read_bytes()
    rows = []
    train(images, out=out, models=("linear_probe",), conditions="all", dry_run=True, announce=rows.append)
    assert rows == [[]]
    assert (out / "report.json").read_bytes() == before


def test_names_are_checked_before_the_long_work(tmp_path):
    with pytest.raises(FieldError, match="no model 'resnet'"):
        train(tmp_path / "nothing", out=tmp_path, models=("resnet",))
    with pytest.raises(InputError, match="no option stepz"):
        train(tmp_path / "nothing", out=tmp_path, models=("vit",), options={"stepz": 1})
    with pytest.raises(PathError, match="no finished audit"):
        effects(tmp_path)


def test_without_labels_there_is_nothing_to_train(audited, tmp_path):
    images, _, before = audited
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in sorted(p for p in images.rglob("*") if p.is_file())[:12]:
        (flat / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InfeasibleError, match="Allowed: labels, and two or more groups of a class"):
        train(flat, out=tmp_path / "out", models=("linear_probe",), seeds=1)
    one = dataclasses.replace(before.samples, labels=np.zeros(len(before.samples), np.int64))
    with pytest.raises(InfeasibleError, match="two classes in train"):
        outlook(dataclasses.replace(before, samples=one), out=tmp_path, models=("linear_probe",), seeds=1)


def test_conditions_by_name(audited):
    plans = audited[2].plans
    assert {p.condition for p in chosen(plans, "endpoints")} == {"existing", "intact", "random"}
    assert {p.condition for p in chosen(plans, "q25, intact")} == {"q25", "intact"}
    assert len(chosen(plans, "all")) == len(plans)
    with pytest.raises(InputError, match="q50"):
        chosen(plans, "q26")


@pytest.mark.train
def test_a_network_joins_the_audit_with_both_readouts(audited, tiny_weights):
    if importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate not installed")
    images, out, _ = audited
    name = f"timm:test_vit@{tiny_weights}"
    told = []
    report = train(
        images, out=out, models=(name,), conditions="random", seeds=1, announce=told.extend,
        options={"steps": 4, "size": 32, "batch": 8},
    )  # fmt: skip
    assert [(f.model, f.runs, f.left, f.steps) for f in told] == [(name, 1, 1, 4)]
    assert {name, f"{name} (best val)", "nearest_neighbour"} <= pooled(report, "score", "random").keys()
    rows = [r for r in table(out) if r["model"].startswith(name)]
    assert [(r["model"], r["status"], r["condition"]) for r in rows] == [
        (name, "done", "random"),
        (f"{name} (best val)", "done", "random"),
    ]
    assert float(rows[0]["seconds"]) > 0
    assert float(rows[0]["peak_memory"]) > 1 << 20
    assert (out / ".hsd" / "runs" / rows[0]["digest"][:32] / "training" / "log.csv").is_file()
    with np.load(out / "predictions.npz", allow_pickle=False) as file:
        k = file["model"].tolist().index(name.encode())
        run = next(r for r in report.runs if r.config.model == name)
        assert np.array_equal(file[f"probabilities_{k}"], run.probabilities)
        assert [p.decode() for p in file["path"][file[f"rows_{k}"]]] == [report.samples.ids[i] for i in run.rows]
    page = (out / "report.html").read_text("utf-8")
    assert "Training runs and their cost" in page
    shown = re.sub(r"<code>.*?</code>|<h3>Settings</h3>.*?</table>", "", page, flags=re.DOTALL)
    assert str(tiny_weights.parent) not in shown
    assert f"hsd train {images} --models {name} --conditions random --seeds 1" in html.unescape(page)
    released = aliased(report, b"key")
    assert name not in {r.config.model for r in released.runs}
    assert str(tiny_weights.parent) not in repr(
        (released.runs, released.run_records, released.settings, released.notes)
    )


def test_an_audit_at_hand_is_trained_without_reading_anything_again(audited, tmp_path):
    _, _, before = audited
    report = train(before, out=tmp_path, models=("linear_probe",), conditions="endpoints", seeds=1)
    assert [p.digest for p in report.plans] == [p.digest for p in before.plans]
    assert [(r.model, r.condition) for r in report.run_records] == [
        ("linear_probe", c) for c in ("existing", "intact", "random")
    ]
    assert {r.config.model for r in report.runs} == {"nearest_neighbour", "linear_probe"}
    assert np.array_equal(report.exposures[0].nearest_train, before.exposures[0].nearest_train)
    again = train(before, out=tmp_path, models=("nearest_neighbour",), conditions="intact", seeds=1)
    assert {r.model for r in again.run_records} == {"linear_probe", "nearest_neighbour"}
    assert len(again.runs) == len(report.runs)


def test_other_groups_are_other_splits_and_their_old_runs_go(audited, tmp_path):
    _, _, before = audited
    one = dataclasses.replace(before, grouping=before.grouping.with_unknown_as_singletons())
    train(one, out=tmp_path, models=("linear_probe",), conditions="intact", seeds=1)
    alone = np.arange(len(before.samples))
    other = dataclasses.replace(before, grouping=dataclasses.replace(before.grouping, codes=alone))
    report = train(other, out=tmp_path, models=("linear_probe",), conditions="random", seeds=1)
    assert [(r.model, r.condition) for r in report.run_records] == [("linear_probe", "random")]
    assert not any(e.exposed.any() for e in report.exposures)
    changed = dataclasses.replace(before.scan, content=("x", *before.scan.content[1:]))
    with pytest.raises(StaleError, match="1 images changed"):
        train(dataclasses.replace(before, scan=changed), out=tmp_path, models=("linear_probe",))


def test_the_grid_is_known_before_anything_is_done(audited, tmp_path):
    _, _, before = audited
    (row,) = outlook(before, out=tmp_path, models=("linear_probe",), conditions="endpoints", seeds=2)
    assert (row.model, row.runs, row.left) == ("linear_probe", 5, 5)
    (row,) = outlook(before, out=tmp_path / "new", models=("lite0",), seeds=1, options={"steps": 3})
    assert (row.runs, row.left, np.isnan(row.seconds)) == (6, 6, True)
    assert not (tmp_path / "new").exists()
    for models, options, error in (
        (("lite1",), {}, FieldError),
        (("lite0",), {"steps": -1}, InputError),
        (("lite0",), {"lr": float("nan")}, InputError),
        (("lite0",), {"epochs": float("inf")}, InputError),
        (("lite0",), {"lr": -1.0}, InputError),
        (("lite0",), ["steps"], InputError),
        (("linear_probe",), {"steps": 3}, InputError),
        ((), {}, InputError),
    ):
        with pytest.raises(error):
            outlook(before, out=tmp_path, models=models, seeds=1, options=options)
    with pytest.raises(InputError, match="one text"):
        outlook(before, out=tmp_path, models=("linear_probe",), seeds=1, conditions=["intact", "random"])


def test_a_model_named_twice_is_trained_once(audited, tmp_path):
    _, _, before = audited
    report = train(before, out=tmp_path, models=("linear_probe", "linear_probe"), conditions="intact", seeds=1)
    assert [(r.model, r.condition) for r in report.run_records] == [("linear_probe", "intact")]


def test_the_matched_swap_is_trained_on_request_and_told_with_the_rest(audited, tmp_path):
    _, _, before = audited
    how = {"out": tmp_path, "models": ("linear_probe",), "seeds": 1}
    assert EFFECT not in {e.what for e in before.effects if e.model == "linear_probe"}
    report = train(before, conditions="intact,matched", **how)
    assert [(r.condition, r.status) for r in report.run_records] == [
        ("intact", "done"),
        ("matched", "done"),
        ("matched-swapped", "done"),
    ]
    assert {r.condition for r in report.runs if r.config.model == "linear_probe"} == {"intact"}
    models = {e.model: e for e in report.effects if e.what == EFFECT}
    assert list(models) == ["nearest_neighbour", "linear_probe"]  # the audit's own stays
    assert [r["condition"] for r in table(tmp_path) if r["model"] == "linear_probe"] == [
        "intact",
        "matched",
        "matched-swapped",
    ]
    later = train(before, conditions="random", **how)
    assert {e.model: e.estimate for e in later.effects if e.what == EFFECT} == {
        m: e.estimate for m, e in models.items()
    }
    assert len(later.run_records) == 4
    only = train(before, conditions="matched", **{**how, "out": tmp_path / "only"})
    assert [r.condition for r in only.run_records] == ["matched", "matched-swapped"]
