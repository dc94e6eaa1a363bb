"""Samples that change when a leaking split is repaired, beside what must change at least; and seconds.

    HSD_TEST_DATA=FOLDER python tests/benchmarks/bench_repair.py

The split is random within classes, 70/15/15. `largest part` is what would have to change if every group only followed
its largest part, without any bound: no group-disjoint split that sets nothing aside changes fewer. `least` is the
bound that the solver proves under the bounds on shares; equal to `changed`, the repair is optimal.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd.errors import InfeasibleError
from fiftyone_hsd.splitting import repair

SHARES = {"train": 0.7, "val": 0.15, "test": 0.15}


def random_split(labels: np.ndarray, seed: int) -> np.ndarray:
    """Single files dealt at random within each class."""
    rng, part = np.random.default_rng(seed), np.empty(len(labels), "<U5")
    for c in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == c))
        ends = np.round(np.cumsum(list(SHARES.values())) * len(rows)).astype(int)
        for name, inside in zip(SHARES, np.split(rows, ends[:-1]), strict=True):
            part[inside] = name
    return part


def measure(name: str, labels: np.ndarray, groups: np.ndarray, seed: int) -> None:
    part = random_split(labels, seed)
    number = np.unique(part, return_inverse=True)[1]
    table = np.zeros((groups.max() + 1, 3), int)
    np.add.at(table, (groups, number), 1)
    fewest = int((table.sum(axis=1) - table.max(axis=1)).sum())
    cases = [(None, "forced", None), (None, "forced", 1.0), (None, "free", None), ("test", "forced", None)]
    for freeze, aside, bound in (*cases, ("train", "forced", None)):
        start = time.perf_counter()
        try:
            found = repair(
                labels, groups, part, freeze=freeze, set_aside=aside, share_bound=bound, class_bound=bound, seed=seed
            )
        except InfeasibleError as error:
            print(f"{name:14s} {seed:4d} {freeze or '-':6s} {aside:7s} {error.came[:60]}", flush=True)
            continue
        seconds = time.perf_counter() - start
        sizes = " ".join(f"{k} {a}>{b}" for k, (a, b) in found.sizes.items())
        case = f"{name:14s} {seed:4d} {freeze or '-':6s} {aside:7s} {'none' if bound else 'usual':6s}"
        counts = f"{len(found.rows):8d} {found.moved:7d} {found.set_aside:7d} {found.least:7d} {fewest:8d}"
        print(f"{case} {counts} {seconds:7.2f}  {sizes}", flush=True)


def blood_cells() -> tuple[np.ndarray, np.ndarray]:
    with (Path(os.environ["HSD_TEST_DATA"]) / "blood_cells" / "groups.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    labels, groups = ([r[c] for r in rows] for c in ("label", "group"))
    return np.unique(labels, return_inverse=True)[1], np.unique(groups, return_inverse=True)[1]


def large() -> tuple[np.ndarray, np.ndarray]:
    """About 129,000 files in 15,000 groups, 14 classes at 1:100."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, np.round(rng.lognormal(1.75, 0.9, 15_000)).astype(int))
    weight = np.geomspace(1, 0.01, 14)
    classes = rng.choice(14, 15_000, p=weight / weight.sum())
    return np.repeat(classes, sizes), np.repeat(np.arange(15_000), sizes)


if __name__ == "__main__":
    print("corpus         seed freeze aside  bounds  changed   moved   aside   least  largest seconds  partitions")
    for k in range(3):
        measure("blood_cells", *blood_cells(), k)
    labels_, groups_ = large()
    measure(f"drawn {len(labels_)}", labels_, groups_, 0)
