"""Sensitivity to the grouping: the inflation again, with other groups that the same evidence could have given."""

from __future__ import annotations

import math

from ...model import AuditReport, Effect
from .. import lookup
from ..blocks import Cell, Code, Column, Estimate, Section, Table
from ..wording import interval, number

PREFIX = "sensitivity: "
TITLE = "How much the inflation depends on the groups"


def section(report: AuditReport) -> Section | None:
    """A row a variant beside the groups as found; without them what to type, None where there is no inflation."""
    found = [e for e in report.effects if e.what.startswith(PREFIX)]
    if not found:
        there = any(math.isfinite(e.estimate) for e in lookup.effects(report, "inflation", condition=lookup.RANDOM))
        lead = "Not evaluated yet. Groups are found with errors, and another grouping gives another ladder."
        hint = Code("hsd effects DIR --sensitivity", "trains a cheap model again, a few times as long as its audit")
        return Section("sensitivity", TITLE, 44, lead, (hint,)) if there else None
    first = found[0]
    known = lookup.effects(report, "inflation", model=first.model, condition=first.condition, metric=first.metric)
    base = [e for e in known if e.seed is None]
    columns = (
        Column("groups"),
        Column("inflation", "change", f"of {lookup.model_name(first.model)}, {first.metric.replace('_', ' ')}"),
        Column("what was changed"),
    )
    rows: list[tuple[Cell, ...]] = [("as found", _value(e), f"{report.grouping.n_groups:,} groups") for e in base[:1]]
    rows += [(e.what.removeprefix(PREFIX), _value(e), e.method.partition("; ")[0]) for e in found]
    notes = ("Each row has splits, runs and an interval of its own.", *lookup.methods(base)[:1])
    table = Table("Inflation at random", columns, tuple(rows), file="effects.csv", notes=notes)
    return Section("sensitivity", TITLE, 44, _lead(base, found), (table,))


def _value(e: Effect) -> Estimate:
    return Estimate(e.estimate, e.low, e.high, e.n, "change")


def _lead(base: list[Effect], found: list[Effect]) -> str:
    values = [e.estimate for e in found if math.isfinite(e.estimate)]
    if not values:
        return "No variant of the groups has an inflation that can be estimated."
    claims = [e for e in found if math.isfinite(e.low) and e.low > 0]
    text = f"Over {len(values)} variants of the groups it lies between {number(min(values), 'change')} and "
    text += f"{number(max(values), 'change')}; {len(claims)} of their intervals lie above 0."
    return text + (
        f" As found: {number(base[0].estimate, 'change')} {interval(_value(base[0]), 'change')}." if base else ""
    )
