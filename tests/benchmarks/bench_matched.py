"""Coverage of the matched swap's interval over 500 simulated corpora with a known effect, the naive difference beside.

Run: python tests/benchmarks/bench_matched.py
"""

from __future__ import annotations

import sys

import numpy as np

from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import SplitPlan
from fiftyone_hsd.splitting.matched import matched
from fiftyone_hsd.splitting.matched_effect import matched_effect, naive_difference

EFFECT = 0.15
TRAIN = 0.7


def repeat(seed: int, n_groups: int = 60) -> tuple[bool, float, float, int, float]:
    """(covered, estimate, naive difference in a class-stratified shuffle, pairs, used)."""
    rng = np.random.default_rng([seed, 77])
    size = np.maximum(1, np.round(rng.lognormal(2, 0.6, n_groups)).astype(int))
    groups = np.repeat(np.arange(n_groups), size)
    labels = groups % 3
    # Large groups are easier: what makes exposed and unexposed samples of a random split different in kind.
    ease = np.clip(0.45 + 0.06 * np.log(size) + rng.normal(0, 0.1, n_groups), 0.05, 0.8)[groups]

    def right(partition: np.ndarray) -> np.ndarray:
        own = np.isin(groups, groups[partition == "train"])
        return (rng.random(len(groups)) < ease + EFFECT * own).astype(float)

    design = matched(labels, groups, seed=seed, share=0.8, tolerance=0.4)
    found = matched_effect(design, *(right(p.partition) for p in design.plans))
    partition = np.full(len(groups), "test", dtype="<U5")
    for c in range(3):
        rows = rng.permutation(np.flatnonzero(labels == c))
        partition[rows[: round(TRAIN * len(rows))]] = "train"
    random = SplitPlan.of("random", seed, partition)
    naive = naive_difference(random, exposure(random, groups), groups, labels, right(random.partition))
    return found.low <= EFFECT <= found.high, found.estimate, naive.difference, found.pairs, design.used


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    covered, estimate, naive, pairs, used = map(np.array, zip(*(repeat(s) for s in range(count)), strict=True))
    print(f"truth {EFFECT}: covered in {covered.sum()} of {count}; mean estimate {estimate.mean():.4f}")
    print(f"naive difference, shuffled files: mean {np.nanmean(naive):.4f}, not defined in {np.isnan(naive).sum()}")
    print(f"pairs {pairs.mean():.1f}, files used {used.mean():.1%}")
