"""What was not evaluated, each with its reason. Not evaluated is never the same as clean."""

from __future__ import annotations

import math
import re

from ...model import AuditReport, Effect
from .. import lookup
from ..blocks import Block, Cell, Column, Section, Table
from ..wording import listed, many

_DIGITS = re.compile(r"[0-9]+")
MOST = 60
WITH_INTERVAL = frozenset(
    ("score", "inflation", "class_score", "class_inflation", "slope_per_10_points", "relative_error_removed")
)
"""Numbers that come with an interval wherever there are enough groups; the others are counts or identities."""


def section(report: AuditReport) -> Section:
    """Notes of level "not evaluated", and numbers that exist only as a gap."""
    notes = [n for n in lookup.all_notes(report) if n.level == "not evaluated"]
    gaps = [e for e in report.effects if not math.isfinite(e.estimate)]
    bare = [
        e
        for e in report.effects
        if e.seed is None
        and e.what in WITH_INTERVAL
        and math.isfinite(e.estimate)
        and not math.isfinite(e.low + e.high)
    ]
    blocks: list[Block] = [*lookup.notices(notes), *_table("Numbers that are not estimable", gaps)]
    blocks += _table("Estimates for which no interval can be given", bare)
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
        kinds.setdefault((e.what, e.metric, _DIGITS.sub("#", e.method)), []).append(e)
    rows: list[tuple[Cell, ...]] = []
    for (what, metric, _), items in list(kinds.items())[:MOST]:
        classes = list(dict.fromkeys(e.class_name for e in items if e.class_name))
        conditions = list(dict.fromkeys(e.condition for e in items if e.condition))
        models = list(dict.fromkeys(lookup.model_name(e.model) for e in items if e.model))
        where = [
            listed(models, 3) if models else "",
            listed(conditions) if conditions else "",
            f"{many(len(classes), 'class', 'classes')}: {listed(classes)}" if classes else "",
        ]
        name = " ".join(filter(None, (what.replace("_", " "), metric.replace("_", " "))))
        rows.append((name, len(items), "; ".join(filter(None, where)), _reason(items)))
    columns = (Column("number"), Column("how many", "count"), Column("where"), Column("reason"))
    total = len(kinds) if len(kinds) > MOST else 0
    return [Table(title, columns, tuple(rows), total, "effects.csv")]


def _reason(effects: list[Effect]) -> str:
    """The last clause of the method says why; where numbers in it differ, the first stands for all."""
    reasons = list(dict.fromkeys(e.method.rsplit("; ", 1)[-1] for e in effects))
    return reasons[0] + (f" (and {len(reasons) - 1} more with other numbers)" if len(reasons) > 1 else "")
