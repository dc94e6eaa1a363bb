"""Seconds and errors of the splitters at full size, and 300 stratified-group problems beside StratifiedGroupKFold.

Run: python tests/benchmarks/bench_splitting.py [size|folds] ...
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

from fiftyone_hsd.exposure import exposure, exposure_rate, relative_pair_leak
from fiftyone_hsd.splitting import intact, ladder

FRACTIONS = {"train": 0.7, "val": 0.15, "test": 0.15}
FILES, GROUPS, CLASSES = 129_173, 15_000, 14


def corpus(mixed: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and groups: lognormal group sizes, class shares from 1 to 100, some files of other classes."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 100, CLASSES)
    size = rng.lognormal(1.6, 1.0, GROUPS)
    size = np.maximum(1, np.round(size / size.sum() * FILES)).astype(int)
    while (lack := FILES - size.sum()) != 0:
        np.add.at(size, rng.integers(0, GROUPS, abs(lack)), np.sign(lack))
        size = np.maximum(1, size)
    groups = np.repeat(np.arange(GROUPS), size)
    majority = rng.choice(CLASSES, GROUPS, p=share / share.sum())
    other = rng.random(FILES) < mixed
    labels = np.where(other, rng.choice(CLASSES, FILES, p=share / share.sum()), majority[groups])
    order = rng.permutation(FILES)
    return labels[order], groups[order]


def timed(title, call, *args, **options):
    """What a call returns; prints its seconds."""
    start = time.perf_counter()
    result = call(*args, **options)
    print(f"  {title}: {time.perf_counter() - start:.2f} s")
    return result


def exposures(plans, groups):
    return [exposure(plan, groups) for plan in plans]


def size() -> None:
    for mixed in (0.0, 0.3):
        labels, groups = corpus(mixed)
        ids = [f"s{i:07d}" for i in range(FILES)]
        print(f"{FILES} files, {GROUPS} groups, {CLASSES} classes, {mixed:.0%} files of another class in a group")
        plan = timed("intact", intact, labels, groups, FRACTIONS, seed=0, ids=ids)
        total = np.bincount(labels)
        error = np.max([np.abs(np.bincount(labels[plan.partition == s]) / total - f) for s, f in FRACTIONS.items()], 0)
        beyond = (error - np.maximum(0.001, 1 / total)).max()
        print(f"  worst class-share error {error.max():.5f}; beyond max(.1 point, one file): {max(0, beyond):.5f}")
        of = np.bincount(groups)
        means = {s: of[np.unique(groups[plan.partition == s])].mean() for s in FRACTIONS}
        print("  mean group size", {s: round(float(m), 2) for s, m in means.items()})
        plans = timed("ladder", ladder, labels, groups, FRACTIONS, seed=0, ids=ids)
        results = timed("exposure of the five", exposures, plans, groups)
        for q, e in zip(plans, results, strict=True):
            rate = exposure_rate(e, q.partition == "test")
            print(f"  {q.condition}: exposure {rate:.3f}, relative pair leak {relative_pair_leak(q, groups):.3f}")


def problems(count: int = 300, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random problems of 5 to 39 pure groups and 2 to 8 classes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n_groups, n_classes = rng.integers(5, 40), rng.integers(2, 9)
        sizes = np.maximum(1, np.round(rng.lognormal(3, 1.2, n_groups)).astype(int))
        label = rng.integers(0, n_classes, n_groups)
        yield np.repeat(label, sizes), np.repeat(np.arange(n_groups), sizes)


def objective(labels: np.ndarray, fold: np.ndarray, k: int) -> float:
    """Sum over folds and classes of |n_sc - N_c / k| / N_c."""
    there, label = np.unique(labels, return_inverse=True)
    n = np.bincount(fold * len(there) + label, minlength=k * len(there)).reshape(k, -1)
    return float((np.abs(n - n.sum(0) / k) / n.sum(0)).sum())


def folds(k: int = 5) -> None:
    from sklearn.model_selection import StratifiedGroupKFold

    warnings.simplefilter("ignore")
    worse = better = lacking = unsaid = peer_lacking = 0
    ours, theirs, seconds = [], [], 0.0
    for t, (labels, groups) in enumerate(problems()):
        start = time.perf_counter()
        plan = intact(labels, groups, {f"fold{i}": 1 / k for i in range(k)}, seed=t)
        seconds += time.perf_counter() - start
        mine = np.unique(plan.partition, return_inverse=True)[1]
        peer = np.zeros(len(labels), int)
        for i, (_, test) in enumerate(
            StratifiedGroupKFold(k, shuffle=True, random_state=t).split(labels, labels, groups)
        ):
            peer[test] = i
        a, b = objective(labels, mine, k), objective(labels, peer, k)
        worse, better = worse + (a > b + 1e-9), better + (a < b - 1e-9)
        named = {n.examples[0] for n in plan.notes if n.topic == "class absent"}
        for c in np.unique(labels):
            feasible = min(k, len(np.unique(groups[labels == c])))
            lacking += len(np.unique(mine[labels == c])) < feasible
            unsaid += (feasible < k) != (f"class {c}" in named)
        peer_lacking += any(len(np.unique(labels[peer == i])) < len(np.unique(labels)) for i in range(k))
        ours.append(np.abs(np.bincount(mine, minlength=k) / len(labels) - 1 / k).max())
        theirs.append(np.abs(np.bincount(peer, minlength=k) / len(labels) - 1 / k).max())
    print(f"300 problems in {seconds:.0f} s: objective worse than StratifiedGroupKFold in {worse}, better in {better}")
    print(f"  feasible classes missing from a fold: {lacking}; infeasible ones not named: {unsaid}")
    print(f"  StratifiedGroupKFold: a fold lacks a class in {peer_lacking}")
    print(f"  median worst fold-size error {np.median(ours):.3f}, StratifiedGroupKFold {np.median(theirs):.3f}")


if __name__ == "__main__":
    for what in sys.argv[1:] or ["size", "folds"]:
        {"size": size, "folds": folds}[what]()
