from __future__ import annotations

import dataclasses

from fiftyone_hsd.model import AuditReport, RunRecord
from fiftyone_hsd.report.blocks import Table
from fiftyone_hsd.report.sections.training import section


def test_nothing_without_a_grid(report: AuditReport) -> None:
    assert section(report) is None


def test_failed_runs_stand_first_with_their_reason_and_the_cost_is_a_sum(report: AuditReport) -> None:
    records = (
        RunRecord("vit@/home/me/w.pt", "intact", 0, "done", 90.0, 3.0 * (1 << 20), "d"),
        RunRecord("vit@/home/me/w.pt (best val)", "intact", 0, "done", 0.0, float("nan"), "d"),
        RunRecord("resnet50", "random", 1, "failed", 30.0, float("nan"), "e", "out of memory"),
    )
    found = section(dataclasses.replace(report, run_records=records))
    assert found is not None
    assert "3 runs" in found.lead
    assert "2.0 minutes" in found.lead
    assert "1 of them" in found.lead
    (table,) = [b for b in found.blocks if isinstance(b, Table)]
    assert table.rows[0][:4] == ("resnet50", "random", 1, "failed")
    assert table.rows[0][-1] == "out of memory"
    assert table.rows[1][0] == "vit@w.pt"
    assert table.rows[1][5] == 3.0
