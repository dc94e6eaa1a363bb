"""How long the panels' answers take at 130,000 samples: python tests/benchmarks/bench_app.py [N] [--browser].

Needs a FiftyOne whose database may be written to (FIFTYONE_DATABASE_URI) and that finds the plugin; the dataset it
makes is deleted at the end. A few drawn pictures stand for all images; groups, splits, similarities and predictions are
drawn at random. With --browser it also measures, in a headless Chromium and once, how long the grid takes after a
click.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fiftyone as fo
import fiftyone.operators as foo

from fiftyone_hsd import dataset
from fiftyone_hsd.audit import ladder_plans, versions
from fiftyone_hsd.dataset import from_view
from fiftyone_hsd.effects import effects
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import AuditReport, Exposure, Grouping, Links, Run, Scan, SplitPlan, TrainConfig
from fiftyone_hsd.settings import Settings

NAME, CLASSES, SEEDS = "hsd-bench-app", 14, 2


def timed(label, call, seconds):
    start = time.perf_counter()
    value = call()
    seconds[label] = time.perf_counter() - start
    print(f"{label:55s} {seconds[label]:8.2f} s", flush=True)
    return value


def pictures(folder, chance):
    """A few pictures that stand for all images."""
    from PIL import Image

    paths = [folder / f"{k}.png" for k in range(60)]
    for path in paths:
        Image.fromarray(chance.integers(0, 256, (64, 64, 3), np.uint8)).resize((256, 256)).save(path)
    return [str(p) for p in paths]


def made(n, chance, paths):
    """A dataset of n samples in groups of 1 to 40, half of the groups of two or more torn by its split."""
    groups = np.repeat(np.arange(n), chance.geometric(0.12, n))[:n]
    labels = chance.integers(0, CLASSES, groups.max() + 1)[groups]
    test = chance.random(n) < 0.15
    found = fo.Dataset(NAME, persistent=True)
    found.add_samples(
        [
            fo.Sample(
                filepath=paths[k % len(paths)],
                tags=["test" if t else "train"],
                ground_truth=fo.Classification(label=f"class {c}"),
                patient=str(g),
            )
            for k, (g, c, t) in enumerate(zip(groups.tolist(), labels.tolist(), test.tolist(), strict=True))
        ]
    )
    return found, groups


def drawn(found, groups, chance):
    """A report as an audit would make it, without having read an image."""
    samples = from_view(found, group_field="patient")
    n = len(samples)
    links = Links.from_codes(groups, "pixels", "drawn")
    score = np.round(chance.beta(8, 1, len(links)), 3)
    grouping = Grouping(groups, Links(links.a, links.b, links.source, score, links.rule, links.accepted))
    options = Settings(seeds=SEEDS, group_field="patient")
    plans = [SplitPlan.of("existing", 0, samples.split, samples.ids)]
    plans += list(ladder_plans(samples, grouping, options, [], lambda *_: None))
    exposures, runs = [], []
    for plan in plans:
        e = exposure(plan, grouping)
        near = chance.integers(0, n, n)
        sim = np.where(e.evaluated, chance.beta(9, 2, n), np.nan).astype(np.float32)
        exposures.append(
            Exposure(
                e.condition, e.seed, e.exposed, e.mates_in_train, np.where(e.evaluated, near, -1), sim, e.evaluated
            )
        )
        rows = np.flatnonzero(plan.partition == "test")
        p = chance.dirichlet(np.full(CLASSES, 0.3), len(rows)).astype(np.float32)
        runs.append(Run(TrainConfig("linear_probe", plan.seed), plan.condition, plan.seed, rows, p, {}, 1.0))
    numbers = tuple(effects(samples, grouping, plans, exposures, runs))
    blank = ("",) * n
    scan = Scan(tuple(map(str, range(n))), blank, blank, np.zeros(n, int), np.zeros(n, int))
    settings = {"label_field": "ground_truth", "group_field": "patient", "split_field": None}
    return AuditReport(
        samples, (), scan, grouping, tuple(plans), tuple(exposures), tuple(runs), numbers, settings, versions(), "drawn"
    )


def event(name, method, current=None, state=None, **params):
    """One event of a panel, as the App's server runs it."""
    uri = f"@fiftyone-hsd/hsd/{name}"
    request = {
        "dataset_name": NAME,
        "operator_uri": uri,
        "current_sample": current,
        "params": {"panel_id": "p", "panel_state": state or {}, "__method__": method, **params},
    }
    executor = foo.executor.Executor()
    ctx = foo.executor.ExecutionContext(request, executor=executor, operator_uri=uri)
    return foo.get_operator(uri).execute(ctx)


def in_the_browser(folder, seconds):
    """Seconds from a click to the new count and to a drawn image, as somebody sees them."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "app"))
    from conftest import CHROMIUM_ARGUMENTS, App, stop, wait_for
    from playwright.sync_api import sync_playwright

    blank = fo.Dataset("hsd-bench-blank", persistent=True)
    blank.add_sample(fo.Sample(filepath=str(next(Path(folder).glob("*.png")))))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "fiftyone.server.main", "--port", str(port), "--address", "127.0.0.1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    try:
        wait_for(lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None, 120, "the App server")
        with sync_playwright() as playwright:
            program = os.environ.get("CHROMIUM") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=program, headless=True, args=CHROMIUM_ARGUMENTS)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            _clicks(App(page, f"http://127.0.0.1:{port}", blank.name), seconds)
            browser.close()
    finally:
        stop(server)
        fo.delete_dataset(blank.name)


def _clicks(app, seconds):
    timed("browser: dataset and panel open", lambda: app.open(NAME, workspace="hsd"), seconds)
    panel = app.cy("panel-content-hsd_hidden_samples")
    for name in ("exposed (", "unexposed ("):
        button = panel.locator("button").filter(has_text=name).first
        button.wait_for()
        wanted = button.inner_text().partition("(")[2].strip(") ")
        count = app.cy("entry-counts")

        def shown(button=button, wanted=wanted, count=count):
            button.click()
            app.expect(count).to_have_text(f"{wanted} samples", timeout=120_000)
            app.cy("looker").first.wait_for()

        timed(f"browser: grid redrawn, {wanted} images", shown, seconds)


def main(n, browser=False):
    with tempfile.TemporaryDirectory() as folder:
        measured(n, browser, Path(folder))


def measured(n, browser, folder):
    chance, seconds = np.random.default_rng(0), {}
    paths = pictures(folder, chance)
    if fo.dataset_exists(NAME):
        fo.delete_dataset(NAME)
    found, groups = timed("make the dataset", lambda: made(n, chance, paths), seconds)
    try:
        report = timed("draw a report", lambda: drawn(found, groups, chance), seconds)
        timed("write_audit", lambda: dataset.write_audit(found, report), seconds)
        panel = "hsd_hidden_samples"
        timed("panel: first load", lambda: event(panel, "on_load"), seconds)
        timed("panel: load again", lambda: event(panel, "on_load"), seconds)
        for tab in ("groups", "leaks", "ladder", "repair"):
            timed(f"panel: tab {tab}", lambda t=tab: event(panel, "on_tab", value=t, state={"tab": t}), seconds)
        timed("panel: threshold", lambda: event(panel, "on_choice", path="threshold", value=0.9), seconds)
        timed("panel: exposed", lambda: event(panel, "on_show", block="sides", idx=0), seconds)
        for label, wanted in (
            ("exposed", {"equal": {"hsd_existing": "test", "hsd_exposed": True}}),
            ("similar", {"equal": {"hsd_existing": "test"}, "at_least": {"hsd_nearest_similarity": 0.9}}),
            ("a group", {"equal": {"hsd_group": found.first().hsd_group}}),
        ):
            timed(f"count of the view: {label}", lambda w=wanted: dataset.filtered(found, w).count(), seconds)
        if browser:  # before the verdicts, which change what the audit counted
            in_the_browser(folder, seconds)
        pair = dataset.stored_queue(found)[0]
        timed("judge: first load", lambda: event("hsd_judge", "on_load", current=pair.a), seconds)
        timed("judge: another sample", lambda: event("hsd_judge", "on_change_current_sample", current=pair.b), seconds)
        judge = {"state": {"author": "bench"}, "current": pair.a}
        for verdict in ("different", "same"):
            timed(f"judge: {verdict}", lambda v=verdict: event("hsd_judge", "on_verdict", verdict=v, **judge), seconds)
        timed("panel: after a verdict", lambda: event(panel, "on_load"), seconds)
    finally:
        fo.delete_dataset(NAME)


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    main(numbers[0] if numbers else 130_000, "--browser" in sys.argv)
