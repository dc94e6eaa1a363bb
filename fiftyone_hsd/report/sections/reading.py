"""What was read: counts, classes, sizes, copies, what was left out and why."""

from __future__ import annotations

import numpy as np

from ...model import AuditReport, Ints
from .. import lookup
from ..blocks import Block, Cell, Column, Fact, Facts, Figure, Section, Table
from ..wording import many, part, short

MOST_CLASSES = 40
MOST_FAILURES = 200


def section(report: AuditReport) -> Section:
    """Counts that a reader can compare with what he thinks he gave."""
    samples = report.samples
    total = len(samples) + len(report.failures)
    lead = f"{many(total, 'image')} below {samples.root}: {len(samples):,} could be used"
    lead += f", {len(report.failures):,} could not." if report.failures else "."
    blocks: list[Block] = [Facts(_facts(report))]
    blocks += _classes(report)
    blocks += lookup.notices(samples.notes, "info")
    if report.failures:
        blocks.append(_failures(report))
    return Section("read", "What was read", 10, lead, tuple(blocks))


def _facts(report: AuditReport) -> tuple[Fact, ...]:
    samples, scan = report.samples, report.scan
    labelled = int((samples.labels >= 0).sum())
    facts = [
        Fact(
            "Labelled images",
            labelled,
            f"in {many(len(samples.classes), 'class', 'classes')}."
            if labelled
            else "No labels: groups and exposure only.",
            "count",
        )
    ]
    names, counts = np.unique(samples.split[samples.split != ""], return_counts=True)
    if len(names):
        sizes = ", ".join(f"{k} {v:,}" for k, v in zip(names.tolist(), counts.tolist(), strict=True))
        facts.append(Fact("Split as published", len(names), f"partitions: {sizes}.", "count"))
    if len(samples):
        shapes = np.unique(np.stack([scan.width, scan.height]), axis=1).shape[1]
        middle = f"{np.median(scan.width):.0f} × {np.median(scan.height):.0f}"
        span = f"{scan.width.min()} × {scan.height.min()} to {scan.width.max()} × {scan.height.max()} px"
        facts.append(Fact("Image size, median", middle, f"{many(shapes, 'distinct size')}, {span}."))
    for what, values in (("Byte-identical files", scan.content), ("Identical decoded pixels", scan.pixels)):
        extra, sets = _repeats(values)
        facts.append(Fact(what, extra, f"copies beyond the first, in {many(sets, 'set')}.", "count"))
    if samples.metadata:
        facts.append(Fact("Metadata columns", len(samples.metadata), ", ".join(sorted(samples.metadata)), "count"))
    return tuple(facts)


def _repeats(values: tuple[str, ...]) -> tuple[int, int]:
    """Values beyond the first of their kind, and kinds that occur twice or more; "" does not count."""
    _, counts = np.unique(np.array([v for v in values if v], dtype=np.str_), return_counts=True)
    return int((counts - 1).sum()), int((counts > 1).sum())


def _classes(report: AuditReport) -> list[Block]:
    samples, codes = report.samples, report.grouping.codes
    if not samples.labelled:
        return []
    known = samples.labels >= 0
    counts = np.bincount(samples.labels[known], minlength=len(samples.classes))
    classes, _ = lookup.pairs_of(samples.labels[known], codes[known])
    groups = np.bincount(classes, minlength=len(samples.classes))
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES].tolist()
    rows: list[tuple[Cell, ...]] = [
        (samples.classes[c], int(counts[c]), float(counts[c] / counts.sum()), int(groups[c])) for c in order
    ]
    columns = (
        Column("class"),
        Column("images", "count"),
        Column("share", "share", "of the labelled images"),
        Column("groups", "count", "independent units; a class is as well covered as it has groups, not images"),
    )
    total = len(counts) if len(counts) > len(order) else 0
    table = Table("Classes as a table", columns, tuple(rows), total=total, folded=True)
    if len(counts) < 2:
        return [table]
    return [_class_figure([str(r[0]) for r in rows], counts[order], groups[order], table)]


def _class_figure(names: list[str], images: Ints, groups: Ints, table: Table) -> Figure:
    at = list(range(len(names)))
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": values.tolist(),
            "y": at,
            "marker": {"color": colour},
            "customdata": names,
            "hovertemplate": f"%{{customdata}}<br>%{{x:,}} {name}<extra></extra>",
        }
        for name, values, colour in (("groups", groups, "@c2"), ("images", images, "@c1"))
    ]
    layout = {
        "barmode": "group",
        "bargap": 0.3,
        "showlegend": True,
        "legend": {"traceorder": "reversed"},
        "xaxis": {"rangemode": "tozero"},
        "yaxis": {
            "tickvals": at,
            "ticktext": [short(n, 32) for n in names],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
    }
    caption = "Images and groups in each class. Few groups behind many images mean less information than it seems."
    return Figure("Images and groups per class", tuple(bars), layout, caption, 90 + 34 * len(names), table)


def _failures(report: AuditReport) -> Table:
    rows = tuple((i, reason) for i, _, reason in report.failures[:MOST_FAILURES])
    return Table(
        f"Images that could not be used: {part(len(report.failures), len(report.failures) + len(report.samples))}",
        (Column("image", "path"), Column("reason")),
        rows,
        total=len(report.failures) if len(report.failures) > MOST_FAILURES else 0,
        file="samples.csv",
        notes=("They are in no group, no split and no number of this report.",),
    )
