from __future__ import annotations

import dataclasses

from fiftyone_hsd.model import AuditReport, ControlResult
from fiftyone_hsd.report.blocks import Estimate, Table
from fiftyone_hsd.report.sections.controls import section


def test_nothing_without_results(report: AuditReport) -> None:
    assert section(report) is None


def test_each_control_is_a_table_with_chance(report: AuditReport) -> None:
    score = next(e for e in report.effects if e.what == "score" and e.condition == "random")
    results = (ControlResult("border", "8 px", 0.33, score), ControlResult("constant", "grey", 0.33, score))
    found = section(dataclasses.replace(report, control_results=results))
    assert found is not None
    assert [b.title for b in found.blocks if isinstance(b, Table)] == ["border", "constant"]
    (row,) = found.blocks[0].rows  # type: ignore[union-attr]
    assert isinstance(row[5], Estimate)  # type: ignore[index]
    assert row[6] == 0.33  # type: ignore[index]
