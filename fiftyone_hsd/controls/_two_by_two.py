"""The 2x2 that joins the two papers: {whole pictures, what a control leaves} x {intact groups, random files}."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..metrics import METRICS
from ..model import TEST, TRAIN, ControlResult, Effect, Floats, Ints, Note, Run
from ..scoreboard import Scoreboard, scoreboards
from ..stats import NAN, Interval, seed_interval
from ._null import Null, over_seeds, permutation_null, vote_null
from ._readers import renamed
from ._study import ALPHA, INTACT, RANDOM, Look, Study
from ._wording import reading

FULL, CONTROL = "full", "control"
ENOUGH = 0.2
"""The smallest attainable p must lie this far below the level, or a perfect score would be no finding (ours)."""
MEAN = "mean of {} seeds; group bootstrap, t interval"
PER_IMAGE = "mean of {} seeds; bootstrap over single images, t interval: only about these acquisitions"


@dataclass(frozen=True)
class Cells:
    """What one reader reached, in balanced accuracy; nan = not measured.

    Attributes:
        model: the reader.
        chance: of balanced accuracy.
        scores: (whole or control, condition) -> score with interval.
        null: of the control; None = there is no split for which one exists.
        fingerprint: control at random minus control at intact.
        inflation: whole pictures at random minus at intact.
    """

    model: str
    chance: float
    scores: dict[tuple[str, str], Interval]
    null: Null | None
    fingerprint: Interval
    inflation: Interval


def compared(
    study: Study, how: Look, runs: Sequence[Run], whole: Sequence[Run], *, doubt: str = ""
) -> tuple[list[ControlResult], list[Note]]:
    """The numbers of one control and their reading.

    Args:
        runs, whole: of the control and of whole pictures, same readers and splits; `whole` may be empty.
        doubt: why what is left may hold something of the object all the same.
    """
    parts = [*renamed(runs, CONTROL), *renamed(whole, FULL)]
    made = {b.model: b for b in scoreboards(study.samples, study.units, study.plans, study.exposures, parts)}
    results: list[ControlResult] = []
    cells = []
    readers = len({r.config.model for r in runs})
    for model in dict.fromkeys(r.config.model for r in runs):
        mine = [r for r in runs if r.config.model == model]
        boards = {k: made[f"{k}|{model}"] for k in (CONTROL, FULL) if f"{k}|{model}" in made}
        nulls = {m: _null(study, mine, m, readers) for m in METRICS}
        rows = [*_scores(study, boards[CONTROL], mine, nulls), *_differences(boards)]
        results += [ControlResult(how.control, how.variant, c, replace(e, model=model)) for c, e in rows]
        cells.append(_cells(study, boards, mine, nulls[METRICS[0]]))
    return results, reading(study, how, cells, doubt)


def _cells(study: Study, boards: dict[str, Scoreboard], runs: Sequence[Run], null: Null | None) -> Cells:
    metric = METRICS[0]
    scores = {(k, c): _score(b, c, metric) for k, b in boards.items() for c in study.conditions if b.seeds(c)}
    change = {k: _change(b, metric) for k, b in boards.items()}
    first = [r for r in runs if r.condition == study.conditions[0]]
    level = chance(study, first, metric, null)
    return Cells(runs[0].config.model, level, scores, null, change[CONTROL], change.get(FULL, Interval(NAN)))


def _score(board: Scoreboard, condition: str, metric: str) -> Interval:
    seeds = board.seeds(condition)
    values, draws = board.values(condition, metric, seeds)
    found = seed_interval(float(values.mean()), values, draws, board.support(condition, seeds), paired=False)
    return replace(found.within(0, 1), p=NAN)


def _change(board: Scoreboard, metric: str) -> Interval:
    """Random minus intact, paired by group and seed; nan where one of them does not exist."""
    seeds = board.seeds(INTACT, RANDOM)
    if not seeds:
        return Interval(NAN)
    base, base_draws = board.values(INTACT, metric, seeds)
    value, draws = board.values(RANDOM, metric, seeds)
    support = board.support(INTACT, seeds).fewest(board.support(RANDOM, seeds))
    found = seed_interval(float((value - base).mean()), value - base, draws - base_draws, support, paired=True)
    return found.within(-1, 1)


def _scores(
    study: Study, board: Scoreboard, runs: Sequence[Run], nulls: dict[str, Null | None]
) -> Iterable[tuple[float, Effect]]:
    """(chance, score) of each condition, over all seeds and for each."""
    for condition in study.conditions:
        seeds = board.seeds(condition)
        for metric in METRICS if seeds else ():
            null = nulls[metric] if condition == study.conditions[0] else None
            level = chance(study, [r for r in runs if r.condition == condition], metric, null)
            values, _ = board.values(condition, metric, seeds)
            found = replace(_score(board, condition, metric), p=NAN if null is None else null.p)
            how = (PER_IMAGE if study.per_image else MEAN).format(len(seeds))
            how += (
                "; p for new groups: not for a random split" if null is None else f"; {_how(study, null, len(seeds))}"
            )
            yield level, board.effect("score", condition, metric, found, board.n(condition, seeds), how)
            for seed, value in zip(seeds, values.tolist(), strict=True):
                n = len(board.read[condition, seed].predictions)
                one = "one run; the interval stands with the mean over seeds"
                yield level, Effect("score", "", condition, seed, TEST, "", metric, value, NAN, NAN, NAN, n, one)


def _how(study: Study, null: Null, seeds: int) -> str:
    what = "labels of single images" if study.per_image else null.rule
    several = ", twice the median over seeds" if seeds > 1 else ""
    return f"p: {what} permuted, 999 times{several}; smallest attainable p {null.smallest:.3g}"


def _differences(boards: dict[str, Scoreboard]) -> Iterable[tuple[float, Effect]]:
    """The fingerprint, the inflation beside it, and the share of the whole picture's score above chance."""
    for name, board in boards.items():
        what = "fingerprint" if name == CONTROL else "inflation_whole_picture"
        for metric in METRICS:
            found = _change(board, metric)
            if np.isfinite(found.estimate):
                how = f"random minus intact, paired, {len(board.seeds(INTACT, RANDOM))} seeds; group bootstrap"
                n = board.n(RANDOM, board.seeds(RANDOM))
                yield NAN, board.effect(what, RANDOM, metric, found, n, how)
    if FULL in boards:
        yield from _recovered(boards[CONTROL], boards[FULL])


def _recovered(part: Scoreboard, whole: Scoreboard) -> Iterable[tuple[float, Effect]]:
    metric = METRICS[0]
    for condition in part.conditions():
        seeds = part.seeds(condition)
        (a, a_draws), (b, b_draws) = (x.values(condition, metric, seeds) for x in (part, whole))
        level = 1 / max(1, int(part.read[condition, seeds[0]].plain.present.sum()))
        reached = _score(whole, condition, metric)
        support = part.support(condition, seeds)
        if reached.low > level:
            ratio = float((a.mean() - level) / (b.mean() - level))
            draws: Floats = (a_draws - level) / np.maximum(b_draws - level, 1e-3)
            linear = (a - level - ratio * (b - level)) / (b.mean() - level)
            found = replace(seed_interval(ratio, linear, draws, support, paired=False), p=NAN)
            how = "(control - chance) / (whole - chance); group bootstrap"
        else:
            found, how = Interval(NAN), "not estimable: whole pictures are not clearly above chance"
        yield level, part.effect("recovered_share", condition, metric, found, part.n(condition, seeds), how)


def chance(study: Study, runs: Sequence[Run], metric: str, null: Null | None) -> float:
    """What a reader without information reaches.

    accuracy: share in test of the class that is largest in train; balanced accuracy: 1 / tested classes; macro F1: the
    mean of the permutation null, nan where there is none. Mean over seeds.
    """
    labels = study.samples.labels
    values = []
    for run in runs:
        plan = next(p for p in study.plans if p.condition == run.condition and p.seed == run.seed)
        test = labels[run.rows][plan.partition[run.rows] == TEST]
        train = labels[(plan.partition == TRAIN) & (labels >= 0)]
        if metric == "accuracy":
            values.append(float((test == np.bincount(train).argmax()).mean()))
        elif metric == "balanced_accuracy":
            values.append(1 / len(np.unique(test)))
        else:
            values.append(NAN if null is None else null.mean)
    return float(np.mean(values)) if values else NAN


def _null(study: Study, runs: Sequence[Run], metric: str, readers: int) -> Null | None:
    """The permutation null over the seeds of the first condition, None where that has none.

    Where groups of equal size are too few for a p well below the level, each group has one vote instead.
    """
    condition = study.conditions[0] if study.conditions else ""
    if condition != INTACT and not study.per_image:
        return None
    tested = [(r.seed, *_tested(study, r)) for r in runs if r.condition == condition]
    equal = [permutation_null(t, guess, codes, metric, seed=seed) for seed, t, guess, codes in tested]
    if not equal:
        return None
    first = over_seeds(equal)
    if first.smallest * readers <= ENOUGH * ALPHA:
        return first
    votes = [vote_null(t, guess, codes, mean=first.mean, seed=seed) for seed, t, guess, codes in tested]
    return over_seeds(votes)


def _tested(study: Study, run: Run) -> tuple[Ints, Ints, Ints]:
    """(truth, prediction, unit) of the test images of a run, in order of ids."""
    plan = next(p for p in study.plans if p.condition == run.condition and p.seed == run.seed)
    use = np.flatnonzero(plan.partition[run.rows] == TEST)
    use = np.array(sorted(use.tolist(), key=lambda k: study.samples.ids[run.rows[k]]), np.int64)
    at = run.rows[use]
    return study.samples.labels[at].astype(np.int64), run.predicted[use].astype(np.int64), study.units.codes[at]
