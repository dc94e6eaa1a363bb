from __future__ import annotations

import dataclasses

from fiftyone_hsd.matched_swap import COVERAGE, DOSE, EFFECT, ESTIMAND, FIRST
from fiftyone_hsd.model import AuditReport, Effect, Note
from fiftyone_hsd.report.blocks import Estimate, Facts, Notice, Table, Text
from fiftyone_hsd.report.sections.matched import section

NAN = float("nan")


def effect(what: str, value: float, n: int, model: str = "linear_probe", low: float = NAN, high: float = NAN) -> Effect:
    return Effect(what, model, FIRST, 0, "test", "", "accuracy", value, low, high, NAN, n, ESTIMAND)


def test_nothing_without_a_swap_and_a_refusal_in_words(report: AuditReport) -> None:
    assert section(report) is None
    note = Note("not evaluated", "matched swap", "matched swap: no two groups can be paired")
    found = section(dataclasses.replace(report, notes=(*report.notes, note)))
    assert found is not None
    assert found.blocks == (Notice("not evaluated", "matched swap", note.text),)


def test_the_effect_stands_beside_the_naive_difference_with_its_overlap(report: AuditReport) -> None:
    more = (
        effect(EFFECT, 0.05, 12, low=-0.01, high=0.11),
        effect(COVERAGE, 0.4, 60, model=""),
        effect(DOSE, 3.0, 24, model=""),
        dataclasses.replace(effect("naive_exposed_minus_unexposed", 0.2, 30), condition="random"),
        dataclasses.replace(effect("exposure_overlap", 0.125, 30), condition="random"),
    )
    found = section(dataclasses.replace(report, effects=(*report.effects, *more)))
    assert found is not None
    assert "covers 0" in found.lead
    assert "12 pairs" in found.lead
    (table,) = [b for b in found.blocks if isinstance(b, Table)]
    assert table.rows == (("linear probe", Estimate(0.05, -0.01, 0.11, 12), 0.2, 0.125, None),)
    assert any(
        "unrelated files" in b.text and "not the inflation" in b.text for b in found.blocks if isinstance(b, Text)
    )
    (facts,) = [b for b in found.blocks if isinstance(b, Facts)]
    assert [f.value for f in facts.rows] == [0.4, 3.0]
