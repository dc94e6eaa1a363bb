"""A part of an audit keeps the groups and links of its samples and nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd import audit
from fiftyone_hsd.drawn import PATTERN
from fiftyone_hsd.errors import EmptyError, StaleError
from fiftyone_hsd.narrowing import narrowed


@pytest.fixture(scope="module")
def report(small_corpus):
    return audit(small_corpus / "images", pattern=PATTERN, seeds=1, models=("nearest_neighbour",))


def test_groups_links_and_scan_follow_their_samples(report):
    rows = np.random.default_rng(0).permutation(len(report.samples))[: len(report.samples) // 2]
    part = narrowed(report, report.samples.take(rows), {"verb": "labels"})
    codes = report.grouping.codes[rows]
    assert ((part.grouping.codes[:, None] == part.grouping.codes) == (codes[:, None] == codes)).all()
    assert part.scan.content == tuple(report.scan.content[r] for r in rows)
    ids = report.samples.ids
    links = report.grouping.links
    there = {ids[r] for r in rows}
    wanted = {frozenset((ids[a], ids[b])) for a, b in zip(links.a, links.b, strict=True)}
    inside = {pair for pair in wanted if pair <= there}
    own = part.grouping.links
    assert {frozenset((part.samples.ids[a], part.samples.ids[b])) for a, b in zip(own.a, own.b, strict=True)} == inside
    assert inside
    assert (part.runs, part.effects, part.verdict, part.settings) == ((), (), "", {"verb": "labels"})
    assert [p.condition for p in part.plans] == ["existing"]
    assert part.exposures[0].exposed.any()


def test_other_labels_and_columns_are_taken_as_they_are(report):
    samples = report.samples
    other = dataclasses.replace(
        samples, labels=np.zeros(len(samples)), metadata={"box": np.full(len(samples), "0,0,1,1")}
    )
    part = narrowed(report, other)
    assert part.samples.labels.max() == 0
    assert part.samples.column("box")[0] == "0,0,1,1"


def test_samples_of_nobody_and_failures(report):
    samples = report.samples
    with pytest.raises(StaleError, match="1 images were added since the audit"):
        narrowed(report, dataclasses.replace(samples, ids=("new", *samples.ids[1:])))
    failed = dataclasses.replace(samples.take([0]), ids=("broken",))
    broken = dataclasses.replace(report, failures=(("broken", "/x.jpg", "no picture"),))
    with pytest.raises(EmptyError, match="none of these"):
        narrowed(broken, failed)
    both = dataclasses.replace(samples.take([0, 1]), ids=("broken", samples.ids[1]))
    part = narrowed(broken, both)
    assert part.samples.ids == (samples.ids[1],)
    assert [f[0] for f in part.failures] == ["broken"]
