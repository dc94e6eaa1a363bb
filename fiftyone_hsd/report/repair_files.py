"""The files of a repaired split: splits/repaired.csv like any split, and repair.csv and repair.json, the plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..model import SCHEMA, AuditReport, sha256_json
from ..splitting import Repair
from ..store import atomic
from .csv_files import SPLIT, cell, encoded, paths_of

CHANGES = "path,label,group,before,after,reason"
SPLIT_FILE, CHANGES_FILE, PLAN_FILE = "splits/repaired.csv", "repair.csv", "repair.json"


def write_repair_files(report: AuditReport, repair: Repair, settings: dict[str, Any], out: Path) -> tuple[Path, ...]:
    """Write the repaired split and its plan; images are neither moved nor deleted.

    Args:
        report: the samples and groups the repair was made from.
        settings: what was asked for.

    Returns:
        the files.

    Raises:
        StoreError: a file cannot be written.
    """
    texts = {
        SPLIT_FILE: "".join(_split(report, repair)),
        CHANGES_FILE: "".join(_changes(report, repair)),
        PLAN_FILE: json.dumps(plan_value(report, repair, settings), ensure_ascii=True, allow_nan=False, indent=1)
        + "\n",
    }
    for name, text in texts.items():
        with atomic(out / name) as file:
            file.write(encoded(text))
    return tuple(out / name for name in texts)


def plan_value(report: AuditReport, repair: Repair, settings: dict[str, Any]) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "schema": SCHEMA,
        "settings": settings,
        "partitions": {k: {"before": a, "after": b} for k, (a, b) in repair.sizes.items()},
        "moved": repair.moved,
        "set_aside": repair.set_aside,
        "least_possible": repair.least,
        "optimal": repair.optimal,
        "notes": [{"level": n.level, "topic": n.topic, "text": n.text} for n in repair.plan.notes],
        "digests": {"plan": repair.plan.digest, "groups": groups_digest(report)},
    }


def groups_digest(report: AuditReport) -> str:
    """Digest of (path, group) in order of paths: a repair belongs to these."""
    ids, groups = paths_of(report.samples), report.grouping.group_ids(report.samples.ids)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    return sha256_json([[ids[i], groups[i]] for i in order])


def _split(report: AuditReport, repair: Repair) -> Iterator[str]:
    yield f"{SPLIT}\n"
    for head, part in zip(_heads(report), repair.plan.partition.tolist(), strict=True):
        yield f"{head},{cell(part)}\n"


def _changes(report: AuditReport, repair: Repair) -> Iterator[str]:
    heads = _heads(report)
    yield f"{CHANGES}\n"
    for row, *values in zip(repair.rows, repair.before, repair.after, repair.reason, strict=True):
        yield ",".join([heads[row], *(cell(v) for v in values)]) + "\n"


def _heads(report: AuditReport) -> list[str]:
    """path,label,group of every sample."""
    samples = report.samples
    names = ["", *map(cell, samples.classes)]
    labels = [names[i + 1] for i in samples.labels.tolist()]
    columns = zip(map(cell, paths_of(samples)), labels, report.grouping.group_ids(samples.ids), strict=True)
    return [",".join(row) for row in columns]
