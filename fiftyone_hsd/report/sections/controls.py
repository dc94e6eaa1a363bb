"""Control experiments: is the benchmark measuring the object at all? Only when there are results."""

from __future__ import annotations

from ...model import AuditReport
from .. import lookup
from ..blocks import Cell, Column, Estimate, Section, Table

MOST = 200


def section(report: AuditReport) -> Section | None:
    """A table per control, each score beside its chance level."""
    if not report.control_results:
        return None
    tables = []
    for control in dict.fromkeys(c.control for c in report.control_results):
        mine = [c for c in report.control_results if c.control == control and not c.effect.class_name]
        rows: list[tuple[Cell, ...]] = [
            (
                c.variant,
                lookup.model_name(c.effect.model),
                c.effect.condition,
                c.effect.what,
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
        notes = lookup.methods(c.effect for c in mine)[:6]
        tables.append(Table(control, columns, tuple(rows[:MOST]), total, "controls.csv", notes))
    lead = "What a model reaches on pictures from which the object was removed or destroyed. It should be chance."
    return Section("controls", "Control experiments", 60, lead, tuple(tables))
