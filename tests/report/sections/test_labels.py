from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd.model import AuditReport, Effect, LabCheck, LabelIssues, Note
from fiftyone_hsd.report import write
from fiftyone_hsd.report.blocks import Estimate, Notice, Pictures, Table
from fiftyone_hsd.report.sections.labels import section


@pytest.fixture
def issues(report: AuditReport) -> LabelIssues:
    n = len(report.samples)
    mechanism = np.full(n, "", "<U21")
    mechanism[[0, 1, 2, 7]] = ["cross-class duplicate", "mixed group", "group-wide", "isolated"]
    score = np.linspace(0.9, 0.1, n)
    head = ("out_of_fold_score", "linear_probe", "group folds", None, "", "", "balanced_accuracy")
    skill = Effect(*head, 0.7, 0.6, 0.8, float("nan"), n, "bootstrap over groups")
    return LabelIssues(
        model="linear_probe",
        mechanism=mechanism,
        suggested=np.where(mechanism != "", 1, -1),
        score=score,
        by_group=mechanism == "group-wide",
        by_random=mechanism == "isolated",
        score_group=score,
        score_random=score,
        effects=(skill,),
        checks=(
            LabCheck("outlier", mechanism == "isolated", score),
            LabCheck("dark", np.zeros(n, bool), score, "no picture library"),
        ),
        notes=(Note("not evaluated", "label issues", "random folds: too few", 3),),
        likely=mechanism == "mixed group",
    )


def test_nothing_without_results(report: AuditReport) -> None:
    assert section(report) is None


def test_mechanisms_list_skill_and_checks(report: AuditReport, issues: LabelIssues) -> None:
    found = section(dataclasses.replace(report, label_results=(issues,)))
    assert found is not None
    tables = {b.title.split(",")[0]: b for b in found.blocks if isinstance(b, Table)}
    assert [r[:5] for r in tables["Mechanisms"].rows] == [
        ("cross-class duplicate", 1, 0, 0, 0),
        ("mixed group", 1, 1, 0, 0),
        ("group-wide", 1, 0, 1, 0),
        ("isolated", 1, 0, 0, 1),
    ]
    worst = tables["The least believed labels"].rows
    assert [r[0] for r in worst] == [report.samples.ids[i] for i in (1, 7, 2, 0)]
    assert isinstance(tables["How far the model can be trusted"].rows[0][2], Estimate)
    checks = tables["Further checks of cleanlab's Datalab"].rows
    assert checks == (("outlier", 1, "evaluated"), ("dark", None, "not evaluated: no picture library"))
    assert any(isinstance(b, Notice) and b.level == "not evaluated" for b in found.blocks)
    pictures = next(b for b in found.blocks if isinstance(b, Pictures))
    assert len(pictures.rows) == 4
    assert "1 of 58" in found.lead
    assert "4 are suspected" in found.lead


def test_hostile_text_stays_text_and_the_list_is_whole(
    report: AuditReport, issues: LabelIssues, tmp_path, nasty: str
) -> None:
    whole = dataclasses.replace(report, label_results=(issues,))
    write(whole, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert nasty not in page
    lines = (tmp_path / "out" / "label_issues.csv").read_bytes()
    assert lines.count(b"linear_probe,") == int((report.samples.labels >= 0).sum())
    write(report, tmp_path / "out")
    assert not (tmp_path / "out" / "label_issues.csv").exists()
