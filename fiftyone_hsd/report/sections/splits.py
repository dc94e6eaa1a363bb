"""The splits to take home: how the intact one came out, class by class, and where all of them are."""

from __future__ import annotations

import numpy as np

from ...model import UNUSED, AuditReport, Ints, SplitPlan
from .. import lookup
from ..blocks import Block, Cell, Column, Section, Table
from ..csv_files import split_files
from ..wording import listed, many

MOST_CLASSES = 60


def section(report: AuditReport) -> Section:
    """Class by partition counts of the intact split of the primary seed, deviations, notes, files."""
    title = "Splits to take home"
    steps = lookup.conditions(report)
    if not steps:
        return Section("splits", title, 50, "None was drawn; the sections above and “Not evaluated” say why.", ())
    found = lookup.primary(report, lookup.INTACT if lookup.INTACT in steps else steps[0])
    assert found is not None  # noqa: S101 - the condition comes from the plans
    plan = found[0]
    crossing = lookup.crossing(plan, report.grouping.codes)
    seeds = many(len(list(lookup.pairs(report, plan.condition))), "seed")
    lead = f"{plan.condition.capitalize()}, seed {plan.seed}: " + (
        "no group lies in two partitions."
        if not crossing.groups
        else f"{many(crossing.groups, 'group')} of {crossing.of_groups:,} in two or more partitions."
    )
    lead += f" All conditions have the same class counts; {seeds} of each are in splits/all.csv."
    blocks: list[Block] = [_counts(report, plan), *lookup.notices(plan.notes), _files(report)]
    return Section("splits", title, 50, lead, tuple(blocks))


def _counts(report: AuditReport, plan: SplitPlan) -> Table:
    samples, codes = report.samples, report.grouping.codes
    names = [p for p in lookup.partition_sizes(plan) if p != UNUSED]
    used = (samples.labels >= 0) & (plan.partition != UNUSED)
    counts = np.zeros((len(names), len(samples.classes)), np.int64)
    groups = np.zeros_like(counts)
    for i, name in enumerate(names):
        rows = used & (plan.partition == name)
        counts[i] = np.bincount(samples.labels[rows], minlength=len(samples.classes))
        classes, _ = lookup.pairs_of(samples.labels[rows], codes[rows])
        groups[i] = np.bincount(classes, minlength=len(samples.classes))
    total = counts.sum(0)
    share = counts.sum(1) / max(1, counts.sum())
    away = np.abs(counts / np.maximum(total, 1) - share[:, None])
    order = np.argsort(-total, kind="stable")
    rows_: list[tuple[Cell, ...]] = [_row("all", counts.sum(1), None, None)]
    for c in order[:MOST_CLASSES].tolist():
        if total[c]:
            rows_.append(_row(samples.classes[c], counts[:, c], groups[:, c], float(away[:, c].max() * 100)))
    columns = (
        Column("class"),
        Column("images", "count"),
        *(Column(n, "count") for n in names),
        Column(f"groups: {' / '.join(names)}", "text", "independent units of the class in each partition"),
        Column(
            "deviation",
            "number",
            "points between a class's share in a partition and the partition's share of all images",
        ),
    )
    seen = int((total > 0).sum())
    worst = float(away[:, total > 0].max()) if seen else 0.0
    notes: tuple[str, ...] = (
        f"Partition sizes: {listed([f'{n} {s:.1%}' for n, s in zip(names, share, strict=True)])}.",
    )
    notes += (f"Largest deviation of a class's share: {worst * 100:.2f} points.",)
    return Table(
        f"Images per class and partition: {plan.condition}, seed {plan.seed}",
        columns,
        tuple(rows_),
        total=seen + 1 if seen > MOST_CLASSES else 0,
        file=split_files(report)[plan.condition],
        notes=notes,
    )


def _row(name: str, counts: Ints, groups: Ints | None, away: float | None) -> tuple[Cell, ...]:
    said = None if groups is None else " / ".join(f"{g:,}" for g in groups.tolist())
    return (name, int(counts.sum()), *(int(c) for c in counts.tolist()), said, away)


def _files(report: AuditReport) -> Table:
    use = {
        lookup.INTACT: "train and test on these to estimate performance on new groups",
        lookup.RANDOM: "single images dealt out, as a random split does; for comparison only",
        lookup.SHUFFLE: "a plain shuffle within classes; for comparison only",
        lookup.EXISTING: "the split as published",
    }
    rows = tuple(
        (condition, file, use.get(condition, "between intact and random; for comparison only"))
        for condition, file in split_files(report).items()
    )
    return Table("Files of the primary seed", (Column("condition"), Column("file", "path"), Column("use")), rows)
