"""Questions that several sections ask of one AuditReport. Nothing here estimates: it finds, counts and joins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grouping._chains import strength, way
from ..model import SENTINEL, TEST, TRAIN, UNUSED, AuditReport, Bools, Effect, Exposure, Ints, Note, SplitPlan
from ..trainers._recipes import in_words
from .blocks import Estimate, Kind, Notice

EXISTING = "existing"
LADDER = ("intact", "q25", "q50", "q75", "random", "shuffle")
INTACT, RANDOM, SHUFFLE = LADDER[0], LADDER[-2], LADDER[-1]
METRICS = ("balanced_accuracy", "macro_f1", "accuracy")
_DIGITS = re.compile(r"[0-9]+([.,][0-9]+)*")
MODEL_NAMES = {"nearest_neighbour": "1 nearest neighbour", "linear_probe": "linear probe"}


def effects(
    report: AuditReport,
    what: str,
    *,
    model: str | None = None,
    condition: str | None = None,
    metric: str | None = None,
    class_name: str | None = "",
    partition: str | None = None,
    pooled: bool = True,
) -> list[Effect]:
    """The effects that fit; None = any; `pooled` = over all seeds (an existing split has but one)."""
    return [
        e
        for e in report.effects
        if e.what == what
        and (model is None or e.model == model)
        and (condition is None or e.condition == condition)
        and (metric is None or e.metric == metric)
        and (class_name is None or e.class_name == class_name)
        and (partition is None or e.partition == partition)
        and (not pooled or e.seed is None or e.condition == EXISTING)
    ]


def estimate(found: Iterable[Effect], kind: Kind = "score") -> Estimate | None:
    """The first of them (the pooled one before those of single seeds), None if there is none."""
    items = sorted(found, key=lambda e: e.seed is not None)
    return Estimate(items[0].estimate, items[0].low, items[0].high, items[0].n, kind) if items else None


def methods(found: Iterable[Effect]) -> tuple[str, ...]:
    """How the numbers came about, each method once."""
    return tuple(dict.fromkeys(e.method for e in found if e.method))


def models(report: AuditReport) -> list[str]:
    """Models with a score, in the order in which they ran."""
    return list(dict.fromkeys([*(r.config.model for r in report.runs), *(e.model for e in report.effects if e.model)]))


def model_name(model: str) -> str:
    """The model in words."""
    return MODEL_NAMES.get(model) or in_words(model)


def metric(report: AuditReport) -> str:
    """The metric that is shown: balanced accuracy where there is one."""
    there = list(dict.fromkeys(e.metric for e in report.effects if e.what == "score" and not e.class_name))
    return next((m for m in METRICS if m in there), there[0] if there else "")


def conditions(report: AuditReport) -> list[str]:
    """Conditions that have a plan, the ladder's in its order, then any other; not the existing split."""
    there = list(dict.fromkeys(p.condition for p in report.plans if p.condition != EXISTING))
    return [c for c in LADDER if c in there] + [c for c in there if c not in LADDER]


def endpoint(report: AuditReport) -> str:
    """The far end of the ladder: the plain shuffle where `random` could not release all groups, else `random`."""
    return SHUFFLE if any(p.condition == SHUFFLE for p in report.plans) else RANDOM


def pairs(report: AuditReport, condition: str) -> Iterator[tuple[SplitPlan, Exposure]]:
    """Plan and exposure of every seed of a condition."""
    for plan, exposure in zip(report.plans, report.exposures, strict=True):
        if plan.condition == condition:
            yield plan, exposure


def primary(report: AuditReport, condition: str) -> tuple[SplitPlan, Exposure] | None:
    """Plan and exposure of the lowest seed of a condition, None if there is no such plan."""
    return min(pairs(report, condition), key=lambda both: both[0].seed, default=None)


def partition_sizes(plan: SplitPlan) -> dict[str, int]:
    """Partition -> images in it: train, val, test, other ones, sentinel, unused."""
    order = {TRAIN: 0, "val": 1, TEST: 2, SENTINEL: 8, UNUSED: 9}
    sizes = Counter(plan.partition.tolist())
    return {p: sizes[p] for p in sorted(sizes, key=lambda p: (order.get(p, 5), p))}


def readout(plan: SplitPlan) -> str:
    """The partition whose score is read: test, or the largest one that is neither train nor unused; "" = none."""
    sizes = partition_sizes(plan)
    rest = sorted((p for p in sizes if p not in (TRAIN, UNUSED, SENTINEL)), key=lambda p: (-sizes[p], p))
    return TEST if TEST in sizes else rest[0] if rest else ""


def pairs_of(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """The distinct pairs of two columns of non-negative numbers, in order of the first."""
    width = int(second.max(initial=0)) + 1
    key: Ints = np.unique(first.astype(np.int64) * width + second.astype(np.int64))
    return key // width, key % width


@dataclass(frozen=True)
class Crossing:
    """Groups of two or more images that lie in two or more partitions (unused images left out)."""

    groups: int
    of_groups: int
    images: int
    of_images: int


def crossing(plan: SplitPlan, codes: Ints) -> Crossing:
    """Count them."""
    used = (plan.partition != UNUSED) & (codes >= 0)
    size = np.bincount(codes[used], minlength=int(codes.max(initial=-1)) + 1)
    places = np.zeros(len(size), np.int64)
    for name in partition_sizes(plan):
        places += np.bincount(codes[used & (plan.partition == name)], minlength=len(size)) > 0
    spread = places > 1
    return Crossing(int(spread.sum()), int((size > 1).sum()), int(size[spread].sum()), int(size[size > 1].sum()))


def exposed_rate(report: AuditReport, condition: str) -> tuple[float, int]:
    """Mean over seeds of the achieved exposure of the readout partition, and images in it at the primary seed."""
    rates, n = [], 0
    for plan, exposure in pairs(report, condition):
        rows = (plan.partition == readout(plan)) & exposure.evaluated
        if rows.any():
            rates.append(float(exposure.exposed[rows].mean()))
            n = n or int(rows.sum())
    return (float(np.mean(rates)), n) if rates else (float("nan"), 0)


def grouped(report: AuditReport) -> Bools:
    """(n,) bool: the sample has at least one mate."""
    codes, sizes = report.grouping.codes, report.grouping.sizes
    mate = np.zeros(len(codes), bool)
    known = codes >= 0
    mate[known] = sizes[codes[known]] > 1
    return mate


def label_of(report: AuditReport, row: int) -> str:
    """Class name of a sample, "" = unlabelled."""
    label = int(report.samples.labels[row])
    return report.samples.classes[label] if label >= 0 else ""


def all_notes(report: AuditReport) -> list[Note]:
    """Every note of the report and of its parts, each once."""
    notes = [*report.notes, *report.samples.notes, *report.grouping.notes]
    notes += [n for plan in report.plans for n in plan.notes]
    notes += [n for run in report.runs for n in run.notes]
    notes += [n for issues in report.label_results for n in issues.notes]
    return list(dict.fromkeys(notes))


def notices(notes: Iterable[Note], *levels: str) -> list[Notice]:
    """Notes of these levels (none given: all) as blocks; those that differ in numbers only (seeds) as one."""
    alike: dict[tuple[str, str, str], list[Note]] = {}
    for n in dict.fromkeys(notes):
        if not levels or n.level in levels:
            alike.setdefault((n.level, n.topic, _DIGITS.sub("#", n.text)), []).append(n)
    blocks = []
    for first, *others in alike.values():
        more = f" (and {len(others)} more like it, with other numbers)" if others else ""
        blocks.append(Notice(first.level, first.topic, first.text + more, first.count, first.examples))
    return blocks


class Evidence:
    """Why two samples are in one group, found fast for many pairs."""

    def __init__(self, report: AuditReport) -> None:
        links = report.grouping.links
        self._codes = report.grouping.codes
        accepted = np.flatnonzero(links.accepted)
        code = self._codes[links.a[accepted]] if len(accepted) else np.zeros(0, np.int64)
        order = np.argsort(code, kind="stable")
        self._links, self._row, self._code = links, accepted[order], code[order]
        self.strength = strength(report.grouping)

    def of_group(self, code: int) -> Ints:
        """Rows of the accepted links inside one group."""
        low, high = np.searchsorted(self._code, [code, code + 1])
        return self._row[low:high]

    def between(self, one: int, other: int) -> str:
        """The direct links between two samples in words, or the chain's sources where there is none."""
        rows = self.of_group(int(self._codes[one]))
        links, (a, b) = self._links, sorted((one, other))
        direct = rows[(links.a[rows] == a) & (links.b[rows] == b)]
        chain = direct.tolist() if len(direct) else way(links, rows, a, b)
        said = list(dict.fromkeys(self._words(r) for r in chain))
        if not said:
            return "same group"
        return "; ".join(said[:3]) + ("; ..." if len(said) > 3 else "")

    def _words(self, row: int) -> str:
        links = self._links
        rule, score = str(links.rule[row]), float(links.score[row])
        words = f"{links.source[row]}: {rule}" if rule else str(links.source[row])
        return words if score >= 1 else f"{words} ({score:.2f})"

    def summary(self, code: int) -> tuple[str, float]:
        """Sources of a group joined by +, and the weakest link that holds it; ("", nan) without links."""
        rows = self.of_group(code)
        if not len(rows):
            return "", float("nan")
        return "+".join(sorted(set(self._links.source[rows].tolist()))), float(self.strength.weakest[code])
