"""What was not evaluated, each with its reason. Not evaluated is never the same as clean."""

from __future__ import annotations

import math

from ...model import AuditReport, Effect
from .. import lookup
from ..blocks import Block, Cell, Column, Section, Table
from ..wording import listed, many

MOST = 60


def section(report: AuditReport) -> Section:
    """Notes of level "not evaluated", and numbers that exist only as a gap."""
    notes = [n for n in lookup.all_notes(report) if n.level == "not evaluated"]
    gaps = [e for e in report.effects if not math.isfinite(e.estimate)]
    wide = [e for e in report.effects if math.isfinite(e.estimate) and not math.isfinite(e.low + e.high)]
    pooled = [e for e in wide if e.seed is None]
    blocks: list[Block] = [*lookup.notices(notes), *_table("Numbers that are not estimable", gaps)]
    blocks += _table("Numbers without an interval", pooled)
    if blocks:
        lead = "What this report does not say, and why. None of it means that there is nothing to find."
    else:
        lead = "Every question that was asked was evaluated."
    return Section("not-evaluated", "Not evaluated", 70, lead, tuple(blocks))


def _table(title: str, effects: list[Effect]) -> list[Block]:
    if not effects:
        return []
    kinds: dict[tuple[str, str, str], list[Effect]] = {}
    for e in effects:
        kinds.setdefault((e.what, e.metric, e.method), []).append(e)
    rows: list[tuple[Cell, ...]] = []
    for (what, metric, method), items in list(kinds.items())[:MOST]:
        classes = list(dict.fromkeys(e.class_name for e in items if e.class_name))
        conditions = list(dict.fromkeys(e.condition for e in items if e.condition))
        models = list(dict.fromkeys(lookup.model_name(e.model) for e in items if e.model))
        where = [
            listed(models, 3) if models else "",
            listed(conditions) if conditions else "",
            f"{many(len(classes), 'class', 'classes')}: {listed(classes)}" if classes else "",
        ]
        name = " ".join(filter(None, (what.replace("_", " "), metric.replace("_", " "))))
        rows.append((name, len(items), "; ".join(filter(None, where)), method))
    columns = (Column("number"), Column("how many", "count"), Column("where"), Column("method or reason"))
    total = len(kinds) if len(kinds) > MOST else 0
    return [Table(title, columns, tuple(rows), total, "effects.csv")]
