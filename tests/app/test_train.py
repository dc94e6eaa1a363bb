"""Training by SDK, by form and by a real worker: what it writes, what it refuses, what the tab says."""

from __future__ import annotations

import importlib.util
import json
import re
import time
import urllib.request

import pytest

from fiftyone_hsd import audit, dataset

pytestmark = pytest.mark.mongod

PLUGIN = "@fiftyone-hsd/hsd"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"
TINY = {"steps": 2, "batch": 4, "size": 32, "seeds": 1}


@pytest.fixture
def call(fo, downloaded):
    def run(name, found, **params):
        return fo.operators.execute_operator(f"{PLUGIN}/{name}", {"dataset": found}, params=params).result

    return run


@pytest.fixture
def audited(make_dataset):
    found = make_dataset("train", every=2)
    dataset.write_audit(found, audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",)))
    return found


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def form(fo, found, **params):
    """The form of the operator as text, and whether it can be executed."""
    operator = fo.operators.get_operator(f"{PLUGIN}/train")
    request = {"dataset_name": found.name, "params": params}
    executor = fo.operators.executor.Executor()
    ctx = fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=operator.uri)
    properties = operator.resolve_input(ctx).to_json()["type"]["properties"]
    return json.dumps(properties), not any(p.get("invalid") for p in properties.values())


def test_by_sdk_the_runs_of_the_audit_stay_and_new_ones_are_told(call, audited):
    result = call("train", audited, models="linear_probe,nearest_neighbour", conditions="endpoints", seeds=1)
    assert result["said"] == "6 of 6 runs done"
    assert [(r["model"], r["condition"], r["status"]) for r in result["runs"]][:2] == [
        ("linear probe", "existing", "done"),
        ("linear probe", "intact", "done"),
    ]
    scores = {(s["model"], s["condition"]): s for s in result["scores"]}
    assert scores["linear probe", "random"]["inflation"]
    assert scores["linear probe", "intact"]["exposed"] == "0.0%"
    audited.reload()
    assert result["evaluations"] == audited.list_evaluations()
    assert "hsd_random_pred_nearest_neighbour_trained" in result["fields"]  # the audit has run it too
    shown = dataset.stored_overview(audited)
    assert (shown["training"]["total"], shown["training"]["failures"]) == (6, 0)
    assert dataset.changed_since(audited) == ""
    removed = call("undo", audited, what="training")
    assert removed["fields"] == result["fields"]
    audited.reload()
    assert dataset.recorded(audited) == ["audit"]


def test_groups_after_verdicts_are_trained_on(call, audited):
    call("train", audited, models="linear_probe", conditions="intact", seeds=1)
    before = set(audited.exists("hsd_trained_intact").values("id"))
    groups = {}
    for name, group in zip(*audited.values(["id", "hsd_group"]), strict=True):
        groups.setdefault(group, []).append(name)
    whole = [members for members in groups.values() if len(members) > 1]
    for members in whole:
        for one in members[1:]:
            dataset.add_verdict(audited, members[0], one, "different", "ann")
    call("train", audited, models="linear_probe", conditions="random", seeds=1)
    audited.reload()
    assert "hsd_trained_intact" not in audited.get_field_schema()  # its groups are no longer those
    assert set(audited.values("hsd_trained_random")) == {None, "unexposed"}
    assert before


def test_the_form_shows_the_plan_and_what_cannot_be(fo, downloaded, audited):
    text, fine = form(fo, audited, models="linear_probe", seeds=1)
    assert fine
    assert "linear probe: 6 runs" in text
    assert "2 more will be drawn" in form(fo, audited, models="linear_probe", seeds=3)[0]
    for params, words in (
        ({"models": "resnet"}, "no model 'resnet'"),
        ({"models": "timm:test_vitt"}, "timm knows no network"),
        ({"models": "timm:test_vit@/nowhere.pt"}, "there is no file /nowhere.pt"),
        ({"models": "linear_probe", "conditions": "q26"}, "conditions 'q26'"),
        ({"models": "lite0", "steps": -1}, "steps = -1"),
    ):
        if params["models"].startswith("timm") and importlib.util.find_spec("timm") is None:
            continue
        text, fine = form(fo, audited, **params)
        assert (words in text, fine) == (True, False), (params, text)


def test_a_missing_package_is_named_with_the_line_to_type(fo, downloaded, audited, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "accelerate" else real(name, *a))
    text, fine = form(fo, audited, models="lite0", seeds=1)
    assert not fine
    assert "networks need accelerate" in text
    assert "fiftyone plugins requirements @fiftyone-hsd/hsd --install" in text
    assert form(fo, audited, models="linear_probe", seeds=1)[1]


def test_without_an_audit_or_with_nothing_running_the_forms_say_so(fo, call, make_dataset):
    found = make_dataset("untrained", every=40)
    assert "run HSD: audit first" in form(fo, found)[0]
    for name, words in (("train", "run HSD: audit first"), ("stop", "Nothing of ours is running")):
        with pytest.raises(fo.operators.executor.ExecutionError, match=words):
            call(name, found)


def test_without_labels_there_is_nothing_to_train(fo, call, make_dataset):
    found = make_dataset("unlabelled", every=10)
    found.delete_sample_field("ground_truth")
    dataset.write_audit(found, audit(found, seeds=1, pattern=FIELD_OF_VIEW))
    text, fine = form(fo, found, models="linear_probe")
    assert ("no labels. Allowed: labels, and two or more groups of a class" in text, fine) == (True, False)
    with pytest.raises(fo.operators.executor.ExecutionError, match="Allowed: labels"):
        call("train", found, models="linear_probe")


def test_a_run_that_is_asked_to_stop_ends_and_says_so(call, audited):
    def work():
        with dataset.running(audited, "HSD: train") as tell:
            assert dataset.is_running(audited)
            assert "HSD: train is running" in call("stop", audited)["said"]
            for step in range(100):
                tell(step, 100, "training")
                time.sleep(0.1)

    with pytest.raises(dataset.Stopped):
        work()
    assert not dataset.is_running(audited)
    assert "stopped" in dataset.status(audited).words
    with dataset.running(audited, "HSD: train") as tell:  # an old wish does not stop the next run
        tell(1, 2, "training")
    assert dataset.status(audited).words == ""


def said(blocks):
    return " ".join(f"{b.text} {b.more}" for b in blocks if type(b).__name__ == "Said")


def test_the_tab_says_what_there_is_and_its_clicks_hold_what_they_promise(call, audited, tabs):
    tab = tabs["training"].tab
    overview = dict(dataset.stored_overview(audited))
    before = tab(overview, {})
    assert "No model has been trained" in said(before)
    assert [b.operators[0][1] for b in before if type(b).__name__ == "Actions"] == ["train"]
    running = tab({**overview, "running": "HSD: train is running. 1 of 6"}, {})
    assert said(running).startswith("HSD: train is running. 1 of 6")
    assert [o[1] for b in running if type(b).__name__ == "Actions" for o in b.operators] == ["stop"]
    call("train", audited, models="linear_probe", conditions="endpoints", seeds=1)
    audited.reload()
    overview = dict(dataset.stored_overview(audited))
    blocks = {getattr(b, "name", ""): b for b in tab(overview, {"trained_condition": "random"})}
    assert [(r["condition"], r["done"]) for r in blocks["training_runs"].rows] == [
        (c, "1 of 1") for c in ("existing", "intact", "random")
    ]
    for click in blocks["training_right"].clicks[:4]:
        assert len(dataset.filtered(audited, click.wanted)) == int(re.search(r"\((\d+)\)$", click.label)[1])
    for row, click in zip(blocks["training_classes"].rows, blocks["training_classes"].clicks, strict=True):
        view = dataset.filtered(audited, click.wanted)
        sides = view.count_values("hsd_trained_random")
        right = view.match({"hsd_random_linear_probe": True}).count_values("hsd_trained_random")
        assert set(view.values("ground_truth.label")) == {row["class"]}
        for side, n in sides.items():
            assert row[side].startswith(f"{right.get(side, 0)} of {n} ")
    for row, click in zip(blocks["training_runs"].rows, blocks["training_runs"].clicks, strict=True):
        tested = audited.match_tags([f"hsd:{row['condition']}:test"])
        assert set(dataset.filtered(audited, click.wanted).values("id")) == set(tested.values("id"))
    failed = {"model": "vit", "condition": "intact", "seed": 0, "status": "failed", "reason": "out of memory"}
    bad = {**overview["training"], "failures": 1, "failed": [failed], "tested": [], "ladder": {"models": []}}
    words = said(tab({**overview, "training": bad}, {}))
    assert "vit, intact, seed 0: out of memory" in words
    assert words.count("not evaluated") == 2


@pytest.mark.train
def test_a_real_worker_trains_a_network_and_another_call_does_not_repeat_it(fo, call, audited, work_off, tiny_weights):
    model = f"timm:test_vit@{tiny_weights}"
    params = {"models": model, "conditions": "intact", **TINY}
    uri = f"{PLUGIN}/train"
    queued = fo.operators.execute_operator(uri, {"dataset": audited}, params=params, request_delegation=True)
    assert queued.delegated
    operation = work_off()
    assert operation.run_state == "completed", operation.result
    assert operation.status.label
    result = operation.result.result
    assert [(r["model"], r["condition"], r["status"]) for r in result["runs"]] == [
        ("timm:test_vit@tiny.safetensors", "intact", "done")
    ]
    audited.reload()
    assert result["evaluations"] == ["hsd_intact_timm_test_vit_tiny_safetensors"] == audited.list_evaluations()
    text, fine = form(fo, audited, **params)
    assert fine
    assert "1 run, 1 of them done before" in text
    again = call("train", audited, **params)
    assert again["runs"] == result["runs"]  # the same seconds: nothing was trained


def test_a_closed_page_ends_the_work_in_the_server(server, audited):
    uri = f"{PLUGIN}/train"
    params = {"models": "linear_probe", "seeds": 1000}
    body = json.dumps({"operator_uri": uri, "dataset_name": audited.name, "params": params}).encode()
    url, kind = f"{server}/operators/execute/generator", {"Content-Type": "application/json"}
    request = urllib.request.Request(url, body, kind)  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own server
        assert b"set_progress" in answer.readline()
        until(lambda: dataset.is_running(audited))
    until(lambda: not dataset.is_running(audited))
    assert "stopped" in dataset.status(audited).words
    audited.reload()
    assert dataset.recorded(audited) == ["audit"]
