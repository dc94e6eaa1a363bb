"""Every number of an audit, with its interval (the method's section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .class_effects import class_numbers, naive_numbers
from .dependence import undetectable
from .metrics import METRICS
from .model import TEST, Effect, Exposure, Grouping, Run, Samples, SplitPlan
from .plan_effects import plan_numbers
from .scoreboard import Scoreboard, scoreboards
from .splitting import CONDITIONS, SHUFFLE
from .stats import DRAWS, NAN, Interval, design_effect, intraclass_correlation, seed_interval
from .two_class import two_class_numbers

INTACT, RANDOM, EXISTING = CONDITIONS[0], CONDITIONS[-1], "existing"
FURTHER = ("matched_swap", "sensitivity")
"""Beginnings of the names of effects that come from runs on plans of their own, which no report holds."""
BOOTSTRAP = (
    "group bootstrap (one Exp(1) weight a corpus group, all seeds and conditions) + seed variance / J, t interval; "
    "about this recipe on new groups from the same sources"
)
ONE_SPLIT = "group bootstrap of this one split (one Exp(1) weight a group), t interval; about the model as trained"


def effects(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    runs: Sequence[Run],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Effect]:
    """Scores, inflation, slope, exposure and their companions, about the partition that is read out (test).

    Args:
        samples, grouping: the corpus; a sample of unknown group counts as a group of its own.
        plans, exposures: same order.
        runs: any number; conditions without runs have no score.
        draws, seed: of the bootstrap.

    Returns:
        Effects; a number that cannot be estimated is nan and `method` says why.

    Raises:
        InputError: a run belongs to no plan.
    """
    known = grouping.with_unknown_as_singletons()
    rows = list(plan_numbers(samples, known, plans, exposures))
    doubt = undetectable(samples, known)
    boards = scoreboards(samples, known, plans, exposures, runs, draws=draws, seed=seed)
    for board in boards:
        rows += [replace(e, model=board.model) for e in _model_numbers(board, doubt)]
        rows += [replace(e, model=board.model) for e in naive_numbers(board, samples, known, plans)]
    rows += two_class_numbers(samples, known, plans, exposures, runs, boards, draws=draws, seed=seed)
    if not any(e.what == "inflation" for e in rows):
        rows.append(_missing(samples, plans, boards, doubt))
    return rows


def _missing(samples: Samples, plans: Sequence[SplitPlan], boards: Sequence[Scoreboard], doubt: str) -> Effect:
    """The gap where inflation should stand."""
    why = "no model was run under both intact and random"
    if not samples.labelled:
        why = "no labels"
    elif not any(p.condition == INTACT for p in plans):
        why = "no intact split of these groups was drawn"
    elif not boards:
        why = "no model was run"
    why = f"not evaluated: {why}" + (f"; no dependence detectable: {doubt}" if doubt else "")
    return Effect("inflation", "", RANDOM, None, TEST, "", METRICS[0], NAN, NAN, NAN, NAN, 0, why)


def order(conditions: Iterable[str]) -> list[str]:
    """The published split first, the ladder in its order, then anything else."""
    there = list(conditions)
    first = [c for c in (EXISTING, *CONDITIONS, SHUFFLE) if c in there]
    return first + [c for c in there if c not in first]


def _model_numbers(board: Scoreboard, doubt: str) -> Iterable[Effect]:
    for condition in order(board.conditions()):
        seeds = board.seeds(condition)
        for metric in METRICS:
            yield from _scores(board, condition, metric, seeds)
            if condition in (*CONDITIONS[1:], SHUFFLE) and board.seeds(INTACT, condition):
                yield _inflation(board, condition, metric, doubt)
                yield _error_removed(board, condition, metric)
                if board.seeds(INTACT, condition, sentinel=True):
                    yield _sentinel_corrected(board, condition, metric)
        yield from _design(board, condition, seeds[0])
    if board.seeds(*CONDITIONS):
        for metric in METRICS:
            yield _slope(board, metric)
    yield from class_numbers(board)


def _scores(board: Scoreboard, condition: str, metric: str, seeds: list[int]) -> Iterable[Effect]:
    estimates, draws = board.values(condition, metric, seeds)
    for seed, value in zip(seeds, estimates.tolist(), strict=True):
        cell = board.read[condition, seed]
        n = len(cell.predictions)
        how = "one run; the interval stands with the mean over seeds"
        yield Effect("score", board.model, condition, seed, cell.partition, "", metric, value, NAN, NAN, NAN, n, how)
    support = board.support(condition, seeds)
    found = seed_interval(float(estimates.mean()), estimates, draws, support, paired=False)
    found = replace(found.within(0, 1), p=NAN)
    how = f"mean of {len(seeds)} seeds; {BOOTSTRAP}" if len(seeds) > 1 else ONE_SPLIT
    if not np.isfinite(found.low):
        how = f"no interval: {_poor(support.held)}"
    yield board.effect("score", condition, metric, found, board.n(condition, seeds), how)


def _poor(held: Sequence[float]) -> str:
    """Why there is no interval."""
    few = f"the class with the fewest has an effective {min(held):.1f}" if held else "no class is tested"
    return f"too few distinct test groups ({few})"


def _paired(seeds: Sequence[int]) -> str:
    spread = "" if len(seeds) > 1 else "; one seed, so the spread over splits is unknown and not in the interval"
    return f"paired difference from intact, {len(seeds)} seed{'s' if len(seeds) > 1 else ''}; {BOOTSTRAP}{spread}"


def _inflation(board: Scoreboard, condition: str, metric: str, doubt: str) -> Effect:
    seeds = board.seeds(INTACT, condition)
    base, base_draws = board.values(INTACT, metric, seeds)
    value, draws = board.values(condition, metric, seeds)
    support = board.support(INTACT, seeds).fewest(board.support(condition, seeds))
    found = seed_interval(float((value - base).mean()), value - base, draws - base_draws, support, paired=True).within(
        -1, 1
    )
    how = _paired(seeds) if np.isfinite(found.low) else f"no interval: {_poor(support.held)}"
    if doubt:
        how = f"no dependence detectable: {doubt}; {how}"
    return board.effect("inflation", condition, metric, found, board.n(condition, seeds), how)


def _error_removed(board: Scoreboard, condition: str, metric: str) -> Effect:
    """1 - (1 - M_k) / (1 - M_0), of the means over seeds; the seeds enter by the linear part of the ratio."""
    seeds = board.seeds(INTACT, condition)
    base, base_draws = board.values(INTACT, metric, seeds)
    value, draws = board.values(condition, metric, seeds)
    n, support = board.n(condition, seeds), board.support(INTACT, seeds)
    left, left_draws = 1 - float(base.mean()), 1 - base_draws
    if left <= 0 or (left_draws <= 0).any():
        why = "not estimable: no error is left under intact"
        return board.effect("relative_error_removed", condition, metric, Interval(NAN), n, why)
    estimate = 1 - (1 - float(value.mean())) / left
    drawn = 1 - (1 - draws) / left_draws
    linear = (value - base - estimate * (1 - base)) / left
    found = seed_interval(estimate, linear, drawn, support, paired=True)
    found = replace(found, p=NAN).within(-np.inf, 1)
    how = f"1 - (1 - M_k) / (1 - M_intact) of the means over {len(seeds)} seeds; {BOOTSTRAP}"
    return board.effect("relative_error_removed", condition, metric, found, n, how)


def _sentinel_corrected(board: Scoreboard, condition: str, metric: str) -> Effect:
    """[M_test(k) - M_sent(k)] - [M_test(0) - M_sent(0)]: without the gain from more distinct groups in train."""
    seeds = board.seeds(INTACT, condition, sentinel=True)
    pairs = [
        board.values(c, metric, seeds, sentinel=s)
        for c, s in ((condition, False), (condition, True), (INTACT, False), (INTACT, True))
    ]
    (test, a), (sent, b), (base, c), (base_sent, d) = pairs
    support = board.support(INTACT, seeds).fewest(board.support(INTACT, seeds, sentinel=True))
    change = (test - sent) - (base - base_sent)
    found = seed_interval(float(change.mean()), change, (a - b) - (c - d), support, paired=True)
    how = f"inflation minus the change on sentinel groups, which are in no train set; {_paired(seeds)}"
    return board.effect("sentinel_corrected_inflation", condition, metric, found, board.n(condition, seeds), how)


def _slope(board: Scoreboard, metric: str) -> Effect:
    """Rise of the metric per 10 points of achieved exposure, least squares over the conditions of each seed."""
    seeds = board.seeds(*CONDITIONS)
    rates = np.stack([board.rates(c, seeds) for c in CONDITIONS], axis=1)
    pairs = [board.values(c, metric, seeds) for c in CONDITIONS]
    n, what = board.n(INTACT, seeds), "slope_per_10_points"
    away = rates - rates.mean(axis=1, keepdims=True)
    spread = (away**2).sum(axis=1)
    if (spread <= 1e-12).any():
        return board.effect(what, "", metric, Interval(NAN), n, "not estimable: exposure does not change")
    a = away / spread[:, None] / 10
    estimates = (a * np.stack([e for e, _ in pairs], axis=1)).sum(axis=1)
    draws = np.sum([a[:, k].mean() * d for k, (_, d) in enumerate(pairs)], axis=0)
    found = seed_interval(float(estimates.mean()), estimates, draws, board.support(INTACT, seeds), paired=True)
    return board.effect(what, "", metric, found, n, f"per-seed slope on achieved exposure; {BOOTSTRAP}")


def _design(board: Scoreboard, condition: str, seed: int) -> Iterable[Effect]:
    cell = board.read[condition, seed]
    p, n = cell.predictions, len(cell.predictions)
    icc = intraclass_correlation(p.correct, p.groups, p.truth)
    deff = design_effect(p.groups, icc)
    how = "correctness by group within class, one-way analysis of variance"
    if not np.isfinite(icc):
        how = "not estimable: correctness does not vary, or no two test images of a class share a group"
    for what, value in (("icc", icc), ("design_effect", deff), ("effective_n", n / deff)):
        yield Effect(what, board.model, condition, seed, cell.partition, "", "accuracy", value, NAN, NAN, NAN, n, how)
