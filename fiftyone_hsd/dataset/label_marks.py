"""What label errors leave on the samples of a dataset, as plain values. Needs no fiftyone."""

from __future__ import annotations

import re

import numpy as np

from ..model import AuditReport
from .marks import TAG, VIEW, Column, Marks, Tagging, ViewPlan

FIELD = "hsd_label_issue"


def label_marks(report: AuditReport) -> Marks:
    """Fields, tags and saved views of the newest label results of a report.

    `hsd_label_issue` = mechanism, `hsd_label_suggested` = class to look at instead, `hsd_label_score` = belief in the
    label; tags `hsd:label-issue`, `hsd:label-issue:likely`, `hsd:label-issue:MECHANISM`; views `hsd-label-issues`,
    `hsd-label-likely` and one a mechanism.
    """
    issues = report.label_results[-1]
    names = (*report.samples.classes, None)
    flagged = issues.flagged
    suggested = [names[s] if f else None for s, f in zip(issues.suggested.tolist(), flagged.tolist(), strict=True)]
    by = f"out of fold by {issues.model}"
    columns = (
        Column(
            FIELD,
            "str",
            f"Why the label may be wrong; empty: no issue, {by}",
            [m or None for m in issues.mechanism.tolist()],
        ),
        Column("hsd_label_suggested", "str", f"Class to look at instead, {by}", suggested),
        Column(
            "hsd_label_score",
            "float",
            f"Belief in the given label, small = probably wrong, {by}",
            [None if s != s else s for s in issues.score.tolist()],
        ),
    )
    tags, views = [], []
    if flagged.any():
        every = f"{TAG}label-issue"
        tags.append(Tagging(every, np.flatnonzero(flagged).astype(np.int64)))
        views.append(ViewPlan(f"{VIEW}label-issues", f"{int(flagged.sum())} labels that may be wrong", (every,)))
    if issues.likely.any():
        tag = f"{TAG}label-issue:likely"
        tags.append(Tagging(tag, np.flatnonzero(issues.likely).astype(np.int64)))
        words = f"{int(issues.likely.sum())} labels that are likely to be wrong"
        views.append(ViewPlan(f"{VIEW}label-likely", words, (tag,)))
    for mechanism in np.unique(issues.mechanism[flagged]).tolist():
        rows = np.flatnonzero(issues.mechanism == mechanism).astype(np.int64)
        word = re.sub(r"[^a-z]+", "-", mechanism)
        tags.append(Tagging(f"{TAG}label-issue:{word}", rows))
        views.append(ViewPlan(f"{VIEW}label-{word}", f"{len(rows)} labels: {mechanism}", (f"{TAG}label-issue:{word}",)))
    return Marks(report.samples.ids, columns, tuple(tags), tuple(views))
