from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.model import AuditReport, SplitPlan
from fiftyone_hsd.report.blocks import Estimate, Figure, Notice, Table
from fiftyone_hsd.report.sections.ladder import section


def curve(report: AuditReport) -> Figure:
    return next(b for b in section(report).blocks if isinstance(b, Figure) and b.title.startswith("Score"))


def test_the_curve_stands_at_achieved_exposure(report: AuditReport) -> None:
    trace = curve(report).data[0]
    assert trace["text"] == ["intact", "q25", "q50", "q75", "random"]
    assert trace["y"] == pytest.approx([0.5, 0.58, 0.66, 0.74, 0.82])
    assert trace["error_y"]["array"] == pytest.approx([0.05] * 5)
    for condition, x in zip(trace["text"], trace["x"], strict=True):
        rates = []
        for plan, exposure in zip(report.plans, report.exposures, strict=True):
            if plan.condition == condition:
                test = plan.partition == "test"
                rates.append(exposure.exposed[test].sum() / test.sum())
        assert x == pytest.approx(np.mean(rates))
    assert trace["x"][0] == 0


def test_the_published_split_is_a_point_of_its_own(report: AuditReport) -> None:
    point = curve(report).data[1]
    assert (point["x"], point["y"], point["text"]) == ([1.0], [pytest.approx(0.9)], ["as published"])


def test_without_mates_the_conditions_stand_side_by_side(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    figure = curve(case(tmp_path, grouped=False))
    assert figure.data[0]["x"] == [0, 1, 2, 3, 4]
    assert figure.layout["xaxis"]["ticktext"] == ["intact", "q25", "q50", "q75", "random"]
    assert "no mates" in figure.caption


def test_the_lead_has_scores_inflation_and_interval(report: AuditReport) -> None:
    assert "linear probe 0.500 intact, 0.820 random: +0.320 [+0.270, +0.370]" in section(report).lead
    assert "over 2 seeds" in section(report).lead


def test_an_interval_over_zero_is_said(report: AuditReport) -> None:
    effects = [
        dataclasses.replace(e, estimate=0.01, low=-0.04, high=0.06) if e.what == "inflation" else e
        for e in report.effects
    ]
    assert "covers 0" in section(dataclasses.replace(report, effects=tuple(effects))).lead


def test_the_shuffle_is_the_endpoint_where_there_is_one(report: AuditReport) -> None:
    last, exposure = report.plans[-1], report.exposures[-1]
    plan = SplitPlan.of("shuffle", 0, last.partition, report.samples.ids)
    more = [
        dataclasses.replace(e, condition="shuffle", estimate=0.4) for e in report.effects if e.condition == "random"
    ]
    longer = dataclasses.replace(
        report,
        plans=(*report.plans, plan),
        exposures=(*report.exposures, dataclasses.replace(exposure, condition="shuffle", seed=0)),
        effects=(*report.effects, *more),
    )
    assert "0.400 shuffle" in section(longer).lead
    gains = next(b for b in section(longer).blocks if isinstance(b, Figure) and b.title.startswith("Recall"))
    assert "shuffle minus intact" in gains.title


def test_gains_keep_classes_that_are_not_estimable_out_of_the_figure(report: AuditReport, nasty: str) -> None:
    figure = next(b for b in section(report).blocks if isinstance(b, Figure) and b.title.startswith("Recall"))
    assert figure.data[0]["x"] == [0.3, 0.1]
    assert "1 class is not estimable" in figure.caption
    assert figure.rows is not None
    assert [r[0] for r in figure.rows.rows][-1] == nasty


def test_each_condition_has_score_and_paired_inflation(report: AuditReport) -> None:
    table = next(b for b in section(report).blocks if isinstance(b, Table) and b.title.startswith("Balanced"))
    rows = {r[0]: r for r in table.rows}
    assert list(rows) == ["intact", "q25", "q50", "q75", "random", "split as published"]
    random = rows["random"]
    assert isinstance(random[1], Estimate)
    assert isinstance(random[2], Estimate)
    assert (random[1].value, random[1].n) == (pytest.approx(0.82), 60)
    assert (random[2].value, random[2].low) == (pytest.approx(0.32), pytest.approx(0.27))
    assert rows["intact"][2] is None
    assert table.notes == ("group bootstrap",)


def test_no_models_is_said(report: AuditReport) -> None:
    found = section(dataclasses.replace(report, effects=(), runs=()))
    assert "No model was trained" in found.lead
    assert any(isinstance(b, Table) and b.title == "Conditions" for b in found.blocks)


def test_without_labels_the_reason_stands_there(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    (block,) = section(case(tmp_path, labelled=False)).blocks
    assert isinstance(block, Notice)
    assert "no labels" in block.text


def test_without_a_published_split_the_exposed_images_of_random_are_shown(
    case: Callable[..., AuditReport], tmp_path: Path
) -> None:
    titles = [getattr(b, "title", "") for b in section(case(tmp_path, split=False)).blocks]
    assert "The most exposed test images" in titles
