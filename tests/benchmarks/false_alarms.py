"""How often the fast controls claim something on drawn corpora that have nothing to claim.

python tests/benchmarks/false_alarms.py [--draws 500] [--share .5|.9] [--controls NAMES] [--seconds 300] [--out FILE]

Each draw is a corpus of 40 patients with up to two pictures each, without any look of patients, slides or classes in
the background. The labels of the patients are dealt anew, so that not even the object is a signal: every claim is a
false alarm. One split a draw: its p is exact, and not doubled as
over several seeds. Draws are kept in FILE, and a second call goes on.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.controls import by_name
from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls._study import study
from fiftyone_hsd.drawn import UNRELATED, draw
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.model import Grouping, Links, Samples
from fiftyone_hsd.scan import scan

CONTROLS = (
    *("background_crop", "border_strip", "eight_pixels", "constant", "mean_colour", "colour_only", "haar"),
    *("median_filter", "fourier", "tile_scramble", "file_properties", "source_identification"),
)


def corpus(seed: int, share: float, wanted=CONTROLS):
    """(samples, scan, grouping) of one drawn corpus; `share` of its patients in class a."""
    with tempfile.TemporaryDirectory() as folder:
        images = draw(
            folder, UNRELATED, patients=40, classes=1, classes_per_patient=1, fields=2, side=32, split="none", seed=seed
        )
        rows = {r["path"]: r["group"] for r in csv.DictReader((Path(folder) / "truth.csv").read_text().splitlines())}
        samples = from_folder(images)
        found, _ = scan(samples)
        pictures = Gallery.of(samples, found)
        pictures.each(lambda _, p: p, range(len(samples)), "")
        codes = np.unique([rows[i] for i in samples.names], return_inverse=True)[1]
        rng = np.random.default_rng([seed, 99])
        labels = (rng.permutation(codes.max() + 1) < round(share * (codes.max() + 1))).astype(np.int32)[codes]
        dealt = Samples(
            samples.ids, samples.paths, 1 - labels, ("a", "b"), samples.split, samples.metadata, samples.root
        )
        options = ControlSettings(seeds=1, size="10x10")
        made = study(dealt, found, Grouping(codes, Links.of([], [], "")), options, pictures)
        # Whole pictures are only the other half of a table, and would cost half of the time.
        made.kept.update({f"full_picture|{m}": () for m in (*made.models, "random_forest")})
        return {name: by_name(name)(made) for name in wanted}


FIELDS = ("seed", "share", "control", "testable", "signal", "release", "above")
CLAIMS = ("classes differ", "classes can be told apart", "groups can be recognised")


def row(seed: int, share: float, name: str, outcome) -> dict[str, object]:
    """What one control claimed about one corpus."""
    scores = [r for r in outcome.results if r.effect.what == "score" and r.effect.seed is None]
    above = any(r.effect.estimate > r.chance + 1e-9 for r in scores if r.effect.metric != "macro_f1")
    return {
        "seed": seed,
        "share": share,
        "control": name,
        "testable": int(outcome.notes[0].level != "not evaluated"),
        "signal": int(any(n.text.startswith(CLAIMS) for n in outcome.notes)),
        "release": int(any(n.text.startswith("groups have a fingerprint") for n in outcome.notes)),
        "above": int(above),
    }


def summary(rows: list[dict[str, str]]) -> None:
    for share in sorted({r["share"] for r in rows}):
        for name in CONTROLS:
            mine = [r for r in rows if r["control"] == name and r["share"] == share]
            for what, n in (("signal", sum(int(r["testable"]) for r in mine)), ("release", len(mine))):
                k = sum(int(r[what]) for r in mine)
                p = binomtest(k, n, 0.05, alternative="greater").pvalue if n else float("nan")
                print(f"{share} {what} {name}: {k} of {n} ({100 * k / max(1, n):.1f} %), p {p:.2g} for more than 5 %")
        constant = [int(r["above"]) for r in rows if r["control"] == "constant" and r["share"] == share]
        print(f"{share} constant above chance: {sum(constant)} of {len(constant)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--out", type=Path, default=Path("false_alarms.csv"))
    asked = parser.parse_args()
    importlib.import_module(
        "fiftyone_hsd.trainers.random_forest"
    ).TREES = 10  # false alarms do not depend on it, time does
    until = time.monotonic() + asked.seconds
    rows = list(csv.DictReader(asked.out.read_text().splitlines())) if asked.out.exists() else []
    wanted = asked.controls.split(",")
    done = {(int(r["seed"]), float(r["share"])) for r in rows if r["control"] == wanted[0]}
    with asked.out.open("a") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not rows:
            writer.writeheader()
        for seed in range(asked.draws):
            if (seed, asked.share) in done or time.monotonic() > until:
                continue
            writer.writerows(row(seed, asked.share, n, o) for n, o in corpus(seed, asked.share, wanted).items())
            file.flush()
    summary(list(csv.DictReader(asked.out.read_text().splitlines())))


if __name__ == "__main__":
    main()
