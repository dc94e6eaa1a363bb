"""Two classes: area under the ROC curve, sensitivity and specificity of each condition."""

from __future__ import annotations

from ...model import AuditReport, Effect
from .. import lookup
from ..blocks import Cell, Column, Estimate, Section, Table

METRICS = ("auroc", "sensitivity_at_val_threshold", "specificity_at_val_threshold")


def section(report: AuditReport) -> Section | None:
    """A table a model; None unless the corpus has two classes and a model was run."""
    found = [e for m in METRICS for e in lookup.effects(report, "score", metric=m)]
    if not found:
        return None
    columns = (
        Column("condition"),
        Column("AUROC", "score", "with 95 % interval over groups and the number of test images"),
        Column("AUROC minus intact", "change", "paired by seed and group"),
        Column("sensitivity", "score", "at the threshold that was best on validation"),
        Column("specificity", "score", "at the same threshold"),
    )
    tables = []
    for model in dict.fromkeys(e.model for e in found):
        rows = tuple(_row(report, model, c) for c in dict.fromkeys(e.condition for e in found if e.model == model))
        notes = lookup.methods(e for e in found if e.model == model)[:4]
        tables.append(Table(lookup.model_name(model), columns, rows, file="effects.csv", notes=notes))
    lead = (
        f"The second class, {report.samples.classes[1]}, counts as positive. No threshold was chosen on tested images."
    )
    return Section("two_classes", "Two classes", 43, lead, tuple(tables))


def _row(report: AuditReport, model: str, condition: str) -> tuple[Cell, ...]:
    def value(what: str, metric: str) -> Estimate | None:
        items: list[Effect] = lookup.effects(report, what, model=model, condition=condition, metric=metric)
        return lookup.estimate(items)

    name = "split as published" if condition == lookup.EXISTING else condition
    change = value("inflation", METRICS[0])
    return (name, value("score", METRICS[0]), change, value("score", METRICS[1]), value("score", METRICS[2]))
