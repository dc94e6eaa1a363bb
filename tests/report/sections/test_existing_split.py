from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fiftyone_hsd.model import AuditReport, Exposure, SplitPlan
from fiftyone_hsd.report.blocks import Facts, Figure, Notice, Pictures, Table
from fiftyone_hsd.report.sections.existing_split import section


def with_split(report: AuditReport, partition: np.ndarray, exposed: np.ndarray, mates: np.ndarray) -> AuditReport:
    plan = SplitPlan.of("existing", 0, partition, report.samples.ids)
    evaluated = ~np.isin(partition, ["train", "unused"])
    none = np.full(len(partition), -1)
    exposure = Exposure("existing", 0, exposed & evaluated, mates, none, np.full(len(partition), np.nan), evaluated)
    return dataclasses.replace(report, plans=(plan,), exposures=(exposure,))


def test_counts_of_a_leaking_split(report: AuditReport) -> None:
    found = section(report)
    assert found.lead == (
        "20 of 20 (100.0 %) groups of two or more images cross it, and 20 of 20 (100.0 %) test images have a mate in "
        "train."
    )
    table = next(b for b in found.blocks if isinstance(b, Table) and b.title == "Partitions")
    assert table.rows == (("train", 40, 20, None, None, None), ("test", 20, 20, 20, 1.0, 2.0))
    assert "Groups crossing" in [f.label for b in found.blocks if isinstance(b, Facts) for f in b.rows]


def test_a_clean_looking_split_is_not_called_clean(report: AuditReport) -> None:
    partition = np.where(report.grouping.codes < 15, "train", "test")
    zero = np.zeros(60, int)
    found = section(with_split(report, partition, zero > 0, zero))
    assert found.lead == "No known group crosses it: none of 15 test images has a known mate in train."
    assert not any(isinstance(b, Pictures) for b in found.blocks)


def test_exposure_per_class_counts_labelled_test_images(report: AuditReport) -> None:
    codes, labels = report.grouping.codes, report.samples.labels
    partition = np.where(np.arange(60) % 3 == 2, "test", "train")
    exposed = (codes % 2 == 0) & (partition == "test")
    found = section(with_split(report, partition, exposed, exposed.astype(int)))
    figure = next(b for b in found.blocks if isinstance(b, Figure))
    assert figure.rows is not None
    for name, n, k, rate in figure.rows.rows:
        mine = (partition == "test") & (labels == report.samples.classes.index(str(name)))
        assert (n, k) == (int(mine.sum()), int((mine & exposed).sum()))
        assert rate == exposed[mine].mean()
    assert sum(int(r[1]) for r in figure.rows.rows) == int(((partition == "test") & (labels >= 0)).sum())  # type: ignore[arg-type]


def test_any_fold_name_can_be_read(report: AuditReport) -> None:
    partition = np.array(["train", "fold 2", "unused"] * 20)
    exposed = partition == "fold 2"
    found = section(with_split(report, partition, exposed, exposed.astype(int)))
    assert "fold 2 images have a mate in train" in found.lead
    # One image of each group is unused: the group still lies in train and in the fold.
    assert found.lead.startswith("20 of 20")


def test_no_split_gives_the_reason(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    (block,) = section(case(tmp_path, split=False)).blocks
    assert isinstance(block, Notice)
    assert block.level == "not evaluated"
