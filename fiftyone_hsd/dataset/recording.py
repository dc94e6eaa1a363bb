"""What verbs beyond the audit find, as marks beside the audit's own: each comes and goes alone."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..model import AuditReport, Exposure
from ..progress import Progress
from ..splitting import Repair
from .control_marks import control_marks
from .control_overview import control_overview
from .keeping import recorded
from .label_marks import label_marks
from .label_overview import label_overview
from .marks import repair_marks
from .overview import repair_overview
from .reading import evaluated_field, label_path
from .root import root
from .training_marks import readouts, training_marks, training_overview
from .writing import Written, summary, write_results, written_names


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


def write_controls(view: Any, report: AuditReport, *, force: bool = False, progress: Progress | None = None) -> Written:
    """Write the control experiments of a report: fields hsd_given_away and hsd_control_..., tags, saved views.

    Marks of an audit stay as they are; those of earlier controls go. All or nothing, as `write_audit`.

    Args:
        view: the dataset or view whose images were looked at.
        report: what `fiftyone_hsd.controls` returned.
        force: drop changes that others made to the marks of the earlier controls.

    Raises:
        InputError: the report holds no controls; and as `write_audit`.
        StaleError: as `write_audit`.
    """
    if not report.control_results and not any(n.topic.startswith("control") for n in report.notes):
        raise InputError("the report holds no control experiments", advice="call fiftyone_hsd.controls first")
    label = label_path(view, report.settings.get("label_field"), []) or ""
    results = {"report": summary(report), "overview": control_overview(report, label=label)}
    return write_results(view, report, "controls", control_marks(report), results, force=force, progress=progress)


def write_training(view: Any, report: AuditReport, *, force: bool = False, progress: Progress | None = None) -> Written:
    """Write what a training grid predicted, at the lowest seed: a field hsd_CONDITION_pred_MODEL for each condition and
    model, hsd_trained_CONDITION on the images it was tested on, and an evaluation run hsd_CONDITION_MODEL over these.

    Marks of an audit stay as they are; predictions of models that an audit usually runs itself end in `_trained`. Marks
    of an earlier training go. All or nothing, as `write_audit`.

    Args:
        view: the dataset or view whose images were trained on.
        report: what `fiftyone_hsd.train` returned.
        force: drop changes that others made to the marks of the earlier training.

    Raises:
        InputError: the report holds no training runs; and as `write_audit`.
        StaleError: as `write_audit`.
    """
    if not report.run_records:
        raise InputError("the report holds no training runs", advice="call fiftyone_hsd.train first")
    dataset = root(view)
    others = [what for what in recorded(dataset) if what != "training"]
    taken = {name for what in others for name in written_names(dataset, what)}
    found, field = readouts(report, taken), report.settings.get("label_field")
    planned = training_marks(report, found, evaluated_field(view, field))
    results = {"overview": training_overview(report, found, label_path(view, field, []) or "")}
    return write_results(view, report, "training", planned, results, force=force, progress=progress)
