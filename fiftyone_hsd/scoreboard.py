"""The runs of one model in one place: test predictions by condition and seed, with their draws of group weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .errors import InputError
from .metrics import Predictions, Totals, group_draws, score, totals
from .model import (
    SENTINEL,
    TEST,
    TRAIN,
    UNUSED,
    Bools,
    Effect,
    Exposure,
    Floats,
    Grouping,
    Run,
    Samples,
    SplitPlan,
)
from .stats import DRAWS, Interval, Support


def readout(plan: SplitPlan) -> str:
    """The partition whose score is read: test, or the largest that is neither train, sentinel nor unused; "" = none."""
    names, counts = np.unique(plan.partition, return_counts=True)
    sizes = {str(k): int(v) for k, v in zip(names, counts, strict=True)}
    rest = sorted((p for p in sizes if p not in (TRAIN, SENTINEL, UNUSED)), key=lambda p: (-sizes[p], p))
    return TEST if TEST in sizes else rest[0] if rest else ""


@dataclass(frozen=True, eq=False)
class Cell:
    """One run on one partition.

    Attributes:
        partition: its name.
        predictions: of its samples.
        exposed: bool (t,), who of them has a mate in train.
        probabilities: float32 (t, C).
        plain: sums without weights.
        drawn: sums under each draw, (B, C).
    """

    partition: str
    predictions: Predictions
    exposed: Bools
    probabilities: np.ndarray
    plain: Totals
    drawn: Totals

    @property
    def rate(self) -> float:
        """Achieved exposure."""
        return float(self.exposed.mean())


Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Scoreboard:
    """The runs of one model.

    Attributes:
        model: its name.
        classes: the fixed class list.
        read: (condition, seed) -> the partition that is read out.
        sentinel: (condition, seed) -> the sentinel partition, where there is one.
    """

    model: str
    classes: tuple[str, ...]
    read: Mapping[Key, Cell]
    sentinel: Mapping[Key, Cell]

    def conditions(self) -> list[str]:
        """Conditions with a run."""
        return list(dict.fromkeys(c for c, _ in self.read))

    def seeds(self, *conditions: str, sentinel: bool = False) -> list[int]:
        """The seeds for which all these conditions have a run (and a sentinel)."""
        cells = self.sentinel if sentinel else self.read
        sets = [{s for c, s in cells if c == condition} for condition in conditions]
        return sorted(set.intersection(*sets)) if sets else []

    def values(
        self, condition: str, metric: str, seeds: Sequence[int], *, sentinel: bool = False
    ) -> tuple[Floats, Floats]:
        """((J,) metric of each seed, (B,) metric of all seeds together under each draw)."""
        key = (condition, metric, tuple(seeds), sentinel)
        if key not in self._cache:
            cells = self._of(condition, seeds, sentinel)
            plain = np.array([float(score(c.plain, metric)) for c in cells])
            self._cache[key] = (plain, score(self._together(condition, tuple(seeds), sentinel), metric))
        return self._cache[key]

    def _together(self, condition: str, seeds: tuple[int, ...], sentinel: bool) -> Totals:
        """The drawn sums of all seeds added up, (B, C)."""
        key = (condition, seeds, sentinel)
        if key not in self._sums:
            drawn = [c.drawn for c in self._of(condition, seeds, sentinel)]
            hits, true, predicted = (sum(getattr(d, k) for d in drawn) for k in ("hits", "true", "predicted"))
            self._sums[key] = Totals(hits, true, predicted, np.any([d.present for d in drawn], axis=0))
        return self._sums[key]

    @cached_property
    def _cache(self) -> dict[tuple[str, str, tuple[int, ...], bool], tuple[Floats, Floats]]:
        return {}

    @cached_property
    def _sums(self) -> dict[tuple[str, tuple[int, ...], bool], Totals]:
        return {}

    def _of(self, condition: str, seeds: Sequence[int], sentinel: bool) -> list[Cell]:
        return [(self.sentinel if sentinel else self.read)[condition, s] for s in seeds]

    def support(
        self, condition: str, seeds: Sequence[int], *, sentinel: bool = False, of_class: int | None = None
    ) -> Support:
        """The groups that the cells of these seeds test, all seeds together; of one class or of all."""
        key = (condition, tuple(seeds), sentinel, of_class)
        if key not in self._supports:
            parts = [c.predictions for c in self._of(condition, seeds, sentinel)]
            groups, truth = np.concatenate([p.groups for p in parts]), np.concatenate([p.truth for p in parts])
            use = slice(None) if of_class is None else truth == of_class
            self._supports[key] = Support.of(groups[use], truth[use])
        return self._supports[key]

    @cached_property
    def _supports(self) -> dict[tuple[str, tuple[int, ...], bool, int | None], Support]:
        return {}

    def testing(self, c: int, *conditions: str) -> list[int]:
        """The seeds in which class c is tested under all these conditions."""
        seeds = self.seeds(*conditions)
        return [s for s in seeds if all(self.read[k, s].plain.present[c] for k in conditions)]

    def held(self, condition: str, seeds: Sequence[int], c: int) -> tuple[int, int]:
        """Distinct test groups of class c: over all these seeds, and in the seed that has fewest."""
        parts = [cell.predictions for cell in self._of(condition, seeds, False)]
        each = [np.unique(p.groups[p.truth == c]) for p in parts]
        return (len(np.unique(np.concatenate(each))), min(len(e) for e in each)) if each else (0, 0)

    def n(self, condition: str, seeds: Sequence[int]) -> int:
        """Test images of the first of these seeds."""
        return len(self.read[condition, seeds[0]].predictions) if len(seeds) else 0

    def rates(self, condition: str, seeds: Sequence[int]) -> Floats:
        """(J,) achieved exposure."""
        return np.array([self.read[condition, s].rate for s in seeds], float)

    def effect(
        self, what: str, condition: str, metric: str, found: Interval, n: int, method: str, class_name: str = ""
    ) -> Effect:
        """A number over all seeds, about the partition that is read out."""
        part = next((cell.partition for (c, _), cell in self.read.items() if not condition or c == condition), TEST)
        numbers = (found.estimate, found.low, found.high, found.p)
        return Effect(what, self.model, condition, None, part, class_name, metric, *numbers, n, method)


def scoreboards(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    runs: Sequence[Run],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Scoreboard]:
    """One scoreboard a model, in the order in which models first occur; all share the same draws of group weights.

    Args:
        samples, grouping: the corpus; no group is unknown.
        plans, exposures: same order.
        runs: of these plans. Of two runs of one model, condition and seed the last counts.
        draws, seed: of the bootstrap.

    Raises:
        InputError: a run belongs to no plan, or a group is unknown.
    """
    if len(grouping.codes) and grouping.codes.min() < 0:
        raise InputError("a sample's group is unknown", "known groups", "make unknown samples singletons first")
    plan_of = {(p.condition, p.seed): (p, e) for p, e in zip(plans, exposures, strict=True)}
    keys: list[tuple[str, bool, Key]] = []
    parts: list[tuple[str, Predictions, Bools, np.ndarray]] = []
    for run in runs:
        key = (run.condition, run.seed)
        if key not in plan_of:
            raise InputError(f"a run of {run.config.model} belongs to no plan: {run.condition}, seed {run.seed}")
        plan, result = plan_of[key]
        for name, is_sentinel in ((readout(plan), False), (SENTINEL, True)):
            inside = (plan.partition[run.rows] == name) & (samples.labels[run.rows] >= 0)
            at = run.rows[inside]
            if len(at):
                keys.append((run.config.model, is_sentinel, key))
                truth, predicted = samples.labels[at].astype(np.int64), run.predicted[inside].astype(np.int64)
                made = Predictions(grouping.codes[at], truth, predicted, len(samples.classes))
                parts.append((name, made, np.asarray(result.exposed[at]), run.probabilities[inside]))
    drawn = group_draws([p[1] for p in parts], grouping.n_groups, draws, seed)
    cells: dict[str, tuple[dict[Key, Cell], dict[Key, Cell]]] = {run.config.model: ({}, {}) for run in runs}
    for (model, is_sentinel, key), (name, made, exposed, chances), d in zip(keys, parts, drawn, strict=True):
        cells[model][is_sentinel][key] = Cell(name, made, exposed, chances, totals(made), d)
    return [Scoreboard(model, samples.classes, read, sentinel) for model, (read, sentinel) in cells.items()]
