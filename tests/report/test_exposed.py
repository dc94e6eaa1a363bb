from __future__ import annotations

import dataclasses

import numpy as np

from fiftyone_hsd.model import AuditReport, Exposure
from fiftyone_hsd.report.blocks import Pictures
from fiftyone_hsd.report.exposed import exposed_pictures, similar_pictures


def nearest(report: AuditReport, row: int, mate: int, similarity: float) -> Exposure:
    """The exposure of the existing split in which one test row has a nearest train sample."""
    e = report.exposures[0]
    index, value = np.full(len(e.exposed), -1), np.full(len(e.exposed), np.nan)
    index[row], value[row] = mate, similarity
    return dataclasses.replace(e, nearest_train=index, nearest_similarity=value)


def test_most_similar_first_beside_its_own_train_mates(report: AuditReport) -> None:
    # Rows 27, 28 (train) and 29 (test) are one group.
    plan, exposure = report.plans[0], nearest(report, 29, 28, 0.987)
    (block,) = exposed_pictures(report, plan, exposure)
    assert isinstance(block, Pictures)
    first = block.rows[0]
    assert [p.path for p in first.pictures] == [report.samples.paths[i] for i in (29, 28, 27)]
    assert [p.strong for p in first.pictures] == [True, False, False]
    assert first.pictures[1].lines[0] == "similarity 0.9870"
    assert first.detail == "2 mates in train"
    codes = {report.samples.paths[i]: c for i, c in enumerate(report.grouping.codes.tolist())}
    for row in block.rows:
        assert len({codes[p.path] for p in row.pictures}) == 1
        assert all(plan.partition[report.samples.paths.index(p.path)] == "train" for p in row.pictures[1:])


def test_a_similar_stranger_is_no_mate(report: AuditReport) -> None:
    (block,) = exposed_pictures(report, report.plans[0], nearest(report, 29, 0, 0.999))
    assert isinstance(block, Pictures)
    assert all("similarity" not in line for row in block.rows for p in row.pictures for line in p.lines)


def test_evidence_of_a_pair_without_a_link_is_the_chain(report: AuditReport, nasty: str) -> None:
    (block,) = exposed_pictures(report, report.plans[0], report.exposures[0])
    assert isinstance(block, Pictures)
    rows = {p.path: p for row in block.rows for p in row.pictures}
    # Rows 4 and 5 are linked through row 3, the first of their group.
    assert rows[report.samples.paths[4]].lines[-1] == f"name: the text before {nasty} (0.90)"


def test_unexposed_images_that_look_like_train(report: AuditReport) -> None:
    plan, e = report.plans[0], nearest(report, 29, 0, 0.95)
    assert similar_pictures(report, plan, e) == []  # all are exposed
    alone = dataclasses.replace(e, exposed=np.zeros(60, bool))
    (block,) = similar_pictures(report, plan, alone)
    assert isinstance(block, Pictures)
    assert [p.path for p in block.rows[0].pictures] == [report.samples.paths[29], report.samples.paths[0]]
    assert block.rows[0].detail == "similarity 0.9500"
