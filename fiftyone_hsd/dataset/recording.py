"""What verbs beyond the audit find, as marks beside the audit's own: each comes and goes alone."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..model import AuditReport, Exposure
from ..progress import Progress
from ..splitting import Repair
from .label_marks import label_marks
from .label_overview import label_overview
from .marks import repair_marks
from .overview import repair_overview
from .reading import label_path
from .writing import Written, summary, write_results


def write_repair(
    view: Any,
    report: AuditReport,
    repair: Repair,
    exposure: Exposure,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write a repaired partition beside everything else: field hsd_repaired, tags hsd:repaired:PARTITION, saved views.

    Nothing of the split as published is touched; marks of an earlier repair go. All or nothing, as `write_audit`.

    Args:
        view: the dataset or view whose split was repaired.
        report: the samples, groups and settings the repair was made from.
        exposure: of the repaired plan.
        force: drop changes that others made to the marks of the earlier repair.

    Raises:
        InputError, StaleError: as `write_audit`.
    """
    planned, results = repair_marks(report, repair, exposure), {"overview": repair_overview(repair)}
    return write_results(view, report, "repair", planned, results, force=force, progress=progress)


def write_labels(view: Any, report: AuditReport, *, force: bool = False, progress: Progress | None = None) -> Written:
    """Write the newest label results of a report: fields hsd_label_issue, hsd_label_..., tags, saved views.

    Marks of an audit stay as they are; those of earlier label results go. All or nothing, as `write_audit`.

    Args:
        view: the dataset or view whose labels were looked at.
        report: what `fiftyone_hsd.labels` returned.
        force: drop changes that others made to the marks of the earlier label results.

    Raises:
        InputError: the report holds no label results; and as `write_audit`.
        StaleError: as `write_audit`.
    """
    if not report.label_results:
        raise InputError("the report holds no label results", advice="call fiftyone_hsd.labels first")
    label = label_path(view, report.settings.get("label_field"), []) or ""
    results = {"report": summary(report), "overview": label_overview(report, label=label)}
    return write_results(view, report, "labels", label_marks(report), results, force=force, progress=progress)
