"""Every number of an audit, with its interval (the method's section 4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .exposure import crossing, exposure_rate, relative_pair_leak
from .model import TEST, TRAIN, VAL, Effect, Exposure, Floats, Grouping, Run, Samples, SplitPlan
from .splitting import CONDITIONS, SHUFFLE
from .stats import (
    METRICS,
    Counts,
    Interval,
    degrees_of_freedom,
    design_effect,
    group_weights,
    intraclass_correlation,
    score,
    seed_interval,
)

INTACT, RANDOM, EXISTING = CONDITIONS[0], CONDITIONS[-1], "existing"
NAN = float("nan")
ESTIMABLE, WITH_INTERVAL = 5, 10
"""Distinct test groups of a class below which nothing, and below which no interval, is given."""
BOOTSTRAP = (
    "group bootstrap (one Exp(1) weight a corpus group, all seeds and conditions) + seed variance / J, t interval"
)


def effects(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    runs: Sequence[Run],
) -> list[Effect]:
    """Scores, inflation, slope, exposure and its companions; about the test partition unless an effect says otherwise.

    Args:
        samples, grouping: the corpus; no group is unknown.
        plans, exposures: same order.
        runs: any number; conditions without runs have no score.

    Returns:
        Effects; a number that cannot be estimated is nan and `method` says why.
    """
    rows = list(_exposure_numbers(samples, grouping, plans, exposures))
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        by_model.setdefault(run.config.model, []).append(run)
    weights = group_weights(grouping.n_groups)
    for model, own in by_model.items():
        board = Board(samples, grouping, tuple(plans), tuple(exposures), tuple(own), weights)
        rows += [dataclasses.replace(e, model=model) for e in _model_numbers(board)]
    return rows


@dataclass(frozen=True, eq=False)
class Board:
    """The runs of one model beside the plans they were trained under."""

    samples: Samples
    grouping: Grouping
    plans: tuple[SplitPlan, ...]
    exposures: tuple[Exposure, ...]
    runs: tuple[Run, ...]
    weights: NDArray[np.float32]

    @cached_property
    def df(self) -> int:
        """Degrees of freedom of every interval."""
        return degrees_of_freedom(self.samples.labels, self.grouping.codes)

    @cached_property
    def counts(self) -> dict[tuple[str, int], Counts]:
        """(condition, seed) -> test predictions by group."""
        result = {}
        plan_of = {(p.condition, p.seed): p for p in self.plans}
        for run in self.runs:
            inside = plan_of[run.condition, run.seed].partition[run.rows] == TEST
            if inside.any():
                at = run.rows[inside]
                result[run.condition, run.seed] = Counts(
                    self.grouping.codes[at],
                    self.samples.labels[at].astype(np.int64),
                    run.predicted[inside].astype(np.int64),
                    self.grouping.n_groups,
                    len(self.samples.classes),
                )
        return result

    def seeds(self, *conditions: str) -> list[int]:
        """The seeds for which all conditions have a run."""
        sets = [{s for c, s in self.counts if c == condition} for condition in conditions]
        return sorted(set.intersection(*sets)) if sets else []

    def values(self, condition: str, metric: str, seeds: Sequence[int]) -> tuple[Floats, Floats]:
        """((J,) estimates, (B, J) draws) of a metric; cached, since many numbers share them."""
        kept: list[tuple[Floats, Floats]] = []
        for seed in seeds:
            key = (condition, metric, seed)
            if key not in self._cache:
                counts = self.counts[condition, seed]
                self._cache[key] = (score(counts, metric), score(counts, metric, self.weights))
            kept.append(self._cache[key])
        return np.array([e[0] for e, _ in kept]), np.stack([d for _, d in kept], axis=1)

    @cached_property
    def _cache(self) -> dict[tuple[str, str, int], tuple[Floats, Floats]]:
        return {}

    def rate(self, condition: str, seed: int) -> float:
        """Achieved exposure of the test partition."""
        for plan, result in zip(self.plans, self.exposures, strict=True):
            if plan.condition == condition and plan.seed == seed:
                return exposure_rate(result, plan.partition == TEST)
        return NAN

    def test_groups(self, condition: str, seeds: Sequence[int]) -> NDArray[np.int64]:
        """int64 (C,), the fewest distinct test groups of each class over the seeds."""
        held = []
        for seed in seeds:
            c = self.counts[condition, seed]
            pairs = np.unique(np.stack([c.truth, c.groups]), axis=1)
            held.append(np.bincount(pairs[0], minlength=c.n_classes))
        return np.asarray(np.min(held, axis=0), np.int64)


def _effect(
    what: str, condition: str, metric: str, found: Interval, n: int, method: str, class_name: str = ""
) -> Effect:
    return Effect(
        what, "", condition, None, TEST, class_name, metric, found.estimate, found.low, found.high, found.p, n, method
    )


def _model_numbers(board: Board) -> Iterable[Effect]:
    for condition in (EXISTING, *CONDITIONS, SHUFFLE):
        seeds = board.seeds(condition)
        if not seeds:
            continue
        n = len(board.counts[condition, seeds[0]].truth)
        for metric in METRICS:
            estimates, draws = board.values(condition, metric, seeds)
            for seed, value in zip(seeds, estimates, strict=True):
                yield Effect("score", "", condition, seed, TEST, "", metric, float(value), NAN, NAN, NAN, n, "one run")
            found = dataclasses.replace(seed_interval(estimates, draws, board.df), p=NAN)
            yield _effect("score", condition, metric, found, n, f"mean of {len(seeds)} seeds; {BOOTSTRAP}")
            if condition not in (EXISTING, INTACT) and board.seeds(INTACT, condition):
                yield from _against_intact(board, condition, metric)
        yield from _design(board, condition, seeds[0])
    if board.seeds(*CONDITIONS):
        for metric in METRICS:
            yield _slope(board, metric)
        yield from _class_gains(board)
        yield from _naive(board)


def _against_intact(board: Board, condition: str, metric: str) -> Iterable[Effect]:
    seeds = board.seeds(INTACT, condition)
    base, base_draws = board.values(INTACT, metric, seeds)
    value, draws = board.values(condition, metric, seeds)
    n = len(board.counts[condition, seeds[0]].truth)
    found = seed_interval(value - base, draws - base_draws, board.df)
    how = f"paired difference from intact, {len(seeds)} seeds; {BOOTSTRAP}"
    yield _effect("inflation", condition, metric, found, n, how)
    start = float(base.mean())
    if start < 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            removed = (draws.mean(axis=1) - base_draws.mean(axis=1)) / (1 - base_draws.mean(axis=1))
        estimate = (float(value.mean()) - start) / (1 - start)
        low, high = np.nanquantile(removed, [0.025, 0.975]) if np.isfinite(removed).all() else (NAN, NAN)
        removed_interval = Interval(estimate, float(low), float(high), NAN, NAN)
        how = "1 - (1 - M_k) / (1 - M_intact) of the means over seeds; percentile of the group bootstrap"
        yield _effect("relative_error_removed", condition, metric, removed_interval, n, how)


def _slope(board: Board, metric: str) -> Effect:
    """Rise of the metric per 10 points of achieved exposure, least squares over the conditions of each seed."""
    seeds = board.seeds(*CONDITIONS)
    rates = np.array([[board.rate(c, s) for c in CONDITIONS] for s in seeds])
    pairs = [board.values(c, metric, seeds) for c in CONDITIONS]
    n = len(board.counts[INTACT, seeds[0]].truth)
    spread = ((rates - rates.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    if not np.isfinite(spread).all() or (spread <= 1e-12).any():
        nothing = Interval(NAN, NAN, NAN, NAN, NAN)
        return _effect("slope_per_10_points", "", metric, nothing, n, "not estimable: exposure does not change")
    a = (rates - rates.mean(axis=1, keepdims=True)) / spread[:, None] / 10
    estimates = (a * np.stack([e for e, _ in pairs], axis=1)).sum(axis=1)
    draws = sum(a[:, k][None, :] * d for k, (_, d) in enumerate(pairs))
    found = seed_interval(estimates, np.asarray(draws), board.df)
    return _effect("slope_per_10_points", "", metric, found, n, f"slope on achieved exposure; {BOOTSTRAP}")


def _class_gains(board: Board) -> Iterable[Effect]:
    seeds = board.seeds(INTACT, RANDOM)
    held = board.test_groups(INTACT, seeds)
    for c, name in enumerate(board.samples.classes):
        g = int(held[c])
        for metric in ("recall", "f1"):
            if g < ESTIMABLE:
                nothing = Interval(NAN, NAN, NAN, NAN, NAN)
                how = f"not estimable: {g} distinct test groups, {ESTIMABLE} needed"
                yield _effect("class_inflation", RANDOM, metric, nothing, g, how, name)
                continue
            base, base_draws = board.values(INTACT, f"{metric}:{c}", seeds)
            value, draws = board.values(RANDOM, f"{metric}:{c}", seeds)
            found = seed_interval(value - base, draws - base_draws, board.df)
            how = f"paired difference; n = fewest distinct test groups in intact; {BOOTSTRAP}"
            if g < WITH_INTERVAL:
                found = Interval(found.estimate, NAN, NAN, NAN, NAN)
                how = f"paired difference; {g} distinct test groups: no interval below {WITH_INTERVAL}"
            yield _effect("class_inflation", RANDOM, metric, found, g, how, name)


def _design(board: Board, condition: str, seed: int) -> Iterable[Effect]:
    counts = board.counts[condition, seed]
    n = len(counts.truth)
    icc = intraclass_correlation(counts.truth == counts.predicted, counts.groups, counts.truth)
    deff = design_effect(counts.groups, icc)
    for what, value in (("icc", icc), ("design_effect", deff), ("effective_n", n / deff if deff > 0 else NAN)):
        how = "correctness by group within class, one-way analysis of variance"
        yield Effect(what, "", condition, seed, TEST, "", "accuracy", value, NAN, NAN, NAN, n, how)


def _naive(board: Board) -> Iterable[Effect]:
    """Exposed minus unexposed inside `random`: not exchangeable, so only beside what tells how little it says."""
    seed = board.seeds(RANDOM)[0]
    run = next(r for r in board.runs if (r.condition, r.seed) == (RANDOM, seed))
    place = next(i for i, p in enumerate(board.plans) if (p.condition, p.seed) == (RANDOM, seed))
    test = board.plans[place].partition[run.rows] == TEST
    exposed = board.exposures[place].exposed[run.rows][test]
    correct = (run.predicted == board.samples.labels[run.rows])[test]
    n, m = int(exposed.sum()), int((~exposed).sum())
    singles = board.grouping.sizes[board.grouping.codes[run.rows[test]]] == 1
    share = float(singles[~exposed].mean()) if m else NAN
    value = float(correct[exposed].mean() - correct[~exposed].mean()) if n and m else NAN
    how = f"not exchangeable, no interval; {n} exposed, {m} unexposed, of which {share:.0%} singletons"
    how = how if m else f"not estimable: all {n} test images are exposed"
    yield Effect(
        "naive_exposed_minus_unexposed", "", RANDOM, seed, TEST, "", "accuracy", value, NAN, NAN, NAN, n + m, how
    )


def _exposure_numbers(
    samples: Samples, grouping: Grouping, plans: Sequence[SplitPlan], exposures: Sequence[Exposure]
) -> Iterable[Effect]:
    for plan, result in zip(plans, exposures, strict=True):
        for part in (TEST, VAL):
            rows = result.evaluated & (plan.partition == part)
            if rows.any():
                yield _count("exposure_rate", plan, part, "", exposure_rate(result, rows), int(rows.sum()))
                mates = float(result.mates_in_train[rows].mean())
                yield _count("mean_mates_in_train", plan, part, "", mates, int(rows.sum()))
        rates = []
        for c, name in enumerate(samples.classes):
            rows = result.evaluated & (plan.partition == TEST) & (samples.labels == c)
            if rows.any():
                rates.append(exposure_rate(result, rows))
                yield _count("exposure_rate", plan, TEST, name, rates[-1], int(rows.sum()))
        if rates:
            yield _count("macro_exposure_rate", plan, TEST, "", float(np.mean(rates)), len(rates))
        groups, files, crossed = crossing(plan, grouping.codes)
        used = int((plan.partition != "unused").sum())
        yield _count("crossing_groups", plan, "", "", groups, crossed)
        yield _count("crossing_files", plan, "", "", files, used)
        yield _count("relative_pair_leak", plan, "", "", relative_pair_leak(plan, grouping.codes), used)
        train = samples.labels[(plan.partition == TRAIN) & (samples.labels >= 0)]
        test = samples.labels[(plan.partition == TEST) & (samples.labels >= 0)]
        if len(train) and len(test):
            chance = float((test == np.bincount(train).argmax()).mean())
            yield dataclasses.replace(_count("chance", plan, TEST, "", chance, len(test)), metric="accuracy")
            chance = 1 / len(np.unique(test))
            yield dataclasses.replace(_count("chance", plan, TEST, "", chance, len(test)), metric="balanced_accuracy")


def _count(what: str, plan: SplitPlan, partition: str, class_name: str, value: float, n: int) -> Effect:
    how = "count" if np.isfinite(value) else "not defined: no groups of two or more"
    return Effect(what, "", plan.condition, plan.seed, partition, class_name, "", value, NAN, NAN, NAN, n, how)
