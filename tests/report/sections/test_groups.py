from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fiftyone_hsd.model import AuditReport, Grouping, Links
from fiftyone_hsd.report.blocks import Figure, Pictures, Section, Table
from fiftyone_hsd.report.sections.groups import section


def pictures(found: Section, title: str) -> Pictures | None:
    return next((b for b in found.blocks if isinstance(b, Pictures) and b.title == title), None)


def test_sizes_add_up_to_all_images(report: AuditReport) -> None:
    codes = np.r_[np.zeros(31), np.ones(11), np.repeat(np.arange(2, 8), 2), np.arange(8, 14)].astype(int)
    mixed = dataclasses.replace(report, grouping=Grouping(codes, Links.of([], [], "")))
    figure = next(b for b in section(mixed).blocks if isinstance(b, Figure))
    assert figure.rows is not None
    assert [r for r in figure.rows.rows if r[1]] == [("1", 6, 6), ("2", 6, 12), ("10–19", 1, 11), ("20–31", 1, 31)]
    assert sum(figure.data[0]["y"]) == 60


def test_rules_count_links_and_images(report: AuditReport, nasty: str) -> None:
    table = next(b for b in section(report).blocks if isinstance(b, Table) and b.title == "Rules and evidence")
    rows = {str(r[0]): r[1:] for r in table.rows}
    assert rows["name"] == (f"the text before {nasty}", 40, 60, 0.9, 0)
    assert rows["bytes"] == ("byte-identical files", 2, 4, 1.0, 0)
    assert rows["similarity"][1] == 0
    assert rows["similarity"][-1] == 1


def test_largest_first_and_the_rest_is_counted(report: AuditReport) -> None:
    codes = np.r_[np.arange(20), np.full(30, 20), np.full(10, 21)]
    big = dataclasses.replace(report, grouping=Grouping(codes, Links.of([], [], "")))
    found = pictures(section(big), "The largest groups")
    assert found is not None
    assert [len(r.pictures) + r.more for r in found.rows] == [30, 10]
    assert found.rows[0].pictures[0].path == report.samples.paths[20]


def test_groups_across_classes_show_each_class_first(report: AuditReport) -> None:
    assert pictures(section(report), "Groups across classes") is None  # a class is a function of the group here
    labels = report.samples.labels.copy()
    labels[[1, 4]] = (labels[[1, 4]] + 1) % 3
    mixed = dataclasses.replace(report, samples=dataclasses.replace(report.samples, labels=labels))
    found = pictures(section(mixed), "Groups across classes")
    assert found is not None
    assert len(found.rows) == 2
    assert found.caption.startswith("2 groups with 6 images")
    assert {p.path for p in found.rows[0].pictures[:2]} <= {report.samples.paths[i] for i in (0, 1, 2)}
    assert found.rows[0].pictures[0].tag != found.rows[0].pictures[1].tag


def test_copies_that_disagree_come_first(report: AuditReport) -> None:
    found = pictures(section(report), "Exact copies")
    assert found is not None
    assert "2 sets of identical pictures (4 images)" in found.caption
    # Rows 2 and 3 are the same file, in different classes and partitions; 0 and 1 agree in both.
    assert found.rows[0].detail == "different labels and in different partitions"
    assert [p.path for p in found.rows[0].pictures] == [report.samples.paths[i] for i in (2, 3)]
    assert found.rows[1].detail == ""


def test_weakest_links_are_shown_once_a_group(report: AuditReport) -> None:
    found = pictures(section(report), "Weakest links")
    assert found is not None
    assert all(r.title == "Confidence 0.90" and len(r.pictures) == 2 for r in found.rows)


def test_no_groups_is_no_dependence_detectable(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    found = section(case(tmp_path, grouped=False))
    assert "no dependence detectable" in found.lead
    assert not any(isinstance(b, (Pictures, Figure)) for b in found.blocks)
