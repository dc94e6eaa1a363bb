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


def test_what_starts_from_the_stored_audit_answers_through_its_form(app, make_dataset, aside, tmp_path):
    found = aside(lambda: make_dataset("stored-forms", every=3))
    app.open("stored-forms")
    form = app.form("HSD: export")
    form.get_by_text("run HSD: audit first").first.wait_for()
    app.expect(form.get_by_role("button", name="Execute", exact=True)).to_be_disabled()
    form.get_by_role("button", name="Cancel").click()
    form = app.form("HSD: stop")
    form.get_by_text("Nothing of ours is running").first.wait_for()
    form.get_by_role("button", name="Cancel").click()
    report = aside(lambda: audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",)))
    aside(lambda: dataset.write_audit(found, report))
    app.open("stored-forms")

    form = app.form("HSD: ladder")
    form.get_by_role("textbox").last.fill(str(tmp_path / "ladder"))
    app.execute(form)
    output = app.output()
    output.get_by_text(str(tmp_path / "ladder" / "splits")).wait_for()
    app.picture("ladder_result")
    done(output)
    assert (tmp_path / "ladder" / "splits" / "all.csv").is_file()

    form = app.form("HSD: report")
    form.get_by_role("textbox").first.fill("/etc")
    form.get_by_text("holds other files").first.wait_for()
    app.expect(form.get_by_role("button", name="Execute", exact=True)).to_be_disabled()
    form.get_by_role("textbox").first.fill(str(tmp_path / "report"))
    app.execute(form)
    output = app.output()
    output.get_by_text(str(tmp_path / "report" / "report.html")).wait_for()
    done(output)

    form = app.form("HSD: export")
    form.get_by_role("textbox").first.fill(str(tmp_path / "release"))
    app.execute(form)
    output = app.output()
    output.get_by_text("Aliases and their key").wait_for()
    app.picture("export_result")
    done(output)

    for file, words in ((None, "The release holds"), ("samples.csv", "The release does not hold")):
        if file:
            (tmp_path / "release" / file).write_text("path\n")
        form = app.form("HSD: verify")
        form.get_by_role("textbox").first.fill(str(tmp_path / "release"))
        app.execute(form)
        output = app.output()
        output.get_by_text(words, exact=True).wait_for()
        app.picture(f"verify_result_{'spoiled' if file else 'whole'}")
        done(output)

    form = app.form("HSD: review")
    form.get_by_text("show the pairs that are still to be judged").wait_for()
    app.execute(form)
    output = app.output()
    output.get_by_text("0 verdicts kept").first.wait_for()
    done(output)
    app.page.wait_for_function("() => !document.querySelector('[data-cy=entry-counts]')?.innerText.startsWith('80 ')")
    assert app.errors() == []


def test_nothing_found_is_said(app, fo, independent_corpus, aside):
    def strangers():
        if fo.dataset_exists("strangers"):
            fo.delete_dataset("strangers")
        made = fo.Dataset("strangers", persistent=True)
        paths = sorted(p for p in (independent_corpus / "images").rglob("*") if p.is_file())[::5]
        made.add_samples(
            [fo.Sample(filepath=str(p), ground_truth=fo.Classification(label=p.parent.name)) for p in paths]
        )

    aside(strangers)
    app.open("strangers")
    for label, words in (("HSD: groups", "no group is known"), ("HSD: audit", "no dependence detectable")):
        form = app.form(label)
        app.execute(form)
        output = app.output()
        output.get_by_text(re.compile(words, re.IGNORECASE)).first.wait_for()
        app.picture(f"nothing_found_{label[5:]}")
        done(output)
    assert app.errors() == []
    aside(lambda: fo.delete_dataset("strangers"))
