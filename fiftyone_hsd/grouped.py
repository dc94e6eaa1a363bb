"""A corpus with its groups and its split, and nothing trained: what the verbs between two audits start from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .audit import existing_plan, read, source_name, versions
from .audit_groups import find_groups
from .errors import EmptyError
from .exposure import exposure
from .model import AuditReport, Note
from .progress import Progress
from .report.stored import load_report, stored_path
from .scan import scan
from .settings import Settings


def grouped(source: Any, options: Settings, progress: Progress, *, columns: Sequence[str] = ()) -> AuditReport:
    """The report of an audit folder, or one without models, made now: samples, groups, and the split as published.

    Args:
        source: a folder that `audit(..., out=...)` wrote, an AuditReport, or what `audit` takes.
        options: how to read it; an audit folder was read already.
        columns: further FiftyOne fields to read as metadata.

    Raises:
        InputError, PathError, FieldError, PatternError: what was given cannot be used.
        EmptyError: no usable image.
        StoreError: the audit folder is damaged.
    """
    if isinstance(source, AuditReport):
        return source
    if isinstance(source, (str, Path)) and stored_path(source).is_file():
        return load_report(source)
    progress(0, 0, "reading the list of files")
    samples = read(source, options, columns)
    found, _ = scan(samples, progress=progress)
    usable = found.usable
    failures = tuple((samples.ids[i], samples.paths[i], found.failure[i]) for i in np.flatnonzero(~usable))
    if not usable.any():
        raise EmptyError(f"none of {len(samples)} images can be used", "at least one readable image")
    samples, found = samples.take(usable), found.take(usable)
    grouping = find_groups(samples, found, options, progress)
    notes: list[Note] = []
    plans = tuple(existing_plan(samples, notes))
    return AuditReport(
        samples=samples,
        failures=failures,
        scan=found,
        grouping=grouping,
        plans=plans,
        exposures=tuple(exposure(p, grouping) for p in plans),
        runs=(),
        effects=(),
        settings={**dataclasses.asdict(options), "source": source_name(source)},
        versions=versions(),
        verdict="",
        notes=tuple(notes),
    )
