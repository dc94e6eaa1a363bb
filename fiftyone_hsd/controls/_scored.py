"""Scores of readers on splits of an experiment's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..exposure import exposure
from ..metrics import METRICS
from ..model import Effect, Run, SplitPlan
from ..scoreboard import Scoreboard, scoreboards
from ..stats import NAN, Interval, seed_interval
from ._study import Study


def boards_of(study: Study, plans: Sequence[SplitPlan], runs: Sequence[Run]) -> list[Scoreboard]:
    """One scoreboard a reader."""
    exposures = [exposure(p, study.grouping) for p in plans]
    return scoreboards(study.samples, study.units, plans, exposures, runs)


def pooled(board: Scoreboard, condition: str, metric: str = METRICS[0]) -> Interval:
    """Mean over seeds with its group-bootstrap interval."""
    seeds = board.seeds(condition)
    if not seeds:
        return Interval(NAN)
    values, draws = board.values(condition, metric, seeds)
    found = seed_interval(float(values.mean()), values, draws, board.support(condition, seeds), paired=False)
    return replace(found.within(0, 1), p=NAN)


def scored(board: Scoreboard, condition: str, what: str = "score", how: str = "group bootstrap, t interval") -> Effect:
    """The pooled score of a condition as an Effect."""
    seeds = board.seeds(condition)
    effect = board.effect(what, condition, METRICS[0], pooled(board, condition), board.n(condition, seeds), how)
    return replace(effect, model=board.model.rsplit("|", 1)[-1])


def difference(board: Scoreboard, first: str, second: str) -> Interval:
    """Score under `first` minus score under `second`, on the same draws of group weights; different test images."""
    seeds = board.seeds(first, second)
    if not seeds:
        return Interval(NAN)
    (a, a_draws), (b, b_draws) = (board.values(c, METRICS[0], seeds) for c in (first, second))
    support = board.support(first, seeds).fewest(board.support(second, seeds))
    return seed_interval(float((a - b).mean()), a - b, a_draws - b_draws, support, paired=False)
