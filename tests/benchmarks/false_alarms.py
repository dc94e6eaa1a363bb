"""How often the fast controls claim something on drawn corpora that have nothing to claim.

python tests/benchmarks/false_alarms.py [--draws 500] [--share .5|.9] [--start 0]

Each draw is a corpus of 40 patients with up to two pictures each, without any look of patients, slides or classes in
the background. The labels of the patients are dealt anew, so that not even the object is a signal: every claim is a
false alarm.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
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


def corpus(seed: int, share: float):
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
        options = ControlSettings(seeds=2, size="10x10")
        made = study(dealt, found, Grouping(codes, Links.of([], [], "")), options, pictures)
        # The forest on whole pictures is only the other half of a table, and would cost half of the time.
        made.kept["full_picture|random_forest"] = ()
        return {name: by_name(name)(made) for name in CONTROLS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--start", type=int, default=0)
    asked = parser.parse_args()
    signal, release, tested, above = Counter(), Counter(), Counter(), 0
    for seed in range(asked.start, asked.start + asked.draws):
        for name, outcome in corpus(seed, asked.share).items():
            first = outcome.notes[0]
            tested[name] += first.level != "not evaluated"
            claims = ("classes differ", "classes can be told apart", "groups can be recognised")
            signal[name] += any(n.text.startswith(claims) for n in outcome.notes)
            release[name] += any(n.text.startswith("groups have a fingerprint") for n in outcome.notes)
            if name == "constant":
                above += any(
                    r.effect.estimate > r.chance + 1e-9
                    for r in outcome.results
                    if r.effect.what == "score" and r.effect.seed is None and r.effect.metric != "macro_f1"
                )
    for what, counts in (("class signal", signal), ("fingerprint", release)):
        for name in CONTROLS:
            k, n = counts[name], tested[name] if what == "class signal" else asked.draws
            p = binomtest(k, n, 0.05, alternative="greater").pvalue if n else float("nan")
            print(f"{what} {name}: {k} of {n} testable ({100 * k / max(1, n):.1f} %), p {p:.2g} for more than 5 %")
    print(f"constant above chance: {above} of {asked.draws}")


if __name__ == "__main__":
    main()
