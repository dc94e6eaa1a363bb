"""The split as published: what crosses it, who is exposed, and the images to look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import TRAIN, UNUSED, AuditReport, Exposure, SplitPlan
from .. import lookup
from ..blocks import Block, Cell, Column, Fact, Facts, Figure, Section, Table
from ..exposed import exposed_pictures, similar_pictures
from ..wording import many, part, percent, short

MOST_CLASSES = 40


def section(report: AuditReport) -> Section:
    """Crossing and exposure of the existing split, or the reason why nothing is said."""
    title = "The split as published"
    found = lookup.primary(report, lookup.EXISTING)
    if found is None:
        notes = [n for n in lookup.all_notes(report) if n.topic == "existing split"]
        lead = "" if notes else "There is none to judge."
        return Section("existing-split", title, 30, lead, tuple(lookup.notices(notes)))
    plan, exposure = found
    crossing = lookup.crossing(plan, report.grouping.codes)
    partition = lookup.readout(plan)
    rows = (plan.partition == partition) & exposure.evaluated
    n, k = int(rows.sum()), int(exposure.exposed[rows].sum())
    blocks: list[Block] = [Facts(_facts(report, crossing, partition)), *lookup.notices(plan.notes)]
    blocks += [*_partitions(report, plan, exposure), *_classes(report, exposure, rows, partition)]
    blocks += exposed_pictures(report, plan, exposure)
    blocks += similar_pictures(report, plan, exposure)
    return Section("existing-split", title, 30, _lead(crossing, partition, k, n), tuple(blocks))


def _lead(crossing: lookup.Crossing, partition: str, k: int, n: int) -> str:
    if not crossing.of_groups:
        return "No group of two or more images is known, so nothing can cross this split: no dependence is detectable."
    if not crossing.groups:
        return f"No known group crosses it: none of {many(n, partition + ' image')} has a known mate in train."
    return (
        f"{part(crossing.groups, crossing.of_groups)} groups of two or more images cross it, and {part(k, n)} "
        f"{partition} images have a mate in train."
    )


def _facts(report: AuditReport, crossing: lookup.Crossing, partition: str) -> tuple[Fact, ...]:
    facts = [
        Fact(
            "Groups crossing",
            crossing.groups,
            f"of {crossing.of_groups:,} groups of two or more images"
            + (f" ({percent(crossing.groups / crossing.of_groups)})" if crossing.of_groups else "")
            + f"; they hold {many(crossing.images, 'image')}. A count over the whole corpus: it has no interval.",
            "count",
        )
    ]
    rate = lookup.estimate(
        lookup.effects(report, "exposure_rate", condition=lookup.EXISTING, partition=partition), "share"
    )
    if rate is not None:
        meaning = f"share of {partition} images with a mate in train, with 95 % interval; n = {rate.n:,}."
        facts.append(Fact(f"Exposure of {partition}", rate, meaning, "share"))
    leak = lookup.estimate(lookup.effects(report, "relative_pair_leak", condition=lookup.EXISTING))
    if leak is not None:
        meaning = "mate pairs that are torn apart, relative to dealing out single images (1)."
        facts.append(Fact("Relative pair leak", leak, meaning, "score"))
    metric = lookup.metric(report)
    for model in lookup.models(report):
        score = lookup.estimate(
            lookup.effects(report, "score", model=model, condition=lookup.EXISTING, metric=metric, partition=partition)
        )
        if score is not None:
            meaning = f"{metric.replace('_', ' ')} on {partition}, with 95 % interval; n = {score.n:,}."
            facts.append(Fact(f"Score: {lookup.model_name(model)}", score, meaning, "score"))
    return tuple(facts)


def _partitions(report: AuditReport, plan: SplitPlan, exposure: Exposure) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name in lookup.partition_sizes(plan):
        mine = plan.partition == name
        groups = len(np.unique(report.grouping.codes[mine]))
        if name in (TRAIN, UNUSED) or not exposure.evaluated[mine].any():
            rows.append((name, int(mine.sum()), groups, None, None, None))
            continue
        hit = mine & exposure.exposed
        dose = float(np.median(exposure.mates_in_train[hit])) if hit.any() else float("nan")
        rows.append((name, int(mine.sum()), groups, int(hit.sum()), float(exposure.exposed[mine].mean()), dose))
    columns = (
        Column("partition"),
        Column("images", "count"),
        Column("groups", "count", "with at least one image in it"),
        Column("exposed", "count", "images with at least one mate in train"),
        Column("rate", "share"),
        Column("mates in train", "number", "median over the exposed images: the dose"),
    )
    return [Table("Partitions", columns, tuple(rows), file="exposure.csv")]


def _classes(report: AuditReport, exposure: Exposure, rows: Any, partition: str) -> list[Block]:
    samples = report.samples
    rows = rows & (samples.labels >= 0)
    if not rows.any():
        return []
    n = np.bincount(samples.labels[rows], minlength=len(samples.classes))
    k = np.bincount(samples.labels[rows & exposure.exposed], minlength=len(samples.classes))
    there = np.flatnonzero(n)
    order = there[np.lexsort((there, -(k[there] / n[there])))]
    found = {
        e.class_name: e
        for e in lookup.effects(
            report, "exposure_rate", condition=lookup.EXISTING, partition=partition, class_name=None
        )
    }
    cells: list[tuple[Cell, ...]] = []
    for c in order.tolist():
        name = samples.classes[c]
        rate = lookup.estimate([found[name]]) if name in found else None
        cells.append((name, int(n[c]), int(k[c]), rate or float(k[c] / n[c])))
    columns = (
        Column("class"),
        Column(f"{partition} images", "count"),
        Column("exposed", "count"),
        Column("rate", "share", "exposed / images, with a 95 % interval over groups where there are enough of them"),
    )
    shown = cells[:MOST_CLASSES]
    total = len(cells) if len(cells) > len(shown) else 0
    table = Table("Exposure per class as a table", columns, tuple(shown), total=total, file="effects.csv", folded=True)
    if not k.any():
        return [table]
    names = [str(r[0]) for r in shown]
    return [_class_figure(names, n[order[: len(names)]], k[order[: len(names)]], partition, table)]


def _class_figure(names: list[str], n: Any, k: Any, partition: str, table: Table) -> Figure:
    at = list(range(len(names)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": (k / n).tolist(),
        "y": at,
        "marker": {"color": "@c2"},
        "customdata": [[a, int(b), int(c)] for a, b, c in zip(names, k, n, strict=True)],
        "text": [f"{int(b):,} / {int(c):,}" for b, c in zip(k, n, strict=True)],
        "textposition": "auto",
        "cliponaxis": False,
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]:,} of %{customdata[2]:,}<extra></extra>",
    }
    layout = {
        "xaxis": {"range": [0, 1.02], "tickformat": ".0%", "title": {"text": f"exposed share of {partition} images"}},
        "yaxis": {
            "tickvals": at,
            "ticktext": [short(a, 32) for a in names],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        "bargap": 0.35,
    }
    caption = (
        "Exposed images / images in each class. A class with high exposure is tested mostly on what train has seen."
    )
    return Figure(f"Exposure of {partition} per class", (bars,), layout, caption, 90 + 30 * len(names), table)
