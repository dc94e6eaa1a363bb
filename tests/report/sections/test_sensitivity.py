from __future__ import annotations

import dataclasses

from fiftyone_hsd import sensitivity
from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report import sections
from fiftyone_hsd.report.blocks import Code, Estimate, Table
from fiftyone_hsd.report.sections.sensitivity import PREFIX, section


def test_both_files_speak_of_the_same_effects() -> None:
    assert PREFIX == sensitivity.PREFIX
    assert "sensitivity" in sections.names()


def test_what_was_not_evaluated_says_what_to_type(report: AuditReport) -> None:
    found = section(report)
    assert found is not None
    assert "Not evaluated" in found.lead
    assert isinstance(found.blocks[0], Code)
    assert section(dataclasses.replace(report, effects=())) is None


def test_a_row_a_variant_beside_the_groups_as_found(report: AuditReport) -> None:
    base = next(e for e in report.effects if (e.what, e.condition) == ("inflation", "random"))
    low = dataclasses.replace(
        base, what=f"{PREFIX}links dropped", estimate=0.1, low=0.02, high=0.18, method="2 of 20 links dropped; more"
    )
    none = dataclasses.replace(
        low, what=f"{PREFIX}without bytes", estimate=float("nan"), low=float("nan"), high=float("nan")
    )
    found = section(dataclasses.replace(report, effects=(*report.effects, low, none)))
    assert found is not None
    (table,) = [b for b in found.blocks if isinstance(b, Table)]
    assert [r[0] for r in table.rows] == ["as found", "links dropped", "without bytes"]
    assert table.rows[0][1] == Estimate(base.estimate, base.low, base.high, base.n, "change")
    assert table.rows[1][2] == "2 of 20 links dropped"
    assert "1 variants" in found.lead
    assert "1 of their intervals lie above 0" in found.lead
