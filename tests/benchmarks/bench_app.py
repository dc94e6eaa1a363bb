"""How long the panels' answers take at 130,000 samples: python tests/benchmarks/bench_app.py [N].

Needs a FiftyOne whose database may be written to (FIFTYONE_DATABASE_URI); the dataset it makes is deleted at the end.
No image is read: paths lead nowhere, groups, splits, similarities and predictions are drawn at random.
"""

from __future__ import annotations

import sys
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


def made(n, chance):
    """A dataset of n samples in groups of 1 to 40, half of the groups of two or more torn by its split."""
    groups = np.repeat(np.arange(n), chance.geometric(0.12, n))[:n]
    labels = chance.integers(0, CLASSES, groups.max() + 1)[groups]
    test = chance.random(n) < 0.15
    found = fo.Dataset(NAME, persistent=True)
    found.add_samples(
        [
            fo.Sample(
                filepath=f"/nowhere/{k // 1000}/{k}.png",
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


def main(n):
    chance, seconds = np.random.default_rng(0), {}
    if fo.dataset_exists(NAME):
        fo.delete_dataset(NAME)
    found, groups = timed("make the dataset", lambda: made(n, chance), seconds)
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
        pair = dataset.stored_queue(found)[0]
        timed("judge: first load", lambda: event("hsd_judge", "on_load", current=pair.a), seconds)
        timed("judge: another sample", lambda: event("hsd_judge", "on_change_current_sample", current=pair.b), seconds)
        judge = {"state": {"author": "bench"}, "current": pair.a}
        for verdict in ("different", "same"):
            timed(f"judge: {verdict}", lambda v=verdict: event("hsd_judge", "on_verdict", verdict=v, **judge), seconds)
    finally:
        fo.delete_dataset(NAME)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 130_000)
