"""The rows of Dhar & Shamir (2021) for COIL-20 and Yale A beside ours, and a sweep of what their text leaves open.

python tests/benchmarks/paper_controls.py DATA coil20|yale_a [--sweep crop|full] [--seeds N] [--out DIR]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import fiftyone_hsd as hsd
from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.controls._boxes import cut, place
from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls._readers import described, prepared
from fiftyone_hsd.controls._study import study
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.grouping.pixels import identical_pixels
from fiftyone_hsd.model import Grouping, Links, TrainConfig
from fiftyone_hsd.scan import scan
from fiftyone_hsd.trainers.lenet5 import lenet5

ROWS = {
    "coil20": ({"corner": "upper-right", "size": "21x21"}, {"crop": 35.42, "full": 98.61}),
    "yale_a": ({"box": "149,60,22,29"}, {"crop": 54.55, "full": 96.97}),
}
NAMES = {"background_crop": "crop", "full_picture": "full"}


def table(folder: Path, name: str, seeds: int, out: Path) -> None:
    """Ours over seeds beside theirs, and without test images that have an exact copy in train; goes on in `out`."""
    where, paper = ROWS[name]
    start = time.perf_counter()
    report = hsd.controls(
        folder, labels=folder / "groups.csv", control=tuple(NAMES), preset="paper", seeds=seeds, out=out, **where
    )
    copies = identical_pixels(report.scan)
    for control, what in NAMES.items():
        (score,) = [
            r.effect
            for r in report.control_results
            if r.control == control
            and r.effect.what == "score"
            and r.effect.metric == "accuracy"
            and r.effect.seed is None
        ]
        runs = [r for r in report.control_runs if r.config.option("control", "") == control]
        single = [round(100 * float((r.predicted == report.samples.labels[r.rows]).mean()), 2) for r in runs]
        print(
            f"{name} {what}: paper {paper[what]:.2f}, ours {100 * score.estimate:.2f} "
            f"[{100 * score.low:.2f}, {100 * score.high:.2f}], seeds {single}, without copies "
            f"{100 * without_copies(report, runs, copies):.2f} ({len(copies)} copies in all), n = {score.n}"
        )
    print(f"{time.perf_counter() - start:.0f} s")


def without_copies(report, runs, copies) -> float:
    """Mean accuracy over seeds of test images whose pixels are in no train image."""
    scores = []
    for run in runs:
        test = set(run.rows.tolist())
        pairs = list(zip(copies.a.tolist(), copies.b.tolist(), strict=True))
        copied = {i for a, b in pairs for i, j in ((a, b), (b, a)) if i in test and j not in test}
        keep = np.array([r not in copied for r in run.rows])
        scores.append(float((run.predicted == report.samples.labels[run.rows])[keep].mean()))
    return float(np.mean(scores))


VARIED = (
    {},
    {"lr": 3e-4},
    {"lr": 3e-3},
    {"batch": 16},
    {"batch": 128},
    {"scaling": "standard"},
)
"""One at a time from lr 1e-3, batches of 32, grey in [0, 1]."""


def sweep(folder: Path, name: str, what: str) -> None:
    """Accuracy of one split where one setting at a time is another; nothing is chosen by it."""
    settings = ControlSettings(preset="paper", seeds=1, **ROWS[name][0])
    samples = from_folder(folder, labels=folder / "groups.csv")
    found, _ = scan(samples)
    groups = Grouping(samples.labels, Links.of([], [], ""))
    made = study(samples, found, groups, settings, Gallery.of(samples, found))

    def change(row, picture):
        part = cut(picture, place(settings, None, picture.shape)) if what == "crop" else picture
        return prepared(made, part)

    vectors = described(made, made.gallery.each(change, range(len(samples)), ""), what)
    (plan,) = made.plans
    for options in VARIED:
        start = time.perf_counter()
        run = lenet5(samples, plan, vectors, TrainConfig("lenet5", 0, tuple(options.items())))
        score = 100 * float((run.predicted == samples.labels[run.rows]).mean())
        print(
            f"{name} {what} {options or 'as the preset'}: {score:.2f} ({time.perf_counter() - start:.0f} s)", flush=True
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("name", choices=sorted(ROWS))
    parser.add_argument("--sweep", default="")
    parser.add_argument("--out", type=Path, default=Path("paper"))
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    if asked.sweep:
        sweep(asked.data / asked.name, asked.name, asked.sweep)
    else:
        table(asked.data / asked.name, asked.name, asked.seeds, asked.out / asked.name)
