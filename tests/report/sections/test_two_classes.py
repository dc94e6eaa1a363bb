from __future__ import annotations

import dataclasses

from fiftyone_hsd.model import AuditReport, Effect
from fiftyone_hsd.report.blocks import Estimate, Table
from fiftyone_hsd.report.sections.two_classes import section


def effect(what: str, condition: str, metric: str, value: float) -> Effect:
    nan = float("nan")
    return Effect(what, "vit", condition, None, "test", "", metric, value, value - 0.1, value + 0.1, nan, 50, "how")


def test_nothing_for_other_numbers_of_classes(report: AuditReport) -> None:
    assert section(report) is None


def test_one_row_a_condition(report: AuditReport) -> None:
    more = (
        effect("score", "intact", "auroc", 0.7),
        effect("score", "random", "auroc", 0.9),
        effect("inflation", "random", "auroc", 0.2),
        effect("score", "random", "sensitivity_at_val_threshold", 0.8),
    )
    found = section(dataclasses.replace(report, effects=(*report.effects, *more)))
    assert found is not None
    (table,) = found.blocks
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["intact", "random"]
    assert table.rows[1][1] == Estimate(0.9, 0.8, 1.0, 50)
    assert isinstance(table.rows[1][2], Estimate)
    assert table.rows[1][2].value == 0.2
    assert table.rows[0][2:] == (None, None, None)
