from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.blocks import Estimate, Fact, Facts, Notice
from fiftyone_hsd.report.sections.overview import section


def facts(report: AuditReport) -> dict[str, Fact]:
    return {f.label: f for b in section(report).blocks if isinstance(b, Facts) for f in b.rows}


def test_main_numbers(report: AuditReport) -> None:
    found = facts(report)
    assert found["Images"].value == 60
    assert "2 without a label; 2 more could not be used" in found["Images"].meaning
    assert found["Groups of two or more"].value == 20
    assert found["Exposed test images"].value == 1.0
    assert "20 of 20" in found["Exposed test images"].meaning
    rise = found["Inflation by a random split"]
    assert isinstance(rise.value, Estimate)
    assert round(rise.value.value, 3) == 0.32
    assert "over 2 seeds" in rise.meaning
    assert "n = 60" in rise.meaning


def test_problems_come_up_front(report: AuditReport, nasty: str) -> None:
    notices = [b for b in section(report).blocks if isinstance(b, Notice)]
    assert notices[0].level == "problem"
    assert notices[0].examples == (nasty,)


def test_what_is_missing_is_counted(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    assert section(case(tmp_path, labelled=False, split=False)).lead.startswith("2 questions were not evaluated")


def test_no_groups_is_no_proof(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    assert "no proof" in facts(case(tmp_path, grouped=False))["Groups of two or more"].meaning


def test_without_a_published_split_the_far_end_of_the_ladder_is_named(
    case: Callable[..., AuditReport], tmp_path: Path
) -> None:
    assert "condition random" in facts(case(tmp_path, split=False))["Exposed test images"].meaning
