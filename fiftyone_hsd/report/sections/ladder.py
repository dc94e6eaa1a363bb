"""The ladder: the score against the exposure that was achieved, from intact groups to single images."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ...model import AuditReport, Effect
from .. import lookup
from ..blocks import Block, Cell, Column, Estimate, Fact, Facts, Figure, Section, Table
from ..exposed import exposed_pictures
from ..wording import interval, many, number, short, written

MOST_CLASSES = 40
CLASS_METRICS = ("recall", "f1")
PALETTE = ("@c1", "@c2", "@c3", "@c4", "@c5", "@c6")
NAMED = 4
"""Models that the first sentence speaks of."""


def section(report: AuditReport) -> Section:
    """Scores per condition, inflation with intervals, per-class gains."""
    title = "The ladder: score against exposure"
    steps = lookup.conditions(report)
    metric = lookup.metric(report)
    topics = ("ladder", "training", "inflation")
    missing = [n for n in lookup.all_notes(report) if n.level == "not evaluated" and n.topic in topics]
    if not steps:
        lead = "" if missing else "No condition was drawn."
        return Section("ladder", title, 40, lead, tuple(lookup.notices(missing)))
    blocks: list[Block] = [*lookup.notices(missing)]
    models = [m for m in lookup.models(report) if lookup.effects(report, "score", model=m, metric=metric)]
    if models:
        blocks += [_curve(report, steps, models, metric), _facts(report, models, metric)]
    blocks += [_conditions(report, steps), *(_scores(report, steps, m, metric, m == models[0]) for m in models)]
    blocks += _gains(report, models)
    run_notes = [n for r in report.runs for n in r.notes]
    blocks += lookup.notices(run_notes, "info")
    if lookup.primary(report, lookup.EXISTING) is None:
        found = lookup.primary(report, lookup.endpoint(report))
        blocks += exposed_pictures(report, *found) if found else []
    blocks = [b for b in blocks if not (isinstance(b, Facts) and not b.rows)]
    return Section("ladder", title, 40, _lead(report, models, metric), tuple(blocks))


def _lead(report: AuditReport, models: list[str], metric: str) -> str:
    end = lookup.endpoint(report)
    seeds = many(len(list(lookup.pairs(report, end))), "seed")
    if not models:
        return "No model was trained, so only the exposure of each condition is known."
    said = []
    for model in models[:NAMED]:
        rise = lookup.estimate(lookup.effects(report, "inflation", model=model, condition=end, metric=metric))
        low = lookup.estimate(lookup.effects(report, "score", model=model, condition=lookup.INTACT, metric=metric))
        high = lookup.estimate(lookup.effects(report, "score", model=model, condition=end, metric=metric))
        if rise is None or low is None or high is None or not math.isfinite(rise.value):
            continue
        words = (
            f"{lookup.model_name(model)} {number(low.value, 'score')} intact, {number(high.value, 'score')} {end}: "
            f"{number(rise.value, 'change')} {interval(rise, 'change')}"
        )
        if math.isfinite(rise.low) and rise.low <= 0 <= rise.high:
            words += ", an interval that covers 0"
        said.append(words.strip())
    start = f"Mean {metric.replace('_', ' ')} over {seeds}. "
    return start + "; ".join(said) + "." if said else start + "Inflation is not estimable here."


def _points(report: AuditReport, steps: list[str], model: str, metric: str) -> list[tuple[str, float, Estimate]]:
    """(condition, achieved exposure, score) of the conditions that have both."""
    points = []
    for step in steps:
        score = lookup.estimate(lookup.effects(report, "score", model=model, condition=step, metric=metric))
        if score is not None and math.isfinite(score.value):
            points.append((step, lookup.exposed_rate(report, step)[0], score))
    return points


def _curve(report: AuditReport, steps: list[str], models: list[str], metric: str) -> Figure:
    rates = [lookup.exposed_rate(report, s)[0] for s in steps]
    finite = [r for r in rates if math.isfinite(r)]
    flat = not finite or max(finite) - min(finite) < 1e-9
    traces: list[dict[str, Any]] = []
    for number_, model in enumerate(models):
        colour = PALETTE[number_ % len(PALETTE)]
        points = _points(report, steps, model, metric)
        place = [float(steps.index(s)) if flat else r for s, r, _ in points]
        traces.append(_line(points, place, lookup.model_name(model), colour, labels=number_ == 0))
        published = lookup.estimate(
            lookup.effects(report, "score", model=model, condition=lookup.EXISTING, metric=metric)
        )
        rate = lookup.exposed_rate(report, lookup.EXISTING)[0]
        if published is not None and math.isfinite(published.value) and math.isfinite(rate) and not flat:
            name = f"{lookup.model_name(model)}, split as published"
            traces.append(_line([("as published", rate, published)], [rate], name, colour, symbol="diamond-open"))
    x_axis: dict[str, Any] = (
        {"tickvals": list(range(len(steps))), "ticktext": steps, "title": {"text": "condition"}}
        if flat
        else {"tickformat": ".0%", "range": [-0.04, 1.06], "title": {"text": "exposed share of test images (achieved)"}}
    )
    layout = {
        "xaxis": x_axis,
        "yaxis": {"title": {"text": metric.replace("_", " ")}, "zeroline": False},
        "showlegend": True,
        "margin": {"t": 40},
    }
    caption = (
        "Bars: 95 % intervals of each score by resampling groups. Conditions share seeds and groups, so compare them "
        "by the paired inflation in the tables, not by whether two bars overlap."
    )
    chance = lookup.effects(report, "chance", condition=steps[0], metric=metric, pooled=False)
    if chance:
        caption += f" Chance: {number(chance[0].estimate, 'score')}."
    if flat:
        caption = (
            "No test image is exposed in any condition (no mates), so the conditions stand side by side. " + caption
        )
    return Figure("Score against achieved exposure", tuple(traces), layout, caption, 430)


def _line(
    points: list[tuple[str, float, Estimate]],
    place: list[float],
    name: str,
    colour: str,
    *,
    labels: bool = False,
    symbol: str = "circle",
) -> dict[str, Any]:
    above = [max(0.0, s.high - s.value) if math.isfinite(s.high) else 0.0 for _, _, s in points]
    below = [max(0.0, s.value - s.low) if math.isfinite(s.low) else 0.0 for _, _, s in points]
    return {
        "type": "scatter",
        "mode": "lines+markers+text" if labels else "lines+markers",
        "name": name,
        "x": place,
        "y": [s.value for _, _, s in points],
        "text": [c for c, _, _ in points],
        "textposition": "top left",
        "cliponaxis": False,
        "customdata": [[c, f"{r:.1%}", written(s, "score"), f"{s.n:,}"] for c, r, s in points],
        "error_y": {"type": "data", "array": above, "arrayminus": below, "color": colour, "thickness": 1.3, "width": 5},
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 8 if symbol == "circle" else 11, "symbol": symbol},
        "hovertemplate": "%{customdata[0]}: %{customdata[2]}<br>exposed %{customdata[1]}, n = %{customdata[3]}"
        "<extra></extra>",
    }


def _facts(report: AuditReport, models: list[str], metric: str) -> Facts:
    facts = []
    words = metric.replace("_", " ")
    for model in models:
        slope = lookup.estimate(lookup.effects(report, "slope_per_10_points", model=model, metric=metric), "change")
        if slope is not None and math.isfinite(slope.value):
            meaning = f"{words} per 10 points of achieved exposure, with 95 % interval; n = {slope.n:,}."
            facts.append(Fact(f"Slope: {lookup.model_name(model)}", slope, meaning, "change"))
    for model in models:
        for e in lookup.effects(report, "naive_exposed_minus_unexposed", model=model, pooled=False)[:1]:
            if math.isfinite(e.estimate):
                name = f"Exposed minus unexposed: {lookup.model_name(model)}"
                meaning = f"accuracy inside random; the two sets are {e.method}."
                facts.append(Fact(name, e.estimate, meaning, "change"))
    return Facts(tuple(facts))


def _conditions(report: AuditReport, steps: list[str]) -> Table:
    columns = (
        Column("condition"),
        Column("exposed", "share", "achieved exposure of the test images, mean over seeds"),
        Column("test images", "count"),
        Column("groups crossing", "share", "of the groups of two or more images; primary seed"),
        Column(
            "relative pair leak", "score", "mate pairs torn apart, relative to dealing out single images; primary seed"
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for step in steps:
        rate, n = lookup.exposed_rate(report, step)
        found = lookup.primary(report, step)
        crossing = None if found is None else lookup.crossing(found[0], report.grouping.codes)
        share = crossing.groups / crossing.of_groups if crossing and crossing.of_groups else float("nan")
        leak = lookup.effects(report, "relative_pair_leak", condition=step, pooled=False)
        rows.append((step, rate, n, share, leak[0].estimate if leak else None))
    notes = ("These are counts over the plans: they have no interval.",)
    return Table("Conditions", columns, tuple(rows), file="exposure.csv", notes=notes)


def _scores(report: AuditReport, steps: list[str], model: str, metric: str, first: bool) -> Table:
    """The table of one model; methods and meanings stand below the first."""
    columns: tuple[Column, ...] = (
        Column("condition"),
        Column("score", "score", "with 95 % interval and the number of test images, which holds for the whole row"),
        Column("inflation", "change", "score minus the score under intact, paired by seed and group"),
        Column("error removed", "share", "share of the intact error that vanishes; nothing real became better"),
        Column("design effect", "number", "how much less the test images say than independent ones; primary seed"),
    )
    published = [lookup.EXISTING] if lookup.effects(report, "score", model=model, condition=lookup.EXISTING) else []
    used: list[Effect] = []
    rows: list[tuple[Cell, ...]] = []
    for step in [*steps, *published]:
        row: list[Cell] = ["split as published" if step == lookup.EXISTING else step]
        for what in ("score", "inflation", "relative_error_removed"):
            items = lookup.effects(report, what, model=model, condition=step, metric=metric)
            items = sorted(items, key=lambda e: e.seed is not None)[:1]
            used += items
            value = lookup.estimate(items)
            row.append(value if value is None or what == "score" else dataclasses.replace(value, n=0))
        design = lookup.effects(report, "design_effect", model=model, condition=step, pooled=False)
        rows.append((*row, design[0].estimate if design else None))
    title = f"{metric.replace('_', ' ').capitalize()}: {lookup.model_name(model)}"
    if not first:
        columns = tuple(dataclasses.replace(c, meaning="") for c in columns)
        return Table(title, columns, tuple(rows), file="effects.csv", notes=("Columns and methods as above.",))
    return Table(title, columns, tuple(rows), file="effects.csv", notes=lookup.methods(used))


def _gains(report: AuditReport, models: list[str]) -> list[Block]:
    """Change of recall per class from intact to random: figure of the first model, table of all."""
    blocks: list[Block] = []
    end = lookup.endpoint(report)
    for model in models:
        for metric in CLASS_METRICS:
            found = [
                e
                for e in lookup.effects(
                    report, "class_inflation", model=model, condition=end, metric=metric, class_name=None
                )
                if e.class_name
            ]
            if found:
                blocks.append(_gain(found, model, metric, end))
                break
    return blocks


def _gain(found: list[Effect], model: str, metric: str, end: str) -> Block:
    rank = sorted(found, key=lambda e: (not math.isfinite(e.estimate), -e.estimate, e.class_name))
    title = f"{metric.replace('_', ' ').capitalize()} per class, {end} minus intact: {lookup.model_name(model)}"
    rows = tuple((e.class_name, Estimate(e.estimate, e.low, e.high, e.n)) for e in rank[:MOST_CLASSES])
    columns = (Column("class"), Column("gain", "change", "with 95 % interval over groups where there are enough"))
    total = len(rank) if len(rank) > len(rows) else 0
    table = Table(
        "Gains as a table", columns, rows, total, "effects.csv", tuple(lookup.methods(found))[:3], folded=True
    )
    known = [e for e in rank[:MOST_CLASSES] if math.isfinite(e.estimate)]
    if not known:
        return Table(title, columns, rows, total, "effects.csv", tuple(lookup.methods(found))[:3])
    at = list(range(len(known)))
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [e.estimate for e in known],
        "y": at,
        "error_x": {
            "type": "data",
            "array": [max(0.0, e.high - e.estimate) if math.isfinite(e.high) else 0.0 for e in known],
            "arrayminus": [max(0.0, e.estimate - e.low) if math.isfinite(e.low) else 0.0 for e in known],
            "color": "@c1",
            "thickness": 1.4,
            "width": 4,
        },
        "marker": {"color": "@c1", "size": 8},
        "customdata": [
            [e.class_name, written(Estimate(e.estimate, e.low, e.high), "change"), f"{e.n:,}"] for e in known
        ],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}, n = %{customdata[2]}<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": f"change of {metric}"}, "zeroline": True, "rangemode": "tozero"},
        "yaxis": {
            "tickvals": at,
            "ticktext": [short(e.class_name, 32) for e in known],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
    }
    caption = (
        f"Right of 0: the class looks better under {end} than on new groups. No bar: too few groups for an interval."
    )
    unknown = len(rank) - sum(math.isfinite(e.estimate) for e in rank)
    if unknown:
        caption += f" {many(unknown, 'class is', 'classes are')} not estimable and stand in the table."
    return Figure(title, (dots,), layout, caption, 100 + 28 * len(known), table)
