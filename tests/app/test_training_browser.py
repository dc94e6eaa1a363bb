"""Training from the form: the requirements installed, a training started, seen, stopped, gone on with, looked at.

HSD_TEST_INSTALL=1 lets the test install what is missing into this environment, as the form tells users to do.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fiftyone_hsd import audit, dataset

MAY_INSTALL = os.environ.get("HSD_TEST_INSTALL") == "1"
pytestmark = [pytest.mark.mongod, pytest.mark.browser, *([] if MAY_INSTALL else [pytest.mark.train])]

PLUGIN = "@fiftyone-hsd/hsd"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"
STEPS = 300
"""So many that the page is gone long before the second training ends, also on a fast machine."""


@pytest.fixture(scope="session")
def installed(downloaded, environment):
    """The plugin's requirements, by the line that its forms name; pip leaves alone what is there already."""
    command = [str(Path(sys.executable).parent / "fiftyone"), "plugins", "requirements", PLUGIN]
    said = [
        subprocess.run([*command, option], capture_output=True, text=True, env=environment, timeout=1200)
        for option in ("--install", "--ensure")
    ]
    assert [s.returncode for s in said] == [0, 0], [s.stdout[-2000:] + s.stderr[-2000:] for s in said]
    importlib.invalidate_caches()


def finished(found):
    """Folder of a finished training -> when its result was written."""
    root = Path(os.environ["HSD_CACHE_DIR"]) / "datasets" / str(found._doc.id) / "training" / ".hsd" / "runs"
    return {p.parent.name: p.stat().st_mtime_ns for p in root.glob("*/run.npz")}


def filled(app, model):
    """The form, for two short trainings of a tiny network."""
    form = app.cy("operators-prompt-modal")
    form.wait_for()
    boxes = form.get_by_role("textbox")
    boxes.first.fill(model)
    form.get_by_role("combobox").first.fill("intact,random")
    for box, value in zip(form.get_by_role("spinbutton").all(), (1, STEPS, 4, 32), strict=True):
        box.fill(str(value))
    form.get_by_text(re.compile(r"2 runs")).wait_for()
    return form


def test_train_stop_go_on_and_look(installed, app, make_dataset, aside, tiny_weights):
    found = aside(lambda: make_dataset("train-form", every=3))
    aside(
        lambda: dataset.write_audit(found, audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",)))
    )
    model = f"timm:test_vit@{tiny_weights}"
    app.open("train-form", workspace="hsd")
    panel = app.cy("panel-content-hsd_hidden_samples")
    panel.get_by_role("tab", name="Training").click()
    panel.get_by_text("No model has been trained").wait_for()
    panel.get_by_role("button", name="Train models", exact=True).click()
    form = filled(app, model)
    app.picture("training_form")
    app.execute(form)
    app.page.get_by_text(re.compile(r"1 of 2: .*intact, seed 0: ")).first.wait_for(timeout=240_000)
    app.picture("training_progress")
    app.page.get_by_text(re.compile(r"2 of 2: .*random, seed 0: ")).first.wait_for(timeout=240_000)
    app.page.reload()  # nobody listens any more
    stopped = lambda: not dataset.is_running(found)  # noqa: E731
    app.page.wait_for_timeout(1000)
    for _ in range(120):
        if aside(stopped):
            break
        app.page.wait_for_timeout(500)
    assert aside(stopped)
    once = aside(lambda: finished(found))
    assert len(once) == 1

    app.open("train-form", workspace="hsd")
    panel.get_by_role("tab", name="Training").click()
    panel.get_by_role("button", name="Train models", exact=True).click()
    form = filled(app, model)
    form.get_by_text("2 runs, 1 of them done before").wait_for()
    app.execute(form)
    output = app.output(300)
    output.get_by_text("2 of 2 runs done").first.wait_for()
    app.picture("training_result")
    output.get_by_role("button", name="Done").click()
    twice = aside(lambda: finished(found))
    assert {k: twice[k] for k in once} == once
    assert len(twice) == 2

    aside(found.reload)
    shown = aside(lambda: dataset.stored_overview(found)["training"])
    one = next(t for t in shown["tested"] if t["condition"] == "random")
    app.open("train-form", workspace="hsd")  # as somebody does who comes back to it
    panel.get_by_role("tab", name="Training").click()
    panel.get_by_text("2 of 2 (100.0 %) runs done").wait_for()
    right, n = one["exposed"]
    panel.get_by_role("button", name=f"exposed and wrong ({n - right})", exact=True).click()
    app.counts(n - right)
    app.picture("training_tab")
    assert app.errors() == []
