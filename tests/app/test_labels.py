"""HSD: labels by SDK, by form and by a worker, and its tab as data."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd import labels as verb

pytestmark = [
    pytest.mark.mongod,
    pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed"),
]

LABELS = "@fiftyone-hsd/hsd/labels"
QUICK = {"model": "nearest_neighbour", "folds": 3, "seeds": 1}
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"


@pytest.fixture
def operators(fo, downloaded):
    return fo.operators


@pytest.fixture
def copied(fo, make_dataset, tmp_path):
    """The drawn corpus with a copy of one image in another class: (dataset, ids of the two)."""
    found = make_dataset("labels", every=2)
    first = found.first()
    copy = tmp_path / Path(first.filepath).name
    shutil.copy(first.filepath, copy)
    other = next(c for c in sorted(found.distinct("ground_truth.label")) if c != first.ground_truth.label)
    sample = fo.Sample(filepath=str(copy), ground_truth=fo.Classification(label=other), patient=first.patient)
    found.add_sample(sample)
    return found, {first.id, sample.id}


def form(operators, found, params=None, view=None):
    """The entries of the form as the App gets them."""
    operator = operators.get_operator(LABELS)
    request = {"dataset_name": found.name, "params": params or {}}
    if view is not None:
        request["view"] = view._serialize()
    executor = operators.executor.Executor()
    ctx = operators.executor.ExecutionContext(request, executor=executor, operator_uri=LABELS)
    return operator.resolve_input(ctx).to_json()["type"]["properties"]


def test_it_marks_what_the_verb_finds_and_goes_alone(operators, copied):
    found, both = copied
    before = [{k: v for k, v in d.items() if k != "last_modified_at"} for d in found._sample_collection.find({})]
    params = {"group_field": "patient", "checks": ["outlier", "dark"], **QUICK}
    result = operators.execute_operator(LABELS, {"dataset": found}, params=params).result
    assert json.loads(json.dumps(result)) == result
    report = verb(found, group_field="patient", **QUICK)
    issues = report.label_results[0]
    found.reload()
    assert [v or "" for v in found.values("hsd_label_issue")] == issues.mechanism.tolist()
    rows = {r["mechanism"]: r["images"] for r in result["mechanisms"]}
    assert rows["cross-class duplicate"] == 2
    assert sum(rows.values()) == result["flagged"] == int(issues.flagged.sum())
    assert set(found.load_saved_view("hsd-label-cross-class-duplicate").values("id")) == both
    assert any(n.startswith("Datalab's outlier") for n in result["notes"])
    operators.execute_operator("@fiftyone-hsd/hsd/undo", {"dataset": found}, params={"what": "labels"})
    found.reload()
    after = [{k: v for k, v in d.items() if k != "last_modified_at"} for d in found._sample_collection.find({})]
    assert after == before


def test_the_groups_are_those_of_the_stored_audit_after_verdicts(operators, copied):
    found, _both = copied
    report = audit(found, group_field="patient", seeds=1, models=("nearest_neighbour",))
    dataset.write_audit(found, report)
    link = next(i for i in range(len(report.grouping.links)) if report.grouping.links.source[i] == "given")
    a, b = (report.samples.ids[k] for k in (report.grouping.links.a[link], report.grouping.links.b[link]))
    dataset.add_verdict(found, a, b, "different", "ann")
    judged = dataset.groups_after(found)
    assert judged.codes.tolist() != report.grouping.codes.tolist()
    operators.execute_operator(LABELS, {"dataset": found}, params=QUICK)
    expected = verb(dataclasses.replace(report, grouping=judged), **QUICK).label_results[0]
    scores = found.values("hsd_label_score")
    assert [None if s != s else s for s in expected.score.tolist()] == pytest.approx(scores)
    shown = dataset.stored_overview(found)
    assert shown["labels"]["flagged"] == int(expected.flagged.sum())
    assert shown["labels"]["label"] == "ground_truth.label"
    assert shown["verdict"] == report.verdict
    text = json.dumps(form(operators, found))
    assert "of the stored audit, after 1 verdict" in text
    assert "Groups from" not in text
    view = found.match_tags("test")
    result = operators.execute_operator(LABELS, {"view": view}, params=QUICK).result
    assert result["images"] == len(view) < len(found)
    assert len(found.exists("hsd_label_score")) <= len(view)


def test_the_form_says_what_cannot_be_done(operators, copied, fo):
    found, _ = copied
    shown = form(operators, found)
    assert {"label_field", "groups_by", "model", "descriptor", "folds", "seeds", "checks"} <= set(shown)
    assert "force" not in shown
    assert not any(name.endswith("_error") for name in shown)
    for params, word in (
        ({"model": "nothing"}, "there is no model 'nothing'"),
        ({"descriptor": "nothing"}, "there is no descriptor 'nothing'"),
        ({"checks": ["nothing"]}, "unknown check nothing"),
        ({"out": "relative"}, "absolute path"),
    ):
        assert word in json.dumps(form(operators, found, params))
        with pytest.raises(operators.executor.ExecutionError, match=word):
            operators.execute_operator(LABELS, {"dataset": found}, params={"group_field": "patient", **QUICK, **params})
    assert "shows no image" in json.dumps(form(operators, found, view=found.match_tags("nothing")))
    found.delete_sample_field("ground_truth")
    assert "No field names one class an image" in json.dumps(form(operators, found))
    found.reload()
    assert found.list_runs() == []


def test_images_that_came_after_the_audit_are_refused(operators, copied, fo):
    found, _ = copied
    dataset.write_audit(found, audit(found, group_field="patient", seeds=1, models=("nearest_neighbour",)))
    new = fo.Sample(filepath=found.first().filepath, ground_truth=fo.Classification(label="monocyte"))
    found.add_sample(new)
    assert "1 added" in json.dumps(form(operators, found))
    with pytest.raises(operators.executor.ExecutionError, match="1 images were added since the audit"):
        operators.execute_operator(LABELS, {"dataset": found}, params=QUICK)
    assert dataset.recorded(found) == ["audit"]


def test_a_real_worker_looks_for_label_errors(operators, copied, work_off):
    found, both = copied
    params = {"group_field": "patient", **QUICK}
    queued = operators.execute_operator(LABELS, {"dataset": found}, params=params, request_delegation=True)
    assert queued.delegated
    done = work_off()
    assert done.run_state == "completed", done.result
    found.reload()
    assert both <= set(found.match_tags("hsd:label-issue").values("id"))
    assert done.result.result["flagged"] == len(found.match_tags("hsd:label-issue"))


def blocks(tabs, overview):
    """Name -> block, or the texts of those without a name."""
    made = tabs["labels"].tab(overview, {})
    named = {b.name: b for b in made if hasattr(b, "name")}
    return named, " ".join(f"{getattr(b, 'text', '')} {getattr(b, 'more', '')}" for b in made)


def test_before_results_the_tab_says_what_it_would_do(tabs):
    named, text = blocks(tabs, {"leaks": []})
    assert "have not been looked for" in text
    assert named["labels_find"].operators == [("Find label errors", "labels", {})]


def test_every_click_of_the_tab_shows_what_it_says(operators, copied, tabs):
    found, _both = copied
    report = audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",))
    dataset.write_audit(found, report)
    operators.execute_operator(LABELS, {"dataset": found}, params={**QUICK, "checks": ["outlier", "no such"][:1]})
    overview = dataset.stored_overview(found)
    named, text = blocks(tabs, overview)
    rows = named["label_mechanisms"]
    for row, click in zip(rows.rows, rows.clicks, strict=True):
        assert (click is None) == (row["images"] == 0)
        if click:
            assert len(dataset.filtered(found, click.wanted)) == row["images"]
    bars = named["label_classes"]
    for trace, clicks in zip(bars.traces, bars.clicks, strict=True):
        for count, click in zip(trace["x"], clicks, strict=True):
            assert len(dataset.filtered(found, click.wanted)) == count
    for row, click in zip(overview["labels"]["suspects"], named["label_suspects"].clicks, strict=False):
        assert dataset.filtered(found, click.wanted).values("id") == [row["id"], *row["mates"]]
    shown = {c.label: len(dataset.filtered(found, c.wanted)) for c in named["label_views"].clicks[:-1]}
    assert all(label.endswith(f"({n:,})") for label, n in shown.items())
    assert [o[1] for o in named["labels_again"].operators] == ["labels", "undo"]
    assert "are suspected" in text


def test_the_tab_has_words_for_no_issue_and_for_nothing_evaluated(tabs):
    folds = [
        {"kind": k, "evaluated": False, "reason": "too few groups", "skill": None, "images": 0}
        for k in ("group", "random")
    ]
    found = {"model": "1-NN", "labelled": 9, "flagged": 0, "likely": 0, "evaluated": False, "label": ""}
    found |= {"mechanisms": [], "classes": [], "groups": [], "suspects": [], "folds": folds, "views": []}
    found |= {"checks": [{"check": "dark", "images": None, "reason": "no pictures", "ids": []}]}
    found |= {"notes": [{"level": "not evaluated", "text": "<b>$x", "count": 2}]}
    named, text = blocks(tabs, {"labels": found})
    assert "not evaluated; the reasons are below" in text
    assert "Not evaluated: <b>$x (2)" in text
    assert named["label_folds"].rows[0]["status"] == "not evaluated: too few groups"
    assert named["label_checks"].rows[0]["status"] == "not evaluated: no pictures"
    for fold in folds:
        fold.update(evaluated=True, skill=[0.9, 0.8, 0.95])
    named, text = blocks(tabs, {"labels": {**found, "evaluated": True, "checks": [], "notes": []}})
    assert "No label is suspected by 1-NN, out of 9" in text
    assert "None was found." in text
    assert "None was asked for" in text
    assert named["label_folds"].rows[0]["score"] == "0.900 (0.800 to 0.950)"
