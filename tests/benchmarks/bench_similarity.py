"""Seconds, recall and peak memory of the search for leaks, beside the bare matrix product and the incumbents.

    python tests/benchmarks/bench_similarity.py 5000 20000 [--dim 512] [--threshold 0.9] [--with brain datalab]

Each search runs in a process of its own, so that a peak is its own. Ratios are to the product of half the matrix in the
same blocks, measured in the same process just before; the load of the machine stands beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def corpus(n: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit float32 rows in drifting scenes of five frames, and a split dealt by single frames."""
    rng = np.random.default_rng(0)
    x = np.empty((n, dim), np.float32)
    for start in range(0, n, 5):
        v = rng.normal(size=dim)
        for row in range(start, min(start + 5, n)):
            v = v + 0.35 * rng.normal(size=dim)
            x[row] = v / np.linalg.norm(v)
    return x, np.where(rng.random(n) < 0.3, "test", "train")


def half_product(x: np.ndarray, side: int) -> float:
    """Seconds of the bare products of the upper triangle of blocks."""
    buffer = np.empty(side * side, np.float32)
    begin = time.perf_counter()
    for lo in range(0, len(x), side):
        for start in range(lo, len(x), side):
            a, b = x[lo : lo + side], x[start : start + side]
            np.matmul(a, b.T, out=buffer[: len(a) * len(b)].reshape(len(a), len(b)))
    return time.perf_counter() - begin


def peak() -> float:
    """Peak resident memory of this process, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(x: np.ndarray, split: np.ndarray, threshold: float) -> set[int]:
    """Rows that look like a row of the other split."""
    from fiftyone_hsd.similarity import pairs_above

    i, j, _ = pairs_above(x, threshold)
    across = split[i] != split[j]
    return set(i[across].tolist()) | set(j[across].tolist())


def approximate(x: np.ndarray, split: np.ndarray, threshold: float) -> set[int]:
    from fiftyone_hsd.model import Descriptors
    from fiftyone_hsd.similarity import similar_pairs

    graph = similar_pairs(Descriptors("bench", x), threshold, approximate=True)
    print(graph.backend, file=sys.stderr)
    across = split[graph.a] != split[graph.b]
    return set(graph.a[across].tolist()) | set(graph.b[across].tolist())


def brain(x: np.ndarray, split: np.ndarray, threshold: float) -> Callable[[], set[int]]:
    import fiftyone as fo
    import fiftyone.brain as fob

    dataset = fo.Dataset()
    samples = [fo.Sample(f"/none/{i}.png", split=s) for i, s in enumerate(split.tolist())]
    row = {name: i for i, name in enumerate(dataset.add_samples(samples, progress=False))}

    def search() -> set[int]:
        found = fob.compute_leaky_splits(dataset, "split", threshold=1 - threshold, embeddings=x.copy())
        return {row[name] for name in found.leak_ids}

    return search


def datalab(x: np.ndarray, split: np.ndarray, threshold: float) -> Callable[[], set[int]]:
    from cleanlab import Datalab

    def search() -> set[int]:
        lab = Datalab(data={"row": list(range(len(x)))}, verbosity=0)
        lab.find_issues(features=x, issue_types={"near_duplicate": {}})
        found = lab.get_issues("near_duplicate")
        result: set[int] = set()
        for i, others in enumerate(found["near_duplicate_sets"]):
            across = [int(j) for j in others if split[j] != split[i]]
            result |= {i, *across} if across else set()
        return result

    return search


def one(name: str, n: int, dim: int, threshold: float) -> dict[str, Any]:
    """Measure one search in this process."""
    x, split = corpus(n, dim)
    search = {
        "ours": lambda: lambda: ours(x, split, threshold),
        "approximate": lambda: lambda: approximate(x, split, threshold),
        "brain": lambda: brain(x, split, threshold),
        "datalab": lambda: datalab(x, split, threshold),
    }[name]()
    half_product(x[:2048], 1024)
    bare = half_product(x, 1024)
    before, begin = peak(), time.perf_counter()
    found = search()
    seconds = time.perf_counter() - begin
    return {
        "search": name,
        "n": n,
        "bare": bare,
        "seconds": seconds,
        "ratio": seconds / bare,
        "peak_above": peak() - before,
        "found": sorted(found),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="+")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--with", dest="peers", nargs="*", default=[], choices=["brain", "datalab", "approximate"])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one, given.n[0], given.dim, given.threshold)))
        return
    print("search       n         bare s   seconds  ratio  peak MiB above input  recall  load")
    for n in given.n:
        exact: set[int] = set()
        for name in ["ours", *given.peers]:
            command = [sys.executable, __file__, str(n), "--dim", str(given.dim), "--threshold", str(given.threshold)]
            done = subprocess.run([*command, "--one", name], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name:12} {n:<9} did not finish: {done.stderr.strip().splitlines()[-1][:120]}")
                continue
            r = json.loads(done.stdout.strip().splitlines()[-1])
            exact = set(r["found"]) if name == "ours" else exact
            recall = len(exact & set(r["found"])) / len(exact) if exact else float("nan")
            print(
                f"{name:12} {n:<9} {r['bare']:<8.2f} {r['seconds']:<8.2f} {r['ratio']:<6.2f} {r['peak_above']:<21.0f} "
                f"{recall:<7.3f} {r['load']:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
