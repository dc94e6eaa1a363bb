"""Control experiments: is the benchmark measuring the object at all? Only when there are results."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from PIL import Image

from ...model import AuditReport, ControlResult, ControlSheet, Ints, Run
from .. import lookup
from ..blocks import Block, Cell, Column, Estimate, Notice, Picture, PictureRow, Pictures, Section, Table
from ..pictures import encoded

MOST = 200
MATRIX = 12
"""Classes up to which a confusion matrix is shown whole; beyond, its largest entries are listed."""
LARGEST = 15
METRIC = "balanced_accuracy"
FULL = "full_picture"


def section(report: AuditReport) -> Section | None:
    """The 2x2 of all controls, then for each its reading, what the model saw, who is taken for whom, every score."""
    if not report.control_results:
        return None
    blocks: list[Block] = [*_general(report), *_two_by_two(report)]
    for control in dict.fromkeys(c.control for c in report.control_results):
        mine = [c for c in report.control_results if c.control == control]
        blocks += lookup.notices(n for n in report.notes if n.topic == f"control: {control}")
        blocks += [b for s in report.control_sheets if s.control == control for b in _sheet(report, s)]
        blocks += _confusion(report, control, mine)
        blocks.append(_table(control, mine))
    lead = "What a model reaches on pictures from which the object was removed or destroyed. It should be chance."
    return Section("controls", "Control experiments", 60, lead, tuple(blocks))


def _general(report: AuditReport) -> list[Notice]:
    return lookup.notices(n for n in report.notes if n.topic == "control: groups")


def _two_by_two(report: AuditReport) -> list[Block]:
    """{whole pictures, control} x {intact, random}, one row a control and reader."""
    found = {
        (c.control, c.variant, c.effect.model, c.effect.what, c.effect.condition): c
        for c in report.control_results
        if c.effect.seed is None and c.effect.metric == METRIC and not c.effect.class_name
    }
    rows: list[tuple[Cell, ...]] = []
    for control, variant, model in dict.fromkeys(k[:3] for k in found if k[3] == "score"):

        def at(what: str, condition: str, k: tuple[str, str, str] = (control, variant, model)) -> Estimate | None:
            c = found.get((*k, what, condition))
            return None if c is None else Estimate(c.effect.estimate, c.effect.low, c.effect.high)

        first = next((c for c in ("intact", "random") if (control, variant, model, "score", c) in found), "")
        score = found[control, variant, model, "score", first] if first else None
        rows.append(
            (
                control.replace("_", " "),
                lookup.model_name(model),
                None if score is None else score.chance,
                at("score", "intact"),
                at("score", "random"),
                None if score is None or math.isnan(score.effect.p) else score.effect.p,
                at("fingerprint", "random"),
                at("recovered_share", first),
            )
        )
    if not rows:
        return []
    change = "what the control tells about groups: their fingerprint; of whole pictures it is the inflation"
    columns = (
        Column("control"),
        Column("model"),
        Column("chance", "score", "what a model without information reaches"),
        Column(
            "intact", "score", "balanced accuracy on groups never seen: above chance, classes differ in acquisition"
        ),
        Column("random", "score", "balanced accuracy where single files were dealt"),
        Column(
            "p",
            "number",
            "labels of whole test groups permuted, intact splits only; of images where a class is a group",
        ),
        Column("random - intact", "change", change),
        Column("share of whole", "share", "(control - chance) / (whole pictures - chance)"),
    )
    return [Table("The 2x2 of every control", columns, tuple(rows[:MOST]), 0, "controls.csv")]


def _sheet(report: AuditReport, sheet: ControlSheet) -> Iterable[Pictures]:
    """What the model saw."""
    shown = []
    for k, (row, line) in enumerate(zip(sheet.rows.tolist(), sheet.lines, strict=True)):
        key = f"control:{sheet.control}:{sheet.variant}:{k}"
        uri = encoded(Image.fromarray(np.asarray(sheet.pictures[k])))
        lines = (line,) if line else ()
        shown.append(Picture(key, report.samples.ids[row], lines, lookup.label_of(report, row), uri=uri))
    if shown:
        title = f"{sheet.control.replace('_', ' ')}: what the model saw"
        yield Pictures(title, (PictureRow(sheet.variant, "", tuple(shown)),), sheet.caption)


def _confusion(report: AuditReport, control: str, mine: list[ControlResult]) -> list[Block]:
    """Who is taken for whom by the reader with the smallest p, over all its seeds."""
    scores = [
        c.effect for c in mine if c.effect.what == "score" and c.effect.seed is None and c.effect.metric == METRIC
    ]
    tested = sorted((e for e in scores if math.isfinite(e.p)), key=lambda e: (e.p, -e.estimate))
    if not tested:
        return []
    best = tested[0]
    runs = [
        r
        for r in report.control_runs
        if r.config.option("control", "") == control and (r.config.model, r.condition) == (best.model, best.condition)
    ]
    counts = _counts(report, runs)
    if not counts.sum():
        return []
    title = f"{control.replace('_', ' ')}: who is taken for whom ({lookup.model_name(best.model)}, {best.condition})"
    names = report.samples.classes
    share = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    if len(names) <= MATRIX:
        columns = (Column("class"), Column("n", "count"), *(Column(f"as {name}", "share") for name in names))
        rows: list[tuple[Cell, ...]] = [
            (names[i], int(counts[i].sum()), *map(float, share[i])) for i in range(len(names))
        ]
        return [Table(title, columns, tuple(rows), notes=("test images of all seeds together",), folded=True)]
    off = counts - np.diag(np.diag(counts))
    order = np.argsort(-off, axis=None, kind="stable")[:LARGEST]
    pairs = [divmod(int(k), len(names)) for k in order if off.ravel()[k]]
    most: list[tuple[Cell, ...]] = [(names[i], names[j], int(counts[i, j]), float(share[i, j])) for i, j in pairs]
    columns = (Column("class"), Column("taken for"), Column("times", "count"), Column("share of the class", "share"))
    return [
        Table(
            title, columns, tuple(most), int((off > 0).sum()), notes=("test images of all seeds together",), folded=True
        )
    ]


def _counts(report: AuditReport, runs: list[Run]) -> Ints:
    """int64 (C, C), true class x predicted class."""
    c = len(report.samples.classes)
    total = np.zeros(c * c, np.int64)
    for run in runs:
        total += np.bincount(report.samples.labels[run.rows] * c + run.predicted, minlength=c * c)
    return total.reshape(c, c)


def _table(control: str, mine: list[ControlResult]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            c.variant,
            lookup.model_name(c.effect.model),
            c.effect.condition,
            " ".join(filter(None, (c.effect.what.replace("_", " "), c.effect.class_name))),
            c.effect.metric.replace("_", " "),
            Estimate(c.effect.estimate, c.effect.low, c.effect.high, c.effect.n),
            c.chance,
            c.effect.p,
        )
        for c in mine
        if c.effect.seed is None
    ]
    columns = (
        Column("variant"),
        Column("model"),
        Column("split"),
        Column("what"),
        Column("metric"),
        Column("estimate", "score", "with 95 % interval"),
        Column("chance", "score", "what a model without information reaches"),
        Column("p", "number"),
    )
    total = len(rows) if len(rows) > MOST else 0
    notes = lookup.methods(c.effect for c in mine if c.effect.seed is None)[:6]
    return Table(control, columns, tuple(rows[:MOST]), total, "controls.csv", notes, folded=True)
