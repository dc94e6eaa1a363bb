"""Groups of real folders against their truth, with time and memory; and of lists of names.

    python tests/benchmarks/bench_groups.py DATA/blood_cells DATA/coil20 ... [--names NAMES_FOLDER]

A folder holds images and groups.csv (path,group,label). It is read without the groups: once by pixels alone, with and
without trust in its split, then by names and pixels. A list is NAME.csv (name,group,label). The ratio is to decoding
all images once, in the same run.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from pathlib import Path

import numpy as np

import fiftyone_hsd as hsd
from fiftyone_hsd.agreement import agreement
from fiftyone_hsd.folder import from_source
from fiftyone_hsd.groups import Groups
from fiftyone_hsd.images import read_image


def truth_of(path: Path) -> dict[str, str]:
    """path -> group."""
    with path.open(newline="") as file:
        return {r.get("path") or r["name"]: r["group"] for r in csv.DictReader(file)}


def line(name: str, found: Groups, truth: dict[str, str], seconds: float) -> str:
    """One row of the table."""
    rows = [i for i, p in enumerate(found.paths) if p in truth]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not rows:
        sizes = sorted(np.unique([i for i in found.ids if i], return_counts=True)[1].tolist(), reverse=True)
        return f"| {name} | {len(found.paths)} | groups of {sizes[:5]} | | | {seconds:.1f} | {memory:.0f} |"
    true = np.unique([truth[found.paths[i]] for i in rows], return_inverse=True)[1]
    a = agreement(found.grouping.codes[rows], true)
    return (
        f"| {name} | {len(rows)} | {a.precision:.3f} / {a.recall:.3f} / {a.f1:.3f} | {a.b_cubed_f1:.3f} | "
        f"{a.adjusted_rand:.3f} | {seconds:.1f} | {memory:.0f} |"
    )


def folder(root: Path) -> None:
    """All ways for one folder."""
    table = root / "groups.csv"
    truth = truth_of(table) if table.exists() else {}
    flat = not any(p.is_dir() for p in root.iterdir())
    samples = from_source(root, labels=table if flat and truth else None)
    start = time.perf_counter()
    for path in samples.paths:
        try:
            read_image(path)
        except Exception:  # noqa: S112 - the bare loop a user would write
            continue
    bare = time.perf_counter() - start
    ways = {"pixels": {"names": False}, "names + pixels": {}}
    if len(set(samples.split.tolist()) - {""}) > 1:
        ways["pixels, trusted split"] = {"names": False, "trust_split": True}
    for way, settings in ways.items():
        start = time.perf_counter()
        found = hsd.groups(samples, **settings)
        seconds = time.perf_counter() - start
        print(line(f"{root.name}: {way}", found, truth, seconds), f"{seconds / bare:.1f} x decoding")
        for note in found.grouping.notes:
            if note.topic == "near copies":
                print("   ", note.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--names", type=Path)
    given = parser.parse_args()
    print(
        "| what | files | precision / recall / F1 | B-cubed F1 | ARI | s | MB so far |\n|---|---|---|---|---|---|---|"
    )
    for root in given.folders:
        folder(root)
    for path in sorted(given.names.glob("*.csv")) if given.names else ():
        start = time.perf_counter()
        found = hsd.groups(path)
        print(line(path.stem, found, truth_of(path), time.perf_counter() - start), "abstained" * found.abstained)


if __name__ == "__main__":
    main()
