"""Numbers for two classes: area under the ROC curve, and sensitivity and specificity at a threshold of validation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .metrics import BLOCK_BYTES
from .model import VAL, Effect, Exposure, Floats, Grouping, Run, Samples, SplitPlan
from .scoreboard import Cell, Scoreboard, scoreboards
from .splitting import CONDITIONS, SHUFFLE
from .stats import NAN, Interval, seed_interval

AUROC = "auroc"
AT_THRESHOLD = {1: "sensitivity_at_val_threshold", 0: "specificity_at_val_threshold"}
INTACT = CONDITIONS[0]
HOW = "group bootstrap, all seeds together, t interval"


def two_class_numbers(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    runs: Sequence[Run],
    boards: Sequence[Scoreboard],
    *,
    draws: int,
    seed: int,
) -> Iterable[Effect]:
    """AUROC of every model and condition, its change from intact, sensitivity and specificity; nothing unless C = 2.

    The second class of the list is the positive one. The threshold is the one that maximises sensitivity + specificity
    (Youden 1950) on the validation partition of the same run, never on what is tested.

    Args:
        samples, grouping, plans, exposures, runs: as for `effects`; no group is unknown.
        boards: the scoreboards of these runs.
        draws, seed: of the bootstrap; the weights are those of every other number.
    """
    if len(samples.classes) != 2:
        return
    positive = f"positive = {samples.classes[1]}"
    for board in boards:
        yield from _areas(board, grouping.n_groups, draws, seed, positive)
    cuts = [threshold(samples, run, plans) for run in runs]
    decided = [_at(run, cut) for run, cut in zip(runs, cuts, strict=True) if cut is not None]
    missing = [run for run, cut in zip(runs, cuts, strict=True) if cut is None]
    for board in scoreboards(samples, grouping, plans, exposures, decided, draws=draws, seed=seed):
        yield from _rates(board, positive)
    for model, condition in dict.fromkeys((r.config.model, r.condition) for r in missing):
        for metric in AT_THRESHOLD.values():
            why = "not evaluated: no validation partition that holds both classes, so no threshold"
            yield Effect("score", model, condition, None, "", "", metric, NAN, NAN, NAN, NAN, 0, why)


def threshold(samples: Samples, run: Run, plans: Sequence[SplitPlan]) -> float | None:
    """The probability of the second class from which on it is named: best on validation; the highest of equal ones."""
    plan = next(p for p in plans if (p.condition, p.seed) == (run.condition, run.seed))
    val = plan.partition[run.rows] == VAL
    truth, chance = samples.labels[run.rows[val]] == 1, run.probabilities[val, 1]
    if not truth.any() or truth.all():
        return None
    cuts = np.unique(chance)[::-1]
    rates = [(chance[truth] >= c).mean() + (chance[~truth] < c).mean() for c in cuts]
    return float(cuts[int(np.argmax(rates))])


def _at(run: Run, cut: float) -> Run:
    named = (run.probabilities[:, 1] >= cut).astype(int)
    return dataclasses.replace(run, probabilities=np.eye(2, dtype=np.float32)[named])


def _rates(board: Scoreboard, positive: str) -> Iterable[Effect]:
    for condition in board.conditions():
        for c, metric in AT_THRESHOLD.items():
            seeds = board.testing(c, condition)
            if not seeds:
                continue
            values, drawn = board.values(condition, f"recall:{c}", seeds)
            support = board.support(condition, seeds, of_class=c)
            found = seed_interval(float(values.mean()), values, drawn, support, paired=False).within(0, 1)
            how = (
                f"threshold of largest sensitivity + specificity on val; {positive}; mean of {len(seeds)} seeds; {HOW}"
            )
            found = dataclasses.replace(found, p=NAN)
            yield board.effect("score", condition, metric, found, board.n(condition, seeds), how)


def _areas(board: Scoreboard, n_groups: int, draws: int, seed: int, positive: str) -> Iterable[Effect]:
    cells = {key: cell for key, cell in board.read.items() if cell.plain.present.all()}
    found = _drawn(cells, n_groups, draws, seed)
    for condition in board.conditions():
        seeds = [s for s in board.seeds(condition) if (condition, s) in cells]
        if not seeds:
            continue
        values, drawn = _together(found, condition, seeds)
        support = board.support(condition, seeds)
        interval = seed_interval(float(values.mean()), values, drawn, support, paired=False).within(0, 1)
        how = f"{positive}; mean of {len(seeds)} seeds; {HOW}"
        n = board.n(condition, seeds)
        yield board.effect("score", condition, AUROC, dataclasses.replace(interval, p=NAN), n, how)
        seeds = [s for s in seeds if (INTACT, s) in cells]
        if condition in (*CONDITIONS[1:], SHUFFLE) and seeds:
            yield _rise(board, found, condition, seeds, positive)


def _rise(
    board: Scoreboard, found: Mapping[tuple[str, int], tuple[float, Floats, Floats]], condition: str, seeds: list[int],
    positive: str,
) -> Effect:  # fmt: skip
    base, base_drawn = _together(found, INTACT, seeds)
    value, drawn = _together(found, condition, seeds)
    support = board.support(INTACT, seeds).fewest(board.support(condition, seeds))
    change: Interval = seed_interval(
        float((value - base).mean()), value - base, drawn - base_drawn, support, paired=True
    )
    how = f"paired difference from intact; {positive}; {len(seeds)} seeds; {HOW}"
    return board.effect("inflation", condition, AUROC, change.within(-1, 1), board.n(condition, seeds), how)


def _together(
    found: Mapping[tuple[str, int], tuple[float, Floats, Floats]], condition: str, seeds: Sequence[int]
) -> tuple[Floats, Floats]:
    """((J,) area of each seed, (B,) area of all seeds together under each draw)."""
    parts = [found[condition, s] for s in seeds]
    won, pairs = np.sum([p[1] for p in parts], axis=0), np.sum([p[2] for p in parts], axis=0)
    return np.array([p[0] for p in parts]), np.asarray(won / pairs)


def _drawn(
    cells: Mapping[tuple[str, int], Cell], n_groups: int, draws: int, seed: int
) -> dict[tuple[str, int], tuple[float, Floats, Floats]]:
    """For each cell: area, and under each draw of group weights the weight of won pairs and of all pairs, (B,)."""
    rng = np.random.default_rng([seed, 4])  # the stream of metrics.group_draws
    most = max((len(c.predictions) for c in cells.values()), default=1)
    step = max(1, min(draws, BLOCK_BYTES // (8 * max(1, n_groups, most))))
    blocks: dict[tuple[str, int], list[tuple[Floats, Floats]]] = {key: [] for key in cells}
    for start in range(0, draws, step):
        weights = rng.exponential(size=(min(step, draws - start), n_groups))
        for key, cell in cells.items():
            blocks[key].append(_pairs(cell, weights[:, cell.predictions.groups]))
    result = {}
    for key, cell in cells.items():
        won, pairs = _pairs(cell, np.ones((1, len(cell.predictions))))
        drawn = [np.concatenate(b) for b in zip(*blocks[key], strict=True)]
        result[key] = float(won[0] / pairs[0]), drawn[0], drawn[1]
    return result


def _pairs(cell: Cell, weights: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """(weight of pairs (positive, negative) in which the positive has the higher chance, ties half; of all), (B,)."""
    chance, truth = cell.probabilities[:, 1], cell.predictions.truth == 1
    order = np.argsort(chance, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(chance[order]) != 0])
    up = np.add.reduceat(np.where(truth, weights, 0)[:, order], first, axis=1)
    down = np.add.reduceat(np.where(truth, 0, weights)[:, order], first, axis=1)
    below = np.cumsum(down, axis=1) - down
    return np.asarray((up * (below + down / 2)).sum(1)), np.asarray(up.sum(1) * down.sum(1))
