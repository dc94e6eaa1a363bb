from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.blocks import Facts, Figure, Notice, Table
from fiftyone_hsd.report.sections.reading import _repeats, section


def test_counts(report: AuditReport) -> None:
    found = section(report)
    assert "62 images" in found.lead
    assert "60 could be used, 2 could not" in found.lead
    facts = {f.label: f for f in next(b for b in found.blocks if isinstance(b, Facts)).rows}
    assert facts["Labelled images"].value == 58
    assert facts["Split as published"].meaning == "partitions: test 20, train 40."
    assert facts["Image size, median"].value == "40 × 30"
    assert (facts["Byte-identical files"].value, facts["Byte-identical files"].meaning[-10:]) == (2, "in 2 sets.")


def test_classes_are_counted_in_images_and_groups(report: AuditReport) -> None:
    figure = next(b for b in section(report).blocks if isinstance(b, Figure))
    assert figure.rows is not None
    # 20 groups of 3 dealt to 3 classes in turn; the last two images have no label.
    assert [(r[0], r[1], r[3]) for r in figure.rows.rows][:1] == [("plain", 21, 7)]
    assert sum(int(r[1]) for r in figure.rows.rows) == 58  # type: ignore[arg-type]
    assert figure.data[1]["x"] == [r[1] for r in figure.rows.rows]


def test_failures_and_notes_are_listed(report: AuditReport) -> None:
    blocks = section(report).blocks
    table = next(b for b in blocks if isinstance(b, Table) and "could not be used" in b.title)
    assert table.rows[0] == ("broken </script>.png", "truncated, 3 of 5 bytes")
    assert any(isinstance(b, Notice) and b.count == 4 for b in blocks)


def test_without_labels_no_class_is_shown(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    assert not any(isinstance(b, Figure) for b in section(case(tmp_path, labelled=False)).blocks)


def test_repeats() -> None:
    assert _repeats(("a", "b", "a", "a", "", "", "b", "c")) == (3, 2)
    assert _repeats(()) == (0, 0)
