"""What the terminal shows of a report."""

from __future__ import annotations

import math

from rich.table import Table

from ..model import AuditReport, Effect
from ..trainers._recipes import in_words
from .console import Out, cell

STYLES = {"info": "cyan", "warning": "yellow", "problem": "bold red", "not evaluated": "magenta"}
SHOWN = 10
"""Unreadable files listed; the rest is counted."""


def show(console: Out, report: AuditReport) -> None:
    """Verdict, one table a model, notes and unreadable files, in text."""
    console.say(report.verdict, "bold")
    tables = conditions(report.effects)
    for table in tables:
        console.print()
        console.print(table)
    if tables:
        console.say("(95 % intervals over groups; exposed = test images with a mate in train)", "dim")
    console.print()
    for note in dict.fromkeys((*report.samples.notes, *report.grouping.notes, *report.notes)):
        count = f" [{note.count}]" if note.count and str(note.count) not in note.text else ""
        console.say(f"{note.level}: ", STYLES[note.level], f"{note.text}{count}")
        if note.level in ("warning", "problem") and note.examples:
            console.say(f"    {', '.join(note.examples[:3])}{', ...' if len(note.examples) > 3 else ''}", "dim")
    for name, _, reason in report.failures[:SHOWN]:
        console.say("cannot be used: ", STYLES["problem"], f"{name}: {reason}")
    if len(report.failures) > SHOWN:
        console.say(f"... and {len(report.failures) - SHOWN} more, all in samples.csv and the report")


def conditions(effects: tuple[Effect, ...]) -> list[Table]:
    """One table a model, one row a condition, pooled over seeds; exposure of one seed has no mean beside it."""
    pooled = {
        (e.what, e.model, e.condition): e
        for e in effects
        if not e.class_name and e.metric in ("", "balanced_accuracy") and e.partition in ("", "test")
        if e.seed is None or e.condition == "existing" or e.what == "exposure_rate"
    }
    tables: dict[str, Table] = {}
    for (what, model, condition), effect in pooled.items():
        if what != "score":
            continue
        if model not in tables:
            tables[model] = _table(model)
        exposed = pooled.get(("exposure_rate", "", condition))
        change = pooled.get(("inflation", model, condition))
        tables[model].add_row(
            cell(condition),
            "" if exposed is None or math.isnan(exposed.estimate) else f"{exposed.estimate:.0%}",
            interval(effect, ".3f"),
            "" if change is None else interval(change, "+.3f"),
        )
    return list(tables.values())


def _table(model: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), title=cell(in_words(model)), title_justify="left")
    table.add_column("condition")
    for name in ("exposed", "balanced accuracy", "change from intact"):
        table.add_column(name, justify="right")
    return table


def interval(effect: Effect, form: str) -> str:
    """An estimate with its interval, or in words that there is none."""
    if math.isnan(effect.estimate):
        return "not estimable"
    if math.isnan(effect.low) or math.isnan(effect.high):
        return f"{effect.estimate:{form}} (no interval)"
    return f"{effect.estimate:{form}} ({effect.low:{form}} to {effect.high:{form}})"
