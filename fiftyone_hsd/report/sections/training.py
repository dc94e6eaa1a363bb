"""Training runs: how each went and what it cost."""

from __future__ import annotations

import math

from ...model import AuditReport, RunRecord
from .. import lookup
from ..blocks import Block, Cell, Column, Section, Table
from ..wording import many

MOST = 200
MIB = 1 << 20


def section(report: AuditReport) -> Section | None:
    """A row a run of the training grid; None without a grid."""
    records = report.run_records
    if not records:
        return None
    columns = (
        Column("model"),
        Column("condition"),
        Column("seed", "count"),
        Column("status"),
        Column("seconds", "number", "of all attempts together; (best val) is a second readout and costs nothing more"),
        Column("peak memory, MiB", "number", "of the GPU where one was used, else of the process"),
        Column("remark"),
    )
    # What failed stands first: nobody should have to look for it.
    ranked = sorted(records, key=lambda r: (r.status == "done", not r.reason))
    rows = tuple(_row(r) for r in ranked[:MOST])
    total = len(records) if len(records) > len(rows) else 0
    blocks: tuple[Block, ...] = (Table("Runs", columns, rows, total, "runs.csv", folded=len(rows) > 20),)
    failed = sum(r.status != "done" for r in records)
    hours = sum(r.seconds for r in records) / 3600
    words = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
    lead = f"{many(len(records), 'run')} of the grid took {words} of training in all; "
    lead += (
        f"{failed} of them did not end well, so the numbers that need them are missing." if failed else "none failed."
    )
    return Section("training", "Training runs and their cost", 45, lead, blocks)


def _row(r: RunRecord) -> tuple[Cell, ...]:
    memory = r.peak_memory / MIB if math.isfinite(r.peak_memory) else float("nan")
    return (lookup.model_name(r.model), r.condition, r.seed, r.status, r.seconds, memory, r.reason)
