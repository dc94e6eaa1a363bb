from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.blocks import Table
from fiftyone_hsd.report.sections.splits import section


def test_counts_of_the_intact_split(report: AuditReport) -> None:
    plan = report.plan("intact", 0)
    table = next(b for b in section(report).blocks if isinstance(b, Table))
    names = [c.name for c in table.columns]
    assert names[:4] == ["class", "images", "train", "test"]
    used = plan.partition != "unused"
    share = (plan.partition == "train").sum() / used.sum()
    for row in table.rows[1:]:
        mine = report.samples.labels == report.samples.classes.index(str(row[0]))
        train, test = mine & (plan.partition == "train"), mine & (plan.partition == "test")
        assert row[1:4] == (mine.sum(), train.sum(), test.sum())
        codes = report.grouping.codes
        assert row[4] == f"{len(set(codes[train]))} / {len(set(codes[test]))}"
        assert row[5] == pytest.approx(100 * abs(train.sum() / mine.sum() - share))
    assert table.rows[0][1] == 58
    assert table.file == "splits/intact.csv"


def test_the_lead_says_whether_groups_are_whole(report: AuditReport) -> None:
    assert section(report).lead.startswith("Intact, seed 0: no group lies in two partitions.")


def test_files_of_every_condition(report: AuditReport) -> None:
    table = section(report).blocks[-1]
    assert isinstance(table, Table)
    assert [r[1] for r in table.rows] == [f"splits/{c}.csv" for c in dict.fromkeys(p.condition for p in report.plans)]


def test_without_plans_there_is_nothing_to_take(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    found = section(case(tmp_path, labelled=False))
    assert found.blocks == ()
    assert "None was drawn" in found.lead
