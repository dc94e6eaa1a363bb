"""The tabs of label issues and controls in the browser: from the button that starts the work to the grid and back."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from fiftyone_hsd import audit, dataset

pytestmark = [pytest.mark.mongod, pytest.mark.browser]

PANEL = "hsd_hidden_samples"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"


def audited(fo, make_dataset, name, folder):
    """An audited dataset in which one image stands under two classes."""
    found = make_dataset(name, every=2)
    first = found.first()
    copy = folder / Path(first.filepath).name
    shutil.copy(first.filepath, copy)
    other = next(c for c in sorted(found.distinct("ground_truth.label")) if c != first.ground_truth.label)
    found.add_sample(fo.Sample(filepath=str(copy), tags=["train"], ground_truth=fo.Classification(label=other)))
    dataset.write_audit(found, audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",)))
    return found


def fill(form, label, value):
    """Type into the field of a form that stands under a label."""
    form.get_by_text(label, exact=True).first.wait_for()
    form.locator(f'xpath=//*[normalize-space(text())="{label}"]/following::input[1]').fill(value)


@pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")
def test_labels_from_the_button_to_the_grid(app, fo, make_dataset, aside, tmp_path):
    found = aside(lambda: audited(fo, make_dataset, "labels-tab", tmp_path))
    app.open("labels-tab", workspace="hsd")
    panel = app.cy(f"panel-content-{PANEL}")
    panel.get_by_role("tab", name="Labels").click()
    panel.get_by_text("have not been looked for yet").wait_for()
    panel.get_by_role("button", name="Find label errors", exact=True).click()
    form = app.cy("operators-prompt-modal")
    form.get_by_text(re.compile("of the stored audit")).wait_for()
    fill(form, "Divisions that are averaged", "1")
    app.picture("labels_form")
    app.execute(form)
    output = app.output()
    output.get_by_text("cross-class duplicate").wait_for()
    app.picture("labels_result")
    output.get_by_role("button", name="Done").click()
    aside(found.reload)
    shown = aside(lambda: dataset.stored_overview(found))["labels"]
    app.open("labels-tab", workspace="hsd")
    panel.get_by_role("tab", name="Labels").click()
    panel.get_by_role("button", name=f"all suspected ({shown['flagged']})", exact=True).click()
    app.counts(shown["flagged"])
    panel.locator("table").first.locator("tbody tr").first.locator("button").click()
    app.counts(next(r["images"] for r in shown["mechanisms"] if r["mechanism"] == "cross-class duplicate"))
    # The first bar of the second trace: suspected only, in the class with the largest share.
    first = shown["classes"][0]
    app.bar(panel, 0, len(shown["classes"]))
    app.counts(first["flagged"] - first["likely"])
    app.picture("labels_tab")
    panel.get_by_role("button", name="Undo the label results", exact=True).click()
    form = app.cy("operators-prompt-modal")
    form.get_by_text("the label results", exact=True).wait_for()
    app.execute(form)
    app.output().get_by_text("saved views off").wait_for()
    aside(found.reload)
    assert aside(lambda: dataset.recorded(found)) == ["audit"]
    assert app.errors() == []


def test_controls_from_the_button_to_a_crop(app, fo, tinted_corpus, aside):
    def tinted():
        if fo.dataset_exists("controls-tab"):
            fo.delete_dataset("controls-tab")
        found = fo.Dataset("controls-tab", persistent=True)
        paths = sorted((tinted_corpus / "images").rglob("*.png"))
        labels = [fo.Classification(label=p.parent.name) for p in paths]
        found.add_samples(
            [fo.Sample(filepath=str(p), ground_truth=c, patient=p.name[:3]) for p, c in zip(paths, labels, strict=True)]
        )
        dataset.write_audit(found, audit(found, group_field="patient", seeds=1, models=("nearest_neighbour",)))
        return found

    found = aside(tinted)
    app.open("controls-tab", workspace="hsd")
    panel = app.cy(f"panel-content-{PANEL}")
    panel.get_by_role("tab", name="Controls").click()
    panel.get_by_text("No control experiment was run yet").wait_for()
    panel.get_by_role("button", name="Run control experiments", exact=True).click()
    form = app.cy("operators-prompt-modal")
    form.get_by_text(re.compile("experiments on 80 images: about")).wait_for()
    fill(form, "Size of the crop, WIDTHxHEIGHT in pixels", "nothing")
    form.get_by_text(re.compile("WIDTHxHEIGHT in pixels, such as")).first.wait_for()
    fill(form, "Size of the crop, WIDTHxHEIGHT in pixels", "8x8")
    fill(form, "Splits that are averaged", "2")
    app.picture("controls_form")
    app.execute(form)
    output = app.output()
    output.get_by_text(re.compile("Classes differ in acquisition")).first.wait_for()
    app.picture("controls_result")
    output.get_by_role("button", name="Done").click()
    aside(found.reload)
    shown = {c["control"]: c for c in aside(lambda: dataset.stored_overview(found))["controls"]["controls"]}
    assert len(shown) > 10
    app.open("controls-tab", workspace="hsd")
    panel.get_by_role("tab", name="Controls").click()
    away = shown["background_crop"]["given_away"]
    panel.get_by_role("button", name=f"background crop ({away})", exact=True).click()
    app.counts(away)
    app.picture("controls_tab")
    crop = panel.locator(".js-plotly-plot").nth(1)
    crop.locator("image").wait_for()
    crop.scroll_into_view_if_needed()
    box = crop.locator(".point").first.bounding_box()
    app.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    app.page.wait_for_timeout(300)
    app.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    app.counts(1)
    app.picture("controls_crop")
    # Without the audit the panel still shows what the controls found.
    aside(lambda: dataset.undo(found))
    app.open("controls-tab")
    panel = app.panel(PANEL)
    panel.get_by_text("This dataset has not been audited").wait_for()
    panel.get_by_role("button", name=f"background crop ({away})", exact=True).click()
    app.counts(away)
    app.picture("controls_without_an_audit")
    assert app.errors() == []
    aside(lambda: fo.delete_dataset("controls-tab"))
