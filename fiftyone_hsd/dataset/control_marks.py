"""What control experiments leave on the samples of a dataset, as plain values. Needs no fiftyone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..controls._given_away import BACKGROUND, given_away
from ..model import AuditReport, ControlResult, Ints, Run
from .marks import TAG, VIEW, Column, Marks, Tagging, ViewPlan

FIELD = "hsd_given_away"
EVERY = "background"
"""Stands in tags and views for any of the controls without the object."""
METRIC = "balanced_accuracy"


def control_marks(report: AuditReport) -> Marks:
    """Fields, tags and saved views of the controls without the object that a report holds.

    `hsd_given_away` = the controls that give the class of the image away; `hsd_control_NAME` = what the reader with the
    smallest p predicts where it was tested; tags `hsd:background:gives-class-away` (any control) and
    `hsd:NAME:gives-class-away`, with a saved view each.
    """
    n = len(report.samples)
    said: list[list[str]] = [[] for _ in range(n)]
    columns, tags, views = [], [], []
    found: dict[str, Ints] = {}
    for control in controls_of(report):
        columns.append(_prediction(report, control))
        found[control] = given_away(report, control)
        for row in found[control].tolist():
            said[row].append(control)
    words = "Controls without the object that give the class of the image away; empty: none"
    columns.insert(0, Column(FIELD, "str", words, [", ".join(s) or None for s in said]))
    every = np.flatnonzero([bool(s) for s in said]).astype(np.int64)
    for name, rows in ((EVERY, every), *found.items()):
        if len(rows):
            tags.append(Tagging(tag_of(name), rows))
            words = "a control without the object" if name == EVERY else name.replace("_", " ")
            text = f"{len(rows)} images whose class {words} gives away"
            views.append(ViewPlan(view_of(name), text, (tag_of(name),)))
    return Marks(report.samples.ids, tuple(columns), tuple(tags), tuple(views))


def controls_of(report: AuditReport) -> list[str]:
    """The controls without the object whose predictions a report holds, in reading order."""
    there = {r.config.option("control", "") for r in report.control_runs}
    return [c for c in BACKGROUND if c in there]


def tag_of(control: str) -> str:
    """The tag of images whose class a control gives away."""
    return f"{TAG}{control.replace('_', '-')}:gives-class-away"


def view_of(control: str) -> str:
    """The saved view of these images."""
    return f"{VIEW}{control.replace('_', '-')}-gives-class-away"


def field_of(control: str) -> str:
    """The field with what a control predicts."""
    return f"hsd_control_{control}"


def best_of(found: Sequence[ControlResult]) -> ControlResult | None:
    """The score over all seeds with the smallest p, then the highest; of the first condition alone without any p."""
    scores = [c for c in found if (c.effect.what, c.effect.metric, c.effect.seed) == ("score", METRIC, None)]
    scores = [c for c in scores if not c.effect.class_name]
    tested = [c for c in scores if math.isfinite(c.effect.p)]
    if tested:
        return min(tested, key=lambda c: (c.effect.p, -c.effect.estimate))
    return scores[0] if scores else None


def _prediction(report: AuditReport, control: str) -> Column:
    """Mean probabilities over the seeds that tested an image, of the best reader under its first condition."""
    best = best_of([c for c in report.control_results if c.control == control])
    name, words = field_of(control), f"Predicted from {control.replace('_', ' ')}"
    values: list[tuple[str, float] | None] = [None] * len(report.samples)
    if best is None:
        return Column(name, "class", f"{words}: nothing", values)
    model, condition = best.effect.model, best.effect.condition
    runs = [r for r in report.control_runs if _is(r, control, model, condition)]
    total = np.zeros((len(report.samples), len(report.samples.classes)))
    tested = np.zeros(len(report.samples), np.int64)
    for run in runs:
        total[run.rows] += run.probabilities
        tested[run.rows] += 1
    for row in np.flatnonzero(tested).tolist():
        label = int(total[row].argmax())
        values[row] = (report.samples.classes[label], float(total[row, label] / tested[row]))
    text = f"{words} by {model}, {condition}, mean of {len({r.seed for r in runs})} seeds; empty: never tested"
    return Column(name, "class", text, values)


def _is(run: Run, control: str, model: str, condition: str) -> bool:
    of = (run.config.option("control", ""), run.config.model, run.condition)
    return of == (control, model, condition)
