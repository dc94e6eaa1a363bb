"""Numbers about single classes, and about exposed against unexposed test images (the method's 4.7 to 4.9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .exposure import chances_exposed
from .model import TRAIN, UNUSED, Effect, Floats, Grouping, Samples, SplitPlan
from .scoreboard import Cell, Scoreboard
from .splitting import CONDITIONS, SHUFFLE
from .stats import NAN, Interval, adjusted, seed_interval

INTACT, RANDOM, EXISTING = CONDITIONS[0], CONDITIONS[-1], "existing"
ESTIMABLE, WITH_INTERVAL = 5, 10
"""Distinct test groups of a class below which nothing, and below which no interval, is given."""
OVERLAP = (0.1, 0.9)
"""Chances to be exposed between which exposed and unexposed images can be compared at all (our choice)."""
SHORT = "group bootstrap, t interval"
IDENTITY = (
    "identity M_k - M_intact = exposed term + unexposed term, not a cause; exposed term = E (M_exposed - M_unexposed), "
    "unexposed term = M_unexposed - M_intact; mean over seeds, no interval"
)


def class_numbers(board: Scoreboard) -> Iterable[Effect]:
    """Per class: scores of every condition, change from intact to random; the identity, overall and per class."""
    for condition in board.conditions():
        yield from _class_scores(board, condition)
    for condition in (RANDOM, SHUFFLE):
        if board.seeds(INTACT, condition):
            for metric in ("recall", "f1"):
                yield from _class_inflation(board, condition, metric)
    for condition in (*CONDITIONS[1:], SHUFFLE):
        if board.seeds(INTACT, condition):
            yield from _identity(board, condition, None)
            for c in range(len(board.classes)):
                yield from _identity(board, condition, c)


def _gate(held: int, found: Interval, how: str) -> tuple[Interval, str]:
    """The rule of 5 and 10 distinct test groups."""
    if held < ESTIMABLE:
        return Interval(NAN), f"not estimable: {held} distinct test groups, {ESTIMABLE} needed"
    if held < WITH_INTERVAL:
        return Interval(found.estimate), f"{how}; {held} distinct test groups: no interval below {WITH_INTERVAL}"
    return found, how


def _class_scores(board: Scoreboard, condition: str) -> Iterable[Effect]:
    for c, name in enumerate(board.classes):
        seeds = board.testing(c, condition)
        held, _ = board.held(condition, seeds, c)
        for metric in ("recall", "f1"):
            found, how = Interval(NAN), f"mean of {len(seeds)} seeds; n = distinct test groups over all seeds; {SHORT}"
            if seeds:
                estimates, draws = board.values(condition, f"{metric}:{c}", seeds)
                support = board.support(condition, seeds, of_class=c)
                found = seed_interval(float(estimates.mean()), estimates, draws, support, paired=False).within(0, 1)
            found, how = _gate(held, replace(found, p=NAN), how)
            yield board.effect("class_score", condition, metric, found, held, how, name)


def _class_inflation(board: Scoreboard, condition: str, metric: str) -> Iterable[Effect]:
    """Change from intact of each class; p values over the classes of one metric by Benjamini and Hochberg."""
    rows: list[tuple[str, int, Interval, str]] = []
    for c, name in enumerate(board.classes):
        seeds = board.testing(c, INTACT, condition)
        held, least = board.held(INTACT, seeds, c)
        found = Interval(NAN)
        how = (
            f"paired difference from intact, {len(seeds)} seeds; n = distinct test groups of intact over all seeds, at "
            f"least {least} in one; p by Benjamini and Hochberg over classes; {SHORT}"
        )
        if seeds:
            base, base_draws = board.values(INTACT, f"{metric}:{c}", seeds)
            value, draws = board.values(condition, f"{metric}:{c}", seeds)
            change, support = value - base, board.support(INTACT, seeds, of_class=c)
            found = seed_interval(float(change.mean()), change, draws - base_draws, support, paired=True)
        rows.append((name, held, *_gate(held, found.within(-1, 1), how)))
    for (name, held, found, how), p in zip(rows, adjusted(r[2].p for r in rows).tolist(), strict=True):
        yield board.effect("class_inflation", condition, metric, replace(found, p=p), held, how, name)


def _identity(board: Scoreboard, condition: str, c: int | None) -> Iterable[Effect]:
    """Both terms of the identity, for accuracy or the recall of class c; seeds that leave it undefined are left out."""
    seeds = board.seeds(INTACT, condition)
    terms = [_terms(board.read[condition, s], board.read[INTACT, s], c) for s in seeds]
    defined = [t for t in terms if t is not None]
    metric, name = ("accuracy", "") if c is None else ("recall", board.classes[c])
    n = board.n(condition, seeds) if c is None else int((board.read[condition, seeds[0]].predictions.truth == c).sum())
    how, values = IDENTITY, np.mean(defined, axis=0) if defined else np.array([NAN, NAN])
    if not defined:
        how = "not defined: in every seed all or none of the test images are exposed"
    elif len(defined) < len(terms):
        how += f"; {len(defined)} of {len(terms)} seeds, in the others all or none are exposed"
    for what, value in zip(("identity_exposed_term", "identity_unexposed_term"), values.tolist(), strict=True):
        yield board.effect(what, condition, metric, Interval(value), n, how, name)


def _terms(cell: Cell, base: Cell, c: int | None) -> tuple[float, float] | None:
    here = np.ones(len(cell.predictions), bool) if c is None else cell.predictions.truth == c
    there = np.ones(len(base.predictions), bool) if c is None else base.predictions.truth == c
    exposed = cell.exposed & here
    e = float(exposed.sum()) / max(1, int(here.sum()))
    if not there.any() or not 0 < e < 1:
        return None
    right = cell.predictions.correct
    hit, miss = float(right[exposed].mean()), float(right[here & ~exposed].mean())
    return e * (hit - miss), miss - float(base.predictions.correct[there].mean())


def naive_numbers(
    board: Scoreboard, samples: Samples, grouping: Grouping, plans: Sequence[SplitPlan]
) -> Iterable[Effect]:
    """Exposed minus unexposed inside `random`: not exchangeable, so only beside what tells how little it says."""
    seeds = board.seeds(RANDOM)
    if not seeds:
        return
    cell = board.read[RANDOM, seeds[0]]
    exposed, right = cell.exposed, cell.predictions.correct
    n, m = int(exposed.sum()), int((~exposed).sum())
    single = grouping.sizes[cell.predictions.groups] == 1
    share = float(single[~exposed].mean()) if m else NAN
    chances = _chances(cell, samples, grouping, next(p for p in plans if (p.condition, p.seed) == (RANDOM, seeds[0])))
    overlap = float(((chances >= OVERLAP[0]) & (chances <= OVERLAP[1])).mean()) if len(chances) else NAN
    value = float(right[exposed].mean() - right[~exposed].mean()) if n and m else NAN
    how = (
        f"not exchangeable, no interval; {n} exposed, {m} unexposed, of which {share:.0%} singletons; {overlap:.0%} of "
        f"the test images had a chance between {OVERLAP[0]} and {OVERLAP[1]} to be exposed"
    )
    if not (n and m):
        how = f"not estimable: {'all' if n else 'none'} of {n + m} test images are exposed"
    numbers = (
        ("naive_exposed_minus_unexposed", "accuracy", value, n + m, how),
        ("unexposed_singleton_share", "", share, m, "share of the unexposed test images that have no mate at all"),
        ("exposure_overlap", "", overlap, len(chances), "share of test images with a chance of .1 to .9 to be exposed"),
    )
    for what, metric, number, count, method in numbers:
        words = method if np.isfinite(number) or what.startswith("naive") else "not defined: every one is exposed"
        yield Effect(
            what, board.model, RANDOM, seeds[0], cell.partition, "", metric, number, NAN, NAN, NAN, count, words
        )


def _chances(cell: Cell, samples: Samples, grouping: Grouping, plan: SplitPlan) -> Floats:
    """Chance of each test image to be exposed, had the files been dealt at random inside classes."""
    dealt = np.where(plan.partition == UNUSED, -1, samples.labels)
    chance = chances_exposed(grouping, dealt, plan.partition == TRAIN)
    return np.asarray(chance[(plan.partition == cell.partition) & (dealt >= 0)])
