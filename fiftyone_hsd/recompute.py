"""The numbers of an audit folder anew, from the runs it holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from .audit import publish
from .effects import FURTHER
from .effects import effects as numbers_of
from .model import AuditReport
from .progress import Progress
from .report.stored import load_report
from .sensitivity import PREFIX
from .sensitivity import sensitivity as sensitivity_of
from .verdict import verdict


def effects(out: str | Path, *, sensitivity: bool = False, progress: Progress | None = None) -> AuditReport:
    """Scores, inflation and their companions from the stored runs. Writes the report anew.

    Args:
        out: a folder that `audit` or `train` wrote.
        sensitivity: also how much the inflation depends on the groups; a cheap model is trained again for that, nothing
            is trained otherwise.
        progress: `progress(done, total, label)`.

    Raises:
        PathError: there is no finished audit in it.
        InputError, StaleError: for the sensitivity, no cheap model was run, or images changed since.
        StoreError: it cannot be read or written.
    """
    report = judged(load_report(out))
    if sensitivity:
        more = sensitivity_of(report, Path(out) / ".hsd", progress)
        rest = [e for e in report.effects if not e.what.startswith(PREFIX)]
        report = dataclasses.replace(report, effects=(*rest, *more))
    publish(report, Path(out))
    return report


def judged(report: AuditReport) -> AuditReport:
    """The report with effects and verdict from its runs; numbers of runs that it does not hold stay as they are."""
    parts = (report.samples, report.grouping, report.plans, report.exposures)
    kept = [e for e in report.effects if e.what.startswith(FURTHER)]
    found = (*numbers_of(*parts, report.runs), *kept)
    return dataclasses.replace(report, effects=found, verdict=verdict(*parts, found))
