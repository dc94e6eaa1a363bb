"""The numbers of an audit folder anew, from the runs it holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from .audit import publish
from .effects import effects as numbers_of
from .model import AuditReport
from .report.stored import load_report
from .verdict import verdict


def effects(out: str | Path) -> AuditReport:
    """Scores, inflation and their companions from the stored runs; nothing is trained. Writes the report anew.

    Args:
        out: a folder that `audit` or `train` wrote.

    Raises:
        PathError: there is no finished audit in it.
        StoreError: it cannot be read or written.
    """
    report = judged(load_report(out))
    publish(report, Path(out))
    return report


def judged(report: AuditReport) -> AuditReport:
    """The report with effects and verdict from its runs."""
    parts = (report.samples, report.grouping, report.plans, report.exposures)
    found = tuple(numbers_of(*parts, report.runs))
    return dataclasses.replace(report, effects=found, verdict=verdict(*parts, found))
