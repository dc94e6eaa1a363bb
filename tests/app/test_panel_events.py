"""What the panels answer to events, without a browser: verdicts, two datasets in turn, other splits' similarities."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiftyone_hsd import audit, dataset

pytestmark = pytest.mark.mongod

PLUGIN = "@fiftyone-hsd/hsd"
PANEL = "hsd_hidden_samples"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"


@pytest.fixture
def event(fo, downloaded):
    """One event of a panel, as the App's server runs it; what it asks the App to do, by the operator's name."""

    def call(found, method, panel=PANEL, state=None, current=None, **params):
        uri = f"{PLUGIN}/{panel}"
        request = {
            "dataset_name": found.name,
            "operator_uri": uri,
            "current_sample": current,
            "params": {"panel_id": "p", "panel_state": state or {}, "__method__": method, **params},
        }
        executor = fo.operators.executor.Executor()
        ctx = fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=uri)
        fo.operators.get_operator(uri).execute(ctx)
        asked = {}
        for r in executor._requests:
            asked.setdefault(r.operator_uri.rpartition("/")[2], []).append(r.params)
        return asked

    return call


@pytest.fixture
def audited(make_dataset):
    found = make_dataset("events", every=2)
    report = audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",))
    dataset.write_audit(found, report)
    return found, report


def words(asked):
    return json.dumps(asked["show_panel_output"])


def test_after_a_verdict_the_panel_says_what_is_from_the_audit(event, audited):
    found, report = audited
    assert "the audit's" not in words(event(found, "on_load"))
    codes = report.grouping.codes.tolist()
    a = next(k for k, c in enumerate(codes) if codes.count(c) == 2)
    b = codes.index(codes[a], a + 1)
    ids = report.samples.ids
    assert dataset.add_verdict(found, ids[a], ids[b], "different", "ann") == 2
    dataset.add_verdict(found, ids[a], ids[b], "different", "bob")
    shown = words(event(found, "on_load"))
    assert "Verdict, bars and counts are the audit's" in shown
    assert "changed the marks of 2 images" in shown
    assert "Stale" not in shown
    assert event(found, "on_effects")["prompt_user_for_operation"][0]["operator_uri"] == f"{PLUGIN}/effects"
    dataset.forget_verdicts(found)


def test_similarity_filters_every_split(event, audited):
    found, report = audited
    state = {"tab": "leaks", "condition": "random", "threshold": 0.9}
    asked = event(found, "on_show", state=state, block="similar", idx=0)
    plan, exposure = next(
        (p, e) for p, e in zip(report.plans, report.exposures, strict=True) if p.condition == "random"
    )
    similar = exposure.nearest_similarity >= np.float32(0.9)
    expected = {i for i, ok in zip(report.samples.ids, similar & (plan.partition == "test"), strict=True) if ok}
    import fiftyone as fo

    view = fo.DatasetView._build(found, asked["set_view"][0]["view"])
    assert set(view.values("id")) == expected
    assert 0 < len(expected) < (plan.partition == "test").sum()


def test_two_datasets_in_turn_show_their_own(event, audited, make_dataset):
    found, report = audited
    other = make_dataset("events-other", every=30)
    assert "has not been audited" in words(event(other, "on_load"))
    assert report.verdict[:60] in words(event(found, "on_load"))
    asked = event(other, "on_change_dataset", state={"tab": "leaks"})
    assert "has not been audited" in words(asked)
    assert not asked.get("set_view")
    assert event(other, "on_show", state={"tab": "leaks"}, block="sides", idx=0).get("set_view") is None
    judge = event(other, "on_load", panel="hsd_judge", current=other.first().id)
    assert "has not been audited" in words(judge)


def test_a_dataset_without_labels_says_so_in_its_tab(event, make_dataset):
    found = make_dataset("events-bare", every=6)
    found.delete_sample_field("ground_truth")
    dataset.write_audit(found, audit(found, seeds=1, pattern=FIELD_OF_VIEW))
    shown = words(event(found, "on_load", state={"tab": "leaks"}))
    assert "Per class: not evaluated, the images have no labels" in shown
    assert "no model was run under this split" in shown


def test_while_a_training_runs_its_tab_says_so_and_stops_it(event, audited):
    found, _ = audited
    state = {"tab": "training"}
    assert "No model has been trained" in words(event(found, "on_load", state=state))
    with dataset.running(found, "HSD: train") as tell:
        tell(3, 30, "1 of 2: lite0, intact, seed 0: training")
        shown = event(found, "on_refresh", state=state)
        assert "HSD: train is running" in words(shown)
        assert "Refresh" in words(shown)
        assert "on_tick" in words(shown)
        assert "reload_dataset" not in event(found, "on_tick", state=state)
        asked = event(found, "on_operator", state=state, block="training_stop", idx=0)
        assert f"{PLUGIN}/stop" in json.dumps(asked)
    asked = event(found, "on_tick", state=state)
    assert "reload_dataset" in asked
    assert "is running" not in words(asked)
    assert "on_tick" not in words(asked)


ODD = (["x"], {"a": 1}, float("nan"), float("inf"), 10**400, True, None, -3)


def test_a_state_of_any_kind_is_survived(event, audited):
    found, _ = audited
    state = {"mate": ["x"], "author": {"a": 1}, "naming": ["x"]}
    for odd in ODD:
        for tab in ("leaks", "ladder"):
            names = ("condition", "threshold", "model", "trained_model", "trained_condition")
            assert "Verdict" in words(event(found, "on_load", state={"tab": tab, **dict.fromkeys(names, odd)}))
        assert "Verdict" in words(event(found, "on_load", state={"tab": odd}))
        assert "No mate" in words(event(found, "on_load", panel="hsd_judge", state=state, current=odd))


def test_a_click_on_marks_that_are_gone_says_so(event, audited):
    found, report = audited
    state = {"tab": "leaks", "condition": "intact"}
    # No test image is exposed where groups are whole: an empty grid would be the truth and say nothing.
    assert report.exposures[1].condition == "intact"
    asked = event(found, "on_show", state=state, block="sides", idx=0)
    assert "set_view" not in asked
    assert "There is no image to show" in json.dumps(asked["notify"])
    assert "set_view" in event(found, "on_show", state=state, block="sides", idx=1)
    found.delete_sample_field("hsd_intact_exposed")
    asked = event(found, "on_show", state=state, block="sides", idx=1)
    assert "set_view" not in asked
    assert "run HSD: audit again" in json.dumps(asked["notify"])
    assert "1 of its fields deleted" in words(event(found, "on_load", state=state))


def test_deleted_samples_leave_the_queue(event, audited):
    found, _ = audited
    first, *rest = dataset.waiting(found)
    found.delete_samples([first.b])
    mates = [p for p in rest if first.a in (p.a, p.b)]
    shown = words(event(found, "on_load", panel="hsd_judge", current=first.a))
    assert first.b not in shown
    assert f"{len(dataset.waiting(found))} pairs in the queue" in shown
    assert ("Do these belong to one group" in shown) or not mates
    following = event(found, "on_next", panel="hsd_judge", current=first.a)["open_sample"][0]["id"]
    assert following == dataset.waiting(found)[0].a != first.b
    assert "No mate" in words(event(found, "on_load", panel="hsd_judge", current=first.b))
