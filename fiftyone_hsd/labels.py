"""`labels`: label errors seen through groups, of a folder, a CSV or a FiftyOne view."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import descriptors as descriptor_folder
from . import trainers
from .audit import existing_plan, read, read_images, source_name, versions
from .audit_groups import find_groups
from .descriptors import Descriptor
from .errors import EmptyError, InfeasibleError, InputError, StaleError
from .exposure import exposure
from .label_issues import label_issues
from .model import AuditReport, Descriptors, Grouping, LabelIssues, Note, Samples
from .out_of_fold import out_of_fold
from .progress import Progress, guarded
from .report.stored import STATE, forget_report, load_report, store_report, stored_path
from .settings import Settings

MODEL = "linear_probe"
FOLDS = 5
OTHERS = ("models", "fractions", "truth")
"""Settings of an audit that have no meaning here."""
LADDER = "splits, training and inflation: only label errors were asked for; `hsd audit` evaluates these"


def labels(
    source: Any,
    *,
    model: str = MODEL,
    folds: int = FOLDS,
    checks: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> AuditReport:
    """Find labels that are probably wrong.

    Args:
        source: an image folder, a CSV file, `fiftyone:NAME`, a FiftyOne dataset or view, Samples, or a report (or the
            folder that `audit(..., out=...)` wrote), whose samples, labels and groups are taken as they were.
        model: the trainer behind the out-of-fold probabilities.
        folds: folds of one division; `seeds` of them are averaged.
        checks: further checks of cleanlab's Datalab, see `fiftyone_hsd.datalab`.
        out: folder for label_issues.csv and the report. An audit of the same samples, labels and groups that is there
            keeps its results and gets these beside them.
        progress: `progress(done, total, label)`.
        settings: the fields of `Settings` that say what is read and how it is grouped, `descriptor` and `seeds`.

    Returns:
        an AuditReport with `label_results`.

    Raises:
        InputError, PathError, FieldError, PatternError: what was given cannot be used.
        EmptyError: no usable image is left.
        StaleError: `out` holds an audit of other samples, labels or groups.
        MissingExtraError: cleanlab is not installed.
        StoreError: `out` cannot be written.
    """
    options = _options(settings)
    from .datalab.registering import need_cleanlab

    need_cleanlab()
    describe = descriptor_folder.by_name(options.descriptor)
    trainers.by_name(model)
    tell = guarded(progress)
    base, vectors = _start(source, options, describe, None if out is None else Path(out), tell)
    samples, grouping = base.samples, base.grouping
    issues = label_issues(samples, grouping, vectors, model, folds=folds, seeds=options.seeds, progress=tell)
    issues = dataclasses.replace(issues, options={**issues.options, "descriptor": options.descriptor})
    if checks:
        issues = _checked(issues, base, vectors, checks, folds, tell)
    report = _with(base, issues)
    if out is not None:
        _write(report, Path(out), tell)
    return report


def _options(settings: dict[str, Any]) -> Settings:
    wrong = sorted(set(settings) & set(OTHERS))
    if wrong:
        allowed = [f.name for f in dataclasses.fields(Settings) if f.name not in OTHERS]
        raise InputError(f"{', '.join(wrong)} has no meaning for label errors", ", ".join(allowed))
    return Settings.of(settings)


def _start(
    source: Any, options: Settings, describe: Descriptor, out: Path | None, tell: Progress
) -> tuple[AuditReport, Descriptors]:
    """The audit that `source` or `out` holds, else a report without splits of our own; and the vectors."""
    state = None if out is None else out / STATE
    if isinstance(source, (str, Path)) and stored_path(source).is_file():
        return _again(load_report(source), describe, Path(source) / STATE, tell)
    if isinstance(source, AuditReport):
        if out is not None and stored_path(out).is_file():
            _refuse_other(load_report(out), source.samples, source.grouping, out)
            source = load_report(out)
        return _again(source, describe, state, tell)
    tell(0, 0, "reading the list of files")
    samples = read(source, options)
    found, vectors = read_images(samples, describe, state, tell)
    usable = found.usable
    if not usable.any():
        raise EmptyError(f"none of {len(samples)} images can be used", "at least one readable image", "check the path")
    failures = tuple((samples.ids[i], samples.paths[i], found.failure[i]) for i in np.flatnonzero(~usable))
    samples, found, vectors = samples.take(usable), found.take(usable), vectors.take(usable)
    grouping = find_groups(samples, found, options, tell, vectors)
    if out is not None and stored_path(out).is_file():
        there = load_report(out)
        _refuse_other(there, samples, grouping, out)
        return there, vectors
    notes: list[Note] = []
    plans = tuple(existing_plan(samples, notes))
    notes.append(Note("not evaluated", "ladder", LADDER))
    settings = {**dataclasses.asdict(options), "source": source_name(source), "verb": "labels"}
    shown = tuple(exposure(p, grouping) for p in plans)
    parts = (samples, failures, found, grouping, plans, shown, (), (), settings, versions(), "", tuple(notes))
    return AuditReport(*parts), vectors


def _again(
    there: AuditReport, describe: Descriptor, state: Path | None, tell: Progress
) -> tuple[AuditReport, Descriptors]:
    """A report as it is, with vectors of its images."""
    found, vectors = read_images(there.samples, describe, state, tell)
    if not found.usable.all():
        raise StaleError(f"{(~found.usable).sum()} audited images can no longer be read", advice="repeat the audit")
    return there, vectors


def _refuse_other(there: AuditReport, samples: Samples, grouping: Grouping, out: Path) -> None:
    same = {
        "samples": there.samples.ids == samples.ids,
        "labels": there.samples.classes == samples.classes and np.array_equal(there.samples.labels, samples.labels),
        "groups": np.array_equal(there.grouping.codes, grouping.codes),
    }
    other = [name for name, equal in same.items() if not equal]
    if other:
        raise StaleError(
            f"{out} holds an audit with other {' and '.join(other)}",
            "the audit's own options for labels and groups, or another folder",
            "repeat the audit, or choose another --out",
        )


def _checked(
    issues: LabelIssues,
    base: AuditReport,
    vectors: Descriptors,
    checks: Sequence[str],
    folds: int,
    progress: Progress,
) -> LabelIssues:
    """With further checks of Datalab, on probabilities from group-disjoint folds."""
    from .datalab import check, issue_types

    try:
        seen = out_of_fold(base.samples, base.grouping, vectors, issues.model, k=folds, progress=progress)
        probabilities = seen.probabilities
    except InfeasibleError:
        probabilities = None
    progress(0, 0, "checks of Datalab")
    lab = check(base.samples, checks, types=issue_types(base), descriptors=vectors, probabilities=probabilities)
    missing = [c for c in lab.checks if c.reason]
    notes = [Note("not evaluated", "Datalab", f"Datalab's {c.name}: {c.reason}") for c in missing]
    for name, score in lab.correlated.items():
        text = f"Datalab: the image property {name} goes with the classes (score {score:.2f}, small = strongly)"
        notes.append(Note("warning", "Datalab", text))
    return dataclasses.replace(issues, checks=lab.checks, notes=(*issues.notes, *notes))


def _with(base: AuditReport, issues: LabelIssues) -> AuditReport:
    others = tuple(r for r in base.label_results if r.model != issues.model)
    verdict = base.verdict or in_a_sentence(base, issues)
    return dataclasses.replace(base, label_results=(*others, issues), verdict=verdict)


def in_a_sentence(report: AuditReport, issues: LabelIssues) -> str:
    """How many labels are suspected, by what."""
    labelled = int((report.samples.labels >= 0).sum())
    number, likely = int(issues.flagged.sum()), int(issues.likely.sum())
    if not np.isfinite(issues.score).any():
        copies = f"; {number:,} exact copies disagree in their label" if number else ""
        return f"Label errors were not evaluated{copies}."
    said = f"{likely:,} of {labelled:,} labels ({likely / labelled:.1%}) are likely to be wrong by {issues.model}"
    return f"{said}, {number:,} are suspected; what is suspected only may be the model's own error."


def _write(report: AuditReport, out: Path, progress: Progress) -> None:
    from .report import write

    progress(0, 0, "writing the report")
    audited = stored_path(out).is_file()
    forget_report(out)
    write(report, out)
    if audited:  # a report without splits of its own must not pass for an audit later
        store_report(report, out)
