"""What a training grid leaves on the samples of a dataset, and what the panel shows of it. Needs no fiftyone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..matched_swap import EFFECT
from ..model import AuditReport, Bools, Exposure, Run, RunRecord, SplitPlan
from ..report import lookup
from ..trainers._recipes import BEST, in_words, is_network
from .marks import Column, Evaluation, Marks, field_part, primary
from .overview import MOST_CLASSES, finite, ladder_overview

EXPOSED, UNEXPOSED = "exposed", "unexposed"
MOST_FAILED = 50


@dataclass(frozen=True, eq=False)
class Readout:
    """One trained model under one condition, and the names of what stands for it in a dataset.

    Attributes:
        plan, exposure, run: at the lowest seed.
        tested: field with "exposed" or "unexposed" on the images it is tested on.
        predicted: field with its predictions.
        evaluation: key of its evaluation run.
    """

    plan: SplitPlan
    exposure: Exposure
    run: Run
    tested: str
    predicted: str
    evaluation: str

    @property
    def model(self) -> str:
        """The model in words."""
        return lookup.model_name(self.run.config.model)

    @property
    def rows(self) -> Bools:
        """bool (n,), the images it is tested on."""
        inside = (self.plan.partition == lookup.readout(self.plan)) & self.exposure.evaluated
        seen = np.zeros(len(inside), bool)
        seen[self.run.rows] = True
        return np.asarray(inside & seen, bool)


def readouts(report: AuditReport, taken: Collection[str] = ()) -> list[Readout]:
    """Every trained model under every condition; what an audit ran by itself is not among them.

    Args:
        report: of `fiftyone_hsd.train`.
        taken: fields that belong to somebody else (the audit's own predictions); ours then get other names.
    """
    used, found = set(taken), []
    mine = {(r.model, r.condition, r.seed) for r in report.run_records}
    for plan, exposure in primary(report):
        key, condition = (plan.condition, plan.seed), field_part(plan.condition)
        runs = [r for r in report.runs if (r.condition, r.seed) == key and (r.config.model, *key) in mine]
        tested = _free(f"hsd_trained_{condition}", used) if runs else ""
        for run in runs:
            model = field_part(in_words(run.config.model))
            own = "" if is_network(run.config.model) else "_trained"  # an audit writes the plain name, now or later
            predicted = _free(f"hsd_{condition}_pred_{model}{own}", used)
            found.append(Readout(plan, exposure, run, tested, predicted, _free(f"hsd_{condition}_{model}", used)))
    return found


def _free(name: str, used: set[str]) -> str:
    """The name, or with a number behind it if somebody has it; it is used from now on."""
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    used.add(free)
    return free


def training_marks(report: AuditReport, found: Sequence[Readout], truth: str = "") -> Marks:
    """The marks of a training.

    Args:
        found: from `readouts`.
        truth: the Classification field with the labels, "" = there is none to evaluate against.
    """
    columns = {}
    for one in found:
        if one.tested not in columns:
            columns[one.tested] = _tested(one)
        columns[one.predicted] = _prediction(one, report.samples.classes)
    evaluations = [Evaluation(r.evaluation, r.predicted, truth, r.tested, report.samples.classes) for r in found]
    return Marks(report.samples.ids, tuple(columns.values()), (), (), tuple(evaluations if truth else ()))


def _tested(one: Readout) -> Column:
    pairs = zip(one.rows.tolist(), one.exposure.exposed.tolist(), strict=True)
    sides = [None if not inside else EXPOSED if exposed else UNEXPOSED for inside, exposed in pairs]
    words = f"Tested by the trained models: {one.plan.condition}, seed {one.plan.seed}; exposed = a mate is in train"
    return Column(one.tested, "str", words, sides)


def _prediction(one: Readout, classes: Sequence[str]) -> Column:
    run = one.run
    values: list[tuple[str, float] | None] = [None] * len(one.plan)
    sure = run.probabilities.max(1).tolist() if len(run.rows) else []
    for row, label, confidence in zip(run.rows.tolist(), run.predicted.tolist(), sure, strict=True):
        values[row] = (classes[label], confidence)
    words = f"Predicted by {one.model}: {one.plan.condition}, seed {one.plan.seed}"
    return Column(one.predicted, "class", words, values)


def training_overview(report: AuditReport, found: Sequence[Readout], label: str = "") -> dict[str, Any]:
    """The panel's value of a training: how runs went, their cost, curve and gains per class, who is right.

    Args:
        label: path of the class names in the dataset.
    """
    records = report.run_records
    models = list(dict.fromkeys(r.model for r in records))
    failed = [r for r in records if r.status != "done"]
    value = {
        "label": label,
        "runs": [row for model in models for row in _summary(records, model)],
        "total": len(records),
        "failures": len(failed),
        "failed": [_failure(r) for r in failed[:MOST_FAILED]],
        "seconds": sum(r.seconds for r in records),
        "ladder": ladder_overview(report, models),
        "matched": [
            {"model": lookup.model_name(e.model), "effect": [e.estimate, e.low, e.high], "pairs": e.n}
            for e in lookup.effects(report, EFFECT, pooled=False)
            if e.model in models
        ],
        "tested": [_counts(report, one) for one in found],
        "line": (report.settings.get("training") or [""])[-1],
    }
    return finite(value)  # type: ignore[no-any-return]


def _summary(records: Sequence[RunRecord], model: str) -> Iterable[dict[str, Any]]:
    """One row a condition: runs that ended well, their time together, the most memory of one, the first remark."""
    mine = [r for r in records if r.model == model]
    for condition in dict.fromkeys(r.condition for r in mine):
        runs = [r for r in mine if r.condition == condition]
        memory = [r.peak_memory for r in runs if math.isfinite(r.peak_memory)]
        yield {
            "model": lookup.model_name(model),
            "condition": condition,
            "done": sum(r.status == "done" for r in runs),
            "runs": len(runs),
            "seconds": sum(r.seconds for r in runs),
            "memory": max(memory, default=math.nan),
            "second": model.endswith(BEST),
            "remark": next((r.reason for r in runs if r.reason), ""),
        }


def _failure(r: RunRecord) -> dict[str, Any]:
    said = {"condition": r.condition, "seed": r.seed, "status": r.status, "reason": r.reason}
    return {"model": lookup.model_name(r.model), **said}


def _counts(report: AuditReport, one: Readout) -> dict[str, Any]:
    """How many exposed and unexposed test images a model gets right, and the fields that say which."""
    right = np.zeros(len(one.plan), bool)
    right[one.run.rows] = one.run.predicted == report.samples.labels[one.run.rows]
    sides = ((EXPOSED, one.rows & one.exposure.exposed), (UNEXPOSED, one.rows & ~one.exposure.exposed))
    labels, names = report.samples.labels, report.samples.classes
    per = {w: [np.bincount(labels[rows & of], minlength=len(names)) for of in (right, ~right)] for w, rows in sides}
    there = [c for c in range(len(names)) if any(n[c] for counts in per.values() for n in counts)]
    classes = [
        {"class": names[c], **{w: [int(a[c]), int(a[c] + b[c])] for w, (a, b) in per.items()}}
        for c in there[:MOST_CLASSES]
    ]
    return {
        "model": one.run.config.model,
        "name": one.model,
        "condition": one.plan.condition,
        "seed": one.plan.seed,
        "fields": {"tested": one.tested, "predicted": one.predicted, "evaluation": one.evaluation},
        "classes": classes,
        **{word: [int((rows & right).sum()), int(rows.sum())] for word, rows in sides},
    }
