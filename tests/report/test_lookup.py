from __future__ import annotations

import dataclasses

import numpy as np

from fiftyone_hsd.model import AuditReport, Grouping, Links, Note, SplitPlan
from fiftyone_hsd.report import lookup
from fiftyone_hsd.report.lookup import Evidence, crossing, notices, pairs_of, readout


def test_crossing_leaves_unused_images_and_single_ones_out() -> None:
    plan = SplitPlan.of("x", 0, ["train", "test", "train", "unused", "val", "train", "test", "test"])
    found = crossing(plan, np.array([0, 0, 1, 1, 2, 3, 3, 3]))
    # Groups 1 and 2 have one used image; 0 and 3 cross.
    assert (found.groups, found.of_groups, found.images, found.of_images) == (2, 2, 5, 5)


def test_readout_prefers_test() -> None:
    assert readout(SplitPlan.of("x", 0, ["train", "val", "val", "test"])) == "test"
    assert readout(SplitPlan.of("x", 0, ["train", "a", "b", "b"])) == "b"
    assert readout(SplitPlan.of("x", 0, ["train", "unused", "sentinel"])) == ""


def test_pairs_of() -> None:
    a, b = pairs_of(np.array([1, 0, 1, 1]), np.array([5, 0, 5, 2]))
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 0), (1, 2), (1, 5)]


def test_evidence_prefers_the_direct_link_and_follows_chains(report: AuditReport) -> None:
    links = Links.concat(
        [
            Links.of([0, 1], [1, 2], "name", ["rule a", "rule b"], [1.0, 0.5]),
            Links.of([0], [1], "bytes", "same bytes"),
            dataclasses.replace(Links.of([0], [2], "similarity", "no"), accepted=np.array([False])),
        ]
    )
    codes = np.r_[0, 0, 0, 0, np.arange(1, 57)]
    evidence = Evidence(dataclasses.replace(report, grouping=Grouping(codes, links)))
    assert evidence.between(1, 0) == "name: rule a; bytes: same bytes"
    assert evidence.between(2, 0) == "name: rule a; name: rule b (0.50)"
    assert evidence.between(0, 3) == "same group"
    assert evidence.summary(0) == ("bytes+name", 0.5)


def test_notes_that_differ_in_numbers_only_become_one() -> None:
    notes = [Note("warning", "t", f"leak is 0.8{k}", k) for k in range(3)]
    notes += [Note("warning", "t", "class a has 3 groups"), Note("info", "t", "leak is 0.81")]
    found = notices([*notes, notes[0]], "warning")
    assert [n.text for n in found] == ["leak is 0.80 (and 2 more like it, with other numbers)", "class a has 3 groups"]


def test_pooled_estimates_come_before_single_seeds(report: AuditReport) -> None:
    pooled = next(e for e in report.effects if e.what == "score")
    single = dataclasses.replace(pooled, seed=0, estimate=0.1)
    found = lookup.estimate([single, pooled])
    assert found is not None
    assert found.value == pooled.estimate
    assert lookup.estimate([]) is None
