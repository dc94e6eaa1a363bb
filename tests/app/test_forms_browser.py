"""Groups and effects through their forms, and a training's evaluation in FiftyOne's own panel."""

from __future__ import annotations

import re

import pytest

from fiftyone_hsd import audit, dataset, train

pytestmark = [pytest.mark.mongod, pytest.mark.browser]

FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"
EVALUATION = "model_evaluation_panel_builtin"


def done(output):
    output.get_by_role("button", name="Done").click()
    output.wait_for(state="detached")


def test_groups_and_effects_through_their_forms(app, make_dataset, aside):
    found = aside(lambda: make_dataset("forms", every=2))
    app.open("forms")
    form = app.form("HSD: groups")
    form.get_by_text("a pattern in the file path").click()
    form.get_by_text("Regular expression with a group").wait_for()
    form.get_by_role("textbox").first.fill(FIELD_OF_VIEW)
    form.get_by_text(re.compile(r"of the first .* images in \d+ groups")).wait_for()
    app.execute(form)
    output = app.output()
    output.get_by_text("Nothing was marked").wait_for()
    said = output.get_by_text(re.compile(r"groups of two or more hold [\d,]+ of ")).first.inner_text()
    app.picture("groups_result")
    done(output)
    app.counts(int(re.search(r"hold ([\d,]+) of", said)[1].replace(",", "")))
    aside(found.reload)
    assert aside(found.list_runs) == []

    report = aside(lambda: audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",)))
    aside(lambda: dataset.write_audit(found, report))
    app.open("forms")
    form = app.form("HSD: effects")
    form.get_by_text("the numbers are those of the audit").wait_for()
    form.get_by_role("checkbox").check()
    app.execute(form)
    output = app.output()
    output.get_by_text(re.compile("How much the inflation depends on the groups: Over")).wait_for()
    output.get_by_text(report.verdict).first.wait_for()
    for words in ("links dropped", "links added", "random"):
        output.get_by_text(words, exact=True).first.wait_for()
    app.picture("effects_result")
    done(output)
    assert app.errors() == []


def test_a_trainings_evaluation_opens_in_fiftyones_panel(app, make_dataset, aside, tmp_path):
    found = aside(lambda: make_dataset("evaluated", every=2))

    def trained():
        report = audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",))
        dataset.write_audit(found, report)
        more = train(report, out=tmp_path / "training", models=("linear_probe",), conditions="endpoints", seeds=1)
        written = dataset.write_training(found, more)
        return written.evaluations, found.load_evaluation_results("hsd_random_linear_probe")

    evaluations, results = aside(trained)
    assert "hsd_random_linear_probe" in evaluations
    app.open("evaluated")
    panel = app.panel(EVALUATION)
    for name in evaluations:
        panel.get_by_text(name, exact=True).first.wait_for()
    app.picture("evaluations")
    panel.get_by_text("hsd_random_linear_probe", exact=True).first.click()
    panel.get_by_text("Accuracy").first.wait_for()
    value = aside(lambda: results.metrics()["accuracy"])
    panel.get_by_text(re.compile(rf"^{value:.3f}".rstrip("0"))).first.wait_for()
    app.picture("evaluation")
