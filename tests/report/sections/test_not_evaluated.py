from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.blocks import Notice, Table
from fiftyone_hsd.report.sections.not_evaluated import section


def test_notes_stand_with_their_reasons(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    found = section(case(tmp_path, labelled=False, split=False))
    assert [b.text for b in found.blocks if isinstance(b, Notice)] == [
        "splits, training and inflation: no labels",
        "existing split: there is none",
    ]


def test_gaps_are_counted_with_reason_and_class(report: AuditReport, nasty: str) -> None:
    (table,) = [b for b in section(report).blocks if isinstance(b, Table)]
    assert table.title == "Numbers that are not estimable"
    ((number, count, where, reason),) = table.rows
    assert (number, count, reason) == ("class inflation recall", 1, "not estimable: 2 distinct test groups, 5 needed")
    assert nasty in str(where)


def test_an_estimate_without_interval_is_named(report: AuditReport) -> None:
    nan = float("nan")
    effects = [
        dataclasses.replace(e, low=nan, high=nan, method="paired; 7 groups: no interval below 10")
        if e.what == "inflation"
        else e
        for e in report.effects
    ]
    tables = [b for b in section(dataclasses.replace(report, effects=tuple(effects))).blocks if isinstance(b, Table)]
    assert tables[1].rows[0][1] == 4
    assert tables[1].rows[0][3] == "7 groups: no interval below 10"


def test_nothing_missing_is_said(report: AuditReport) -> None:
    whole = tuple(e for e in report.effects if e.estimate == e.estimate)
    found = section(dataclasses.replace(report, effects=whole))
    assert found.blocks == ()
    assert "Every question that was asked was evaluated" in found.lead
