from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from fiftyone_hsd.model import AuditReport, ControlResult, ControlSheet, Note
from fiftyone_hsd.report import write
from fiftyone_hsd.report.blocks import Estimate, Notice, Pictures, Table
from fiftyone_hsd.report.sections.controls import section


def test_nothing_without_results(report: AuditReport) -> None:
    assert section(report) is None


def test_each_control_is_a_table_with_chance(report: AuditReport) -> None:
    score = next(e for e in report.effects if e.what == "score" and e.condition == "random")
    results = (ControlResult("border", "8 px", 0.33, score), ControlResult("constant", "grey", 0.33, score))
    found = section(dataclasses.replace(report, control_results=results))
    assert found is not None
    tables = [b for b in found.blocks if isinstance(b, Table)]
    assert [b.title for b in tables] == ["The 2x2 of every control", "border", "constant"]
    (row,) = tables[1].rows
    assert isinstance(row[5], Estimate)
    assert row[6] == 0.33


def with_control(report: AuditReport) -> AuditReport:
    """A control `crop` that was read by one model, with its sheet and runs."""
    how = {"metric": "balanced_accuracy", "class_name": "", "condition": "intact", "seed": None}
    score = dataclasses.replace(next(e for e in report.effects if e.what == "score"), p=0.01, estimate=0.7, **how)
    change = dataclasses.replace(score, what="fingerprint", condition="random", estimate=0.11)
    random = dataclasses.replace(score, condition="random", estimate=0.81, p=float("nan"))
    run = next(r for r in report.runs if r.condition == "intact")
    options = (("control", "crop"), ("variant", "20x20"))
    run = dataclasses.replace(run, config=dataclasses.replace(run.config, options=options))
    pictures = np.full((2, 9, 9, 3), 90, np.uint8)
    sheet = ControlSheet("crop", "20x20", np.array([1, 4]), pictures, ("not blank: edges 9%", ""), "What is left.")
    return dataclasses.replace(
        report,
        control_results=tuple(ControlResult("crop", "20x20", 0.33, e) for e in (score, random, change)),
        control_runs=(run,),
        control_sheets=(sheet,),
        notes=(*report.notes, Note("warning", "control: crop", "classes differ in acquisition")),
    )


def test_the_two_by_two_the_reading_the_sheet_and_who_is_taken_for_whom(report: AuditReport) -> None:
    full = with_control(report)
    found = section(full)
    assert found is not None
    two, notice, sheet, confusion, scores = found.blocks
    assert isinstance(two, Table)
    (row,) = two.rows
    assert [round(v.value, 2) for v in row if isinstance(v, Estimate)] == [0.7, 0.81, 0.11]
    assert isinstance(notice, Notice)
    assert notice.text == "classes differ in acquisition"
    assert isinstance(sheet, Pictures)
    first, second = sheet.rows[0].pictures
    assert (first.name, first.lines, second.lines) == (report.samples.ids[1], ("not blank: edges 9%",), ())
    assert first.uri.startswith("data:image/jpeg;base64,")
    assert isinstance(confusion, Table)
    run = full.control_runs[0]
    expected = np.zeros((3, 3), int)
    for truth, guess in zip(report.samples.labels[run.rows], run.predicted, strict=True):
        expected[truth, guess] += 1
    shares = expected / np.maximum(1, expected.sum(1, keepdims=True))
    assert [r[1] for r in confusion.rows] == expected.sum(1).tolist()
    assert [list(r[2:]) for r in confusion.rows] == shares.tolist()
    assert isinstance(scores, Table)


def test_the_page_shows_made_pictures_only_if_pictures_are_asked_for(report: AuditReport, tmp_path: Path) -> None:
    for asked in (True, False):
        page = write(with_control(report), tmp_path / str(asked), pictures=asked).read_text("utf-8")
        uri = section(with_control(report)).blocks[2].rows[0].pictures[0].uri  # type: ignore[union-attr]
        assert (uri in page) == asked
    assert uri not in (tmp_path / "True" / "report.json").read_text()
