"""Numbers of a split by itself, before any model: exposure, crossing, pair leak, chance (the method's 4.1 to 4.4).

They are counts over the plan, so they have no interval; the rows without a seed are means over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .exposure import crossing, exposure, exposure_rate, relative_pair_leak
from .model import TRAIN, UNUSED, VAL, Effect, Exposure, Grouping, Samples, SplitPlan
from .scoreboard import readout
from .stats import NAN

NO_MATES = "not defined: no groups of two or more"


def plan_numbers(
    samples: Samples, grouping: Grouping, plans: Sequence[SplitPlan], exposures: Sequence[Exposure]
) -> Iterable[Effect]:
    """One row a number and plan, then their means over the seeds of each condition."""
    rows = []
    for plan, result in zip(plans, exposures, strict=True):
        rows += [*_exposure(samples, grouping, plan, result), *_crossing(grouping, plan), *_chance(samples, plan)]
    yield from rows
    pooled: dict[tuple[str, str, str, str, str], list[Effect]] = {}
    for e in rows:
        pooled.setdefault((e.what, e.condition, e.partition, e.class_name, e.metric), []).append(e)
    for items in pooled.values():
        values = [e.estimate for e in items if np.isfinite(e.estimate)]
        if len(items) > 1 and values:
            how = f"count, mean over {len(values)} seeds"
            yield replace(items[0], seed=None, estimate=float(np.mean(values)), method=how)


def _count(what: str, plan: SplitPlan, part: str, name: str, value: float, n: int, metric: str = "") -> Effect:
    how = "count" if np.isfinite(value) else NO_MATES
    return Effect(what, "", plan.condition, plan.seed, part, name, metric, value, NAN, NAN, NAN, n, how)


def _exposure(samples: Samples, grouping: Grouping, plan: SplitPlan, result: Exposure) -> Iterable[Effect]:
    read = readout(plan)
    for part in dict.fromkeys((read, VAL)):
        rows = result.evaluated & (plan.partition == part)
        if rows.any():
            n = int(rows.sum())
            yield _count("exposure_rate", plan, part, "", exposure_rate(result, rows), n)
            yield _count("mean_mates_in_train", plan, part, "", float(result.mates_in_train[rows].mean()), n)
    both = (TRAIN, VAL)
    if read not in ("", VAL) and (plan.partition == VAL).any():
        wider = exposure(plan, grouping, train=both)
        rows = wider.evaluated & (plan.partition == read)
        rate = exposure_rate(wider, rows)
        yield _count("exposure_rate_to_train_and_val", plan, read, "", rate, int(rows.sum()))
    rates = []
    for c, name in enumerate(samples.classes):
        rows = result.evaluated & (plan.partition == read) & (samples.labels == c)
        if rows.any():
            rates.append(exposure_rate(result, rows))
            yield _count("exposure_rate", plan, read, name, rates[-1], int(rows.sum()))
    if rates:
        yield _count("macro_exposure_rate", plan, read, "", float(np.mean(rates)), len(rates))


def _crossing(grouping: Grouping, plan: SplitPlan) -> Iterable[Effect]:
    groups, files, _ = crossing(plan, grouping.codes)
    used = plan.partition != UNUSED
    size = np.bincount(grouping.codes[used], minlength=grouping.n_groups)
    many = int((size > 1).sum())
    yield _count("crossing_groups", plan, "", "", groups, many)
    yield _count("crossing_files", plan, "", "", files, int(size[size > 1].sum()))
    yield _count("relative_pair_leak", plan, "", "", relative_pair_leak(plan, grouping.codes), int(used.sum()))


def _chance(samples: Samples, plan: SplitPlan) -> Iterable[Effect]:
    """Accuracy: the test share of the class that is largest in train. Balanced accuracy: 1 / tested classes."""
    read = readout(plan)
    train = samples.labels[(plan.partition == TRAIN) & (samples.labels >= 0)]
    test = samples.labels[(plan.partition == read) & (samples.labels >= 0)]
    if len(train) and len(test):
        share = float((test == np.bincount(train).argmax()).mean())
        yield _count("chance", plan, read, "", share, len(test), "accuracy")
        yield _count("chance", plan, read, "", 1 / len(np.unique(test)), len(test), "balanced_accuracy")
