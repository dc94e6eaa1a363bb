"""What each control costs on 2,000 images: seconds by the clock and of the processor, beside the estimate.

python tests/benchmarks/bench_controls.py [--images 2000] [--side 224] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd.control_experiments import chosen
from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.controls import by_name
from fiftyone_hsd.controls._cost import fast_seconds
from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls._study import study
from fiftyone_hsd.drawn import DEMO, draw
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.model import Grouping, Links
from fiftyone_hsd.scan import scan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.data or draw(temporary, DEMO, patients=asked.images // 13, side=asked.side, split="none")
        labels = folder / "groups.csv"
        samples = from_folder(folder, labels=labels if labels.exists() else None)
        rows = np.sort(np.random.default_rng(0).permutation(len(samples))[: asked.images])
        samples = samples.take(rows)
        found, _ = scan(samples)
        keys = samples.metadata.get("group", [i.rsplit("/", 1)[-1].split("_")[0] for i in samples.ids])
        codes = np.unique(keys, return_inverse=True)[1]
        made = study(
            samples, found, Grouping(codes, Links.of([], [], "")), ControlSettings(), Gallery.of(samples, found)
        )
        print(
            f"{len(samples)} images, {len(samples.classes)} classes, {codes.max() + 1} groups, {len(made.plans)} splits"
        )
        wall, cpu, told = 0.0, 0.0, 0.0
        for name in chosen(["all"]):
            estimate = fast_seconds(made, name)
            start, used = time.perf_counter(), time.process_time()
            by_name(name)(made)
            took, spent = time.perf_counter() - start, time.process_time() - used
            wall, cpu, told = wall + took, cpu + spent, told + estimate
            print(f"{name}: {took:.1f} s, processor {spent:.1f} s, estimate {estimate:.1f} s", flush=True)
        print(f"all: {wall:.1f} s, processor {cpu:.1f} s, estimate {told:.1f} s")


if __name__ == "__main__":
    main()
