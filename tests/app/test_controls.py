"""HSD: controls by SDK, by form and by a worker, and its tab as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd import controls as verb
from fiftyone_hsd.control_experiments import given_away

pytestmark = pytest.mark.mongod

CONTROLS = "@fiftyone-hsd/hsd/controls"
ASKED = ["full_picture", "background_crop", "constant"]
QUICK = {"control": ASKED, "size": "8x8", "seeds": 2}


@pytest.fixture
def operators(fo, downloaded):
    return fo.operators


@pytest.fixture
def tinted(fo, tinted_corpus):
    """A corpus whose ground tells the classes apart, with the masks of its objects."""
    if fo.dataset_exists("tinted"):
        fo.delete_dataset("tinted")
    found = fo.Dataset("tinted", persistent=True)
    samples = []
    for path in sorted((tinted_corpus / "images").rglob("*.png")):
        mask = tinted_corpus / "masks" / path.parent.name / path.name
        truth = fo.Classification(label=path.parent.name)
        cell = fo.Segmentation(mask_path=str(mask))
        samples.append(fo.Sample(filepath=str(path), ground_truth=truth, patient=path.name[:3], cell=cell))
    found.add_samples(samples)
    yield found
    fo.delete_dataset("tinted")


def form(operators, found, params=None, view=None):
    """The entries of the form as the App gets them."""
    operator = operators.get_operator(CONTROLS)
    request = {"dataset_name": found.name, "params": params or {}}
    if view is not None:
        request["view"] = view._serialize()
    executor = operators.executor.Executor()
    ctx = operators.executor.ExecutionContext(request, executor=executor, operator_uri=CONTROLS)
    return operator.resolve_input(ctx).to_json()["type"]["properties"]


def test_it_marks_what_the_verb_finds_and_goes_alone(operators, tinted):
    before = [{k: v for k, v in d.items() if k != "last_modified_at"} for d in tinted._sample_collection.find({})]
    params = {"group_field": "patient", **QUICK}
    result = operators.execute_operator(CONTROLS, {"dataset": tinted}, params=params).result
    assert json.loads(json.dumps(result)) == result
    report = verb(tinted, group_field="patient", control=ASKED, size="8x8", seeds=2)
    assert result["said"] == report.verdict
    assert result["said"].startswith("Classes differ in acquisition")
    rows = {r["control"]: r for r in result["controls"]}
    assert list(rows) == ["full picture", "background crop", "constant"]
    ids = [report.samples.ids[r] for r in given_away(report)]
    assert rows["background crop"]["given_away"] == f"{len(ids)}"
    assert rows["constant"]["given_away"] == "0"
    tinted.reload()
    assert tinted.match_tags("hsd:background-crop:gives-class-away").values("id") == ids != []
    assert "hsd-background-gives-class-away" in result["views"]
    operators.execute_operator("@fiftyone-hsd/hsd/undo", {"dataset": tinted}, params={"what": "controls"})
    tinted.reload()
    after = [{k: v for k, v in d.items() if k != "last_modified_at"} for d in tinted._sample_collection.find({})]
    assert after == before


def test_where_the_background_says_nothing_no_image_is_marked(operators, tinted):
    code = np.random.default_rng(3).permutation(40) % 2
    names = [f"class {code[int(p[1:])]}" for p in tinted.values("patient")]
    tinted.set_values("ground_truth.label", names)
    params = {"group_field": "patient", **QUICK, "control": ["background_crop", "eight_pixels"]}
    result = operators.execute_operator(CONTROLS, {"dataset": tinted}, params=params).result
    assert (result["tags"], result["views"]) == ([], [])
    assert {r["given_away"] for r in result["controls"]} == {"0"}
    assert all(r["verdict"].startswith("no sign that classes can be told apart") for r in result["controls"])


def test_the_groups_are_those_of_the_stored_audit_after_verdicts(operators, tinted):
    report = audit(tinted, group_field="patient", seeds=1, models=("nearest_neighbour",))
    dataset.write_audit(tinted, report)
    ids = report.samples.ids
    dataset.add_verdict(tinted, ids[0], ids[1], "different", "ann")
    shown = form(operators, tinted)
    assert "of the stored audit, after 1 verdict" in json.dumps(shown)
    assert "groups_by" not in shown
    masked = {**QUICK, "control": ["objects_background"], "object_side": 12, "object_pixels": 20}
    result = operators.execute_operator(
        CONTROLS, {"dataset": tinted}, params={**masked, "objects_field": "cell", "session_field": "patient"}
    ).result
    overview = dataset.stored_overview(tinted)
    assert overview["verdict"] == report.verdict
    (control,) = overview["controls"]["controls"]
    assert any("by masks of cell" in n["text"] for n in control["reading"])
    assert result["images"] == len(tinted)
    view = tinted.match_tags("nothing")
    assert "shows no image" in json.dumps(form(operators, tinted, view=view))
    half = tinted.select([i for i, p in zip(*tinted.values(["id", "patient"]), strict=True) if int(p[1:]) < 32])
    assert operators.execute_operator(CONTROLS, {"view": half}, params=QUICK).result["images"] == 64


def test_the_form_says_what_it_takes_and_what_cannot_be_done(operators, tinted):
    shown = form(operators, tinted)
    fields = {"label_field", "control", "corner", "size", "box", "objects_field", "preset", "seeds", "session_field"}
    assert fields <= set(shown)
    assert shown["objects_field"]["default"] == "cell"
    assert "control experiments on 80 images" not in json.dumps(shown["cost"])
    assert "experiments on 80 images: about" in json.dumps(shown["cost"])
    one = form(operators, tinted, {"control": ["constant"], "seeds": 1})["cost"]
    assert "1 experiment on 80 images: about 1 seconds" in json.dumps(one)
    for params, word in (
        ({"size": "20"}, "WIDTHxHEIGHT"),
        ({"control": ["nothing"]}, "there is no control 'nothing'"),
        ({"out": "/etc"}, "holds other files"),
    ):
        wrong = form(operators, tinted, {**QUICK, **params})
        assert word in json.dumps(wrong)
        assert "cost" not in wrong
        with pytest.raises(operators.executor.ExecutionError, match=word):
            operators.execute_operator(CONTROLS, {"dataset": tinted}, params={**QUICK, **params})
    with pytest.raises(operators.executor.ExecutionError, match="Invalid enum"):
        operators.execute_operator(CONTROLS, {"dataset": tinted}, params={**QUICK, "corner": "north"})
    tinted.delete_sample_field("ground_truth")
    assert "No field names one class an image" in json.dumps(form(operators, tinted))
    tinted.reload()
    assert tinted.list_runs() == []


def test_a_real_worker_runs_them(operators, tinted, work_off):
    params = {"group_field": "patient", **QUICK}
    queued = operators.execute_operator(CONTROLS, {"dataset": tinted}, params=params, request_delegation=True)
    assert queued.delegated
    done = work_off()
    assert done.run_state == "completed", done.result
    tinted.reload()
    row = next(r for r in done.result.result["controls"] if r["control"] == "background crop")
    assert row["given_away"] == f"{len(tinted.match_tags('hsd:background-crop:gives-class-away'))}"


def blocks(tabs, overview, **state):
    """Name -> block, and all the words of the sentences."""
    made = tabs["controls"].tab(overview, state)
    named = {b.name: b for b in made if hasattr(b, "name")}
    return named, " ".join(f"{getattr(b, 'text', '')} {getattr(b, 'more', '')}" for b in made)


def test_before_results_the_tab_says_what_it_would_do(tabs):
    named, text = blocks(tabs, {"leaks": []})
    assert "No control experiment was run yet" in text
    assert named["controls_run"].operators == [("Run control experiments", "controls", {})]


def test_every_click_of_the_tab_shows_what_it_says(operators, tinted, tabs):
    operators.execute_operator(CONTROLS, {"dataset": tinted}, params={"group_field": "patient", **QUICK})
    found = dataset.stored_findings(tinted)
    away = next(c for c in found["controls"]["controls"] if c["control"] == "background_crop")["given_away"]
    named, text = blocks(tabs, found)
    assert "1 of 2 (50.0 %) controls without the object tell classes apart" in text
    assert "Classes differ in acquisition" in text
    shown = {c.label: len(dataset.filtered(tinted, c.wanted)) for c in named["controls_away"].clicks[:-1]}
    assert shown == {"by any control": away, f"background crop ({away})": away}
    table = named["control_table"]
    assert [r["control"] for r in table.rows] == ["full picture", "background crop", "constant"]
    assert [c is not None for c in table.clicks] == [False, True, False]
    assert len(dataset.filtered(tinted, table.clicks[1].wanted)) == away
    dots = named["control_scores"]
    assert len(dots.traces[0]["x"]) == len(dots.clicks[0]) == 3
    two = named["control_2x2_nearest_neighbour"].rows
    assert [r["what"] for r in two] == ["whole pictures", "what the control leaves"]
    assert all(r["intact"].startswith("1.000") for r in two)
    sheet = named["control_sheet_0"]
    assert sheet.layout["images"][0]["source"].startswith("data:image/jpeg;base64,")
    for click in sheet.clicks[0]:
        assert len(dataset.filtered(tinted, click.wanted)) == 1
    other, _ = blocks(tabs, found, control_shown="constant")
    assert other["control_shown"].value == "constant"
    assert blocks(tabs, found, control_shown="no such")[0]["control_shown"].value == "background_crop"


def test_the_tab_has_words_for_what_could_not_be_evaluated(tabs):
    note = {"level": "not evaluated", "text": "<b>session split: no column", "count": 0, "examples": []}
    control = {"control": "session_split", "title": "session split", "without_object": False, "variant": ""}
    control |= {"best": None, "models": [], "reading": [note], "given_away": None, "tag": "", "field": ""}
    control |= {"numbers": [], "sheets": [], "verdict": {"level": "not evaluated", "text": "not evaluated: no column"}}
    found = {"label": "", "images": 9, "settings": {}, "controls": [control], "general": [], "views": []}
    named, text = blocks(tabs, {"controls": found})
    assert "No control without the object could be evaluated" in text
    assert "<b>session split: no column" in text
    assert "shows its models no picture" in text
    assert named["control_table"].rows[0]["verdict"] == "not evaluated: no column"
    assert "control_scores" not in named
    assert "controls_away" not in named
