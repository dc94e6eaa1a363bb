"""Some samples with the groups that an audit found, for verbs that need no more of it than these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .audit import existing_plan, versions
from .errors import EmptyError, StaleError
from .exposure import exposure
from .model import AuditReport, Grouping, Ints, Note, Samples


def narrowed(report: AuditReport, samples: Samples, settings: Mapping[str, Any] | None = None) -> AuditReport:
    """A report over some samples of another one: with its groups and the split as published, without its numbers.

    Samples that the audit could not use are left out, as failures.

    Args:
        report: the audit, its verdicts applied.
        samples: some of its samples, as they are read now: labels and columns may differ.
        settings: what the result says it was asked for.

    Raises:
        StaleError: the audit does not hold one of the samples.
        EmptyError: it could use none of them.
    """
    row = {name: i for i, name in enumerate(report.samples.ids)}
    failed = {f[0]: f for f in report.failures}
    new = [name for name in samples.ids if name not in row and name not in failed]
    if new:
        raise StaleError(f"{len(new)} images were added since the audit", "the audited ones", "run the audit again")
    there = samples.take(np.array([name in row for name in samples.ids], bool))
    if not len(there):
        raise EmptyError("the audit could use none of these images", "at least one usable image")
    rows = np.array([row[name] for name in there.ids], np.int64)
    grouping = _part(report.grouping, rows)
    notes: list[Note] = []
    plans = tuple(existing_plan(there, notes))
    return AuditReport(
        samples=there,
        failures=tuple(failed[name] for name in samples.ids if name in failed),
        scan=report.scan.take(rows),
        grouping=grouping,
        plans=plans,
        exposures=tuple(exposure(p, grouping) for p in plans),
        runs=(),
        effects=(),
        settings=dict(settings or {}),
        versions=versions(),
        verdict="",
        notes=tuple(notes),
    )


def _part(grouping: Grouping, rows: Ints) -> Grouping:
    """The groups of some rows, with the links between them."""
    place = np.full(len(grouping), -1, np.int64)
    place[rows] = np.arange(len(rows))
    links = grouping.links
    inside = links.take((place[links.a] >= 0) & (place[links.b] >= 0))
    a, b = place[inside.a], place[inside.b]
    moved = type(links)(np.minimum(a, b), np.maximum(a, b), inside.source, inside.score, inside.rule, inside.accepted)
    return Grouping(grouping.codes[rows], moved, grouping.notes)
