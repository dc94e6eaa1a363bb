"""The matched swap over a corpus: its two plans, and what the runs under them say (the method's section 3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from .exposure import exposure
from .model import TEST, UNUSED, Effect, Floats, Grouping, Run, Samples, SplitPlan
from .splitting.matched import MatchedDesign, matched
from .splitting.matched_effect import matched_effect

FIRST, SECOND = "matched", "matched-swapped"
SWAPPED = (FIRST, SECOND)
EFFECT, COVERAGE, DOSE = "matched_swap", "matched_swap_coverage", "matched_swap_mates"
ESTIMAND = (
    "exposed less unexposed test images, exposure by a coin within pairs of like groups: the effect of this many own "
    "mates in train against as many unrelated files, about groups that can be paired; not the inflation of a random "
    "split"
)


def design_of(samples: Samples, grouping: Grouping, *, seed: int = 0) -> MatchedDesign:
    """The two plans over the labelled samples; the others are unused.

    Raises:
        InfeasibleError: no two groups can be paired, or none would be left for train.
    """
    rows = np.flatnonzero(samples.labels >= 0)
    ids = [samples.ids[i] for i in rows]
    found = matched(samples.labels[rows], grouping.codes[rows], seed=seed, ids=ids, unknown="singleton")
    n = len(samples)
    pair, own = np.full(n, -1, np.int64), np.zeros(n, bool)
    pair[rows], own[rows] = found.pair, found.own_first
    plans = []
    for plan in found.plans:
        partition = np.full(n, UNUSED, dtype=f"<U{len(UNUSED)}")
        partition[rows] = plan.partition
        plans.append(SplitPlan.of(plan.condition, seed, partition, samples.ids, plan.notes))
    return dataclasses.replace(found, plans=(plans[0], plans[1]), pair=pair, own_first=own)


def matched_numbers(
    samples: Samples, grouping: Grouping, design: MatchedDesign, runs: Sequence[Run]
) -> Iterable[Effect]:
    """What the design covers, and the effect for every model that was run under both plans.

    Args:
        samples, grouping, design: of `design_of`.
        runs: any; those of other plans are left alone.
    """
    plan, nan = design.plans[0], float("nan")
    labelled = int((samples.labels >= 0).sum())
    covered = float((design.pair >= 0)[samples.labels >= 0].mean())
    how = f"share of the labelled images in a test part or reserve; {design.pairs} pairs of groups"
    yield _effect(COVERAGE, "", plan.seed, covered, nan, nan, labelled, how)
    mates = [exposure(p, grouping) for p in design.plans]
    test = plan.partition == TEST
    dose = np.where(design.own_first, mates[0].mates_in_train, mates[1].mates_in_train)[test]
    how = "median number of own mates in train of a test image when it is exposed; none in the complementary run"
    yield _effect(DOSE, "", plan.seed, float(np.median(dose)), nan, nan, int(test.sum()), how)
    for model in dict.fromkeys(r.config.model for r in runs):
        by = {r.condition: r for r in runs if r.config.model == model and r.seed == plan.seed}
        if FIRST in by and SECOND in by:
            found = matched_effect(design, _right(samples, by[FIRST]), _right(samples, by[SECOND]))
            how = (
                f"{ESTIMAND}; {found.files} test images; t interval over {found.pairs} pairs, the unit of randomisation"
            )
            low, high = np.clip([found.low, found.high], -1, 1).tolist()
            yield _effect(EFFECT, model, plan.seed, found.estimate, low, high, found.pairs, how)


def _right(samples: Samples, run: Run) -> Floats:
    """float64 (n,): 1 = right, 0 = wrong, nan = not predicted."""
    values = np.full(len(samples), np.nan)
    values[run.rows] = run.predicted == samples.labels[run.rows]
    return values


def _effect(what: str, model: str, seed: int, value: float, low: float, high: float, n: int, how: str) -> Effect:
    metric = "accuracy" if what == EFFECT else ""
    return Effect(what, model, FIRST, seed, TEST, "", metric, value, low, high, float("nan"), n, how)
