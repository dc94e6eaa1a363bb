"""Label errors seen through groups. Only when they were asked for."""

from __future__ import annotations

import numpy as np

from ...model import AuditReport, LabelIssues
from .. import lookup
from ..blocks import Block, Cell, Column, Estimate, Picture, PictureRow, Pictures, Section, Table, Text
from ..wording import many, part, short

MOST_ROWS = 100
MOST_PICTURES = 7
MEANINGS = {
    "cross-class duplicate": "The same bytes or pixels stand under several labels: at least one of them is wrong.",
    "mixed group": "Suspected, and no more than half of the group's images have this label.",
    "group-wide": "Folds without mates speak against at least half of the group's images with this label.",
    "isolated": "Any other suspected error.",
}


def section(report: AuditReport) -> Section | None:
    """One part a model: mechanisms, how far the model can be trusted, the list."""
    if not report.label_results:
        return None
    blocks: list[Block] = []
    leads = []
    labelled = int((report.samples.labels >= 0).sum())
    for issues in report.label_results:
        likely = part(int(issues.likely.sum()), labelled)
        leads.append(
            f"By {lookup.model_name(issues.model)} {likely} labels are likely to be wrong; "
            f"{int(issues.flagged.sum()):,} are suspected; what is suspected only may be the model's own error."
        )
        blocks += [*lookup.notices(issues.notes), _mechanisms(issues), *_skill(issues), *_worst(report, issues)]
        blocks += [*_pictures(report, issues), *_checks(issues)]
    return Section("labels", "Labels that may be wrong", 55, " ".join(leads), tuple(blocks))


def _mechanisms(issues: LabelIssues) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, meaning in MEANINGS.items():
        mine = issues.mechanism == name
        kinds = (issues.likely, issues.by_group, issues.by_random)
        both = (int(mine.sum()), *(int((mine & k).sum()) for k in kinds))
        rows.append((name, *both, meaning))
    columns = (
        Column("mechanism"),
        Column("images", "count"),
        Column(
            "likely", "count", "of the images up to there, at least half would be wrong if 3.3 % of all labels were"
        ),
        Column("group folds", "count", "called an error where no mate of the image was in train"),
        Column("random folds", "count", "called an error where its mates could be in train"),
        Column("what it is"),
    )
    return Table(f"Mechanisms, {lookup.model_name(issues.model)}", columns, tuple(rows), file="label_issues.csv")


def _skill(issues: LabelIssues) -> list[Block]:
    if not issues.effects:
        return []
    rows = tuple(
        (e.condition, e.metric.replace("_", " "), Estimate(e.estimate, e.low, e.high, e.n), e.method)
        for e in issues.effects
    )
    columns = (
        Column("folds"),
        Column("metric"),
        Column("score", "score", "against the given labels"),
        Column("method"),
    )
    asked = ", ".join(f"{k} {v}" for k, v in issues.options.items())
    words = (f"{asked}. " if asked else "") + (
        "A suspicion is as good as the model behind it: what it gets wrong with confidence is called an error too, "
        "also where all labels are right. Of the likely errors at least half would be wrong if 3.3 % of all "
        "labels were (the mean over ten benchmarks). They come first, then what is only suspected, by belief."
    )
    return [Table("How far the model can be trusted", columns, rows), Text(words, "meaning")]


def _order(issues: LabelIssues) -> list[int]:
    rows = np.flatnonzero(issues.flagged)
    return [int(r) for r in rows[np.lexsort((issues.score[rows], ~issues.likely[rows]))]]


def _name(report: AuditReport, code: int) -> str:
    return report.samples.classes[code] if code >= 0 else ""


def _worst(report: AuditReport, issues: LabelIssues) -> list[Block]:
    order = _order(issues)
    if not order:
        return []
    rows = tuple(
        (
            report.samples.ids[r],
            lookup.label_of(report, r),
            _name(report, int(issues.suggested[r])),
            str(issues.mechanism[r]),
            bool(issues.likely[r]),
            float(issues.score[r]),
            float(issues.score_group[r]),
            float(issues.score_random[r]),
        )
        for r in order[:MOST_ROWS]
    )
    columns = (
        Column("image", "path"),
        Column("label"),
        Column("suggested", "text", "empty: the model agrees with the label"),
        Column("mechanism"),
        Column("likely", "flag"),
        Column("belief", "score", "geometric mean over both kinds of folds, of the image and its mates of one label"),
        Column("group folds", "score", "probability of the given label"),
        Column("random folds", "score", "probability of the given label"),
    )
    total = len(order) if len(order) > MOST_ROWS else 0
    title = f"The least believed labels, {lookup.model_name(issues.model)}"
    return [Table(title, columns, rows, total, "label_issues.csv", folded=len(order) > 20)]


def _pictures(report: AuditReport, issues: LabelIssues) -> list[Block]:
    order = _order(issues)
    shown = []
    for name in MEANINGS:
        rows = [r for r in order if issues.mechanism[r] == name]
        pictures = []
        for r in rows[:MOST_PICTURES]:
            suggested = _name(report, int(issues.suggested[r]))
            lines = (f"rather {short(suggested, 24)}?",) if suggested else ()
            tag = short(lookup.label_of(report, r), 24)
            pictures.append(Picture(report.samples.paths[r], report.samples.ids[r], lines, tag=tag))
        if pictures:
            more = max(0, len(rows) - MOST_PICTURES)
            shown.append(PictureRow(f"{name}: {many(len(rows), 'image')}", "", tuple(pictures), more=more))
    return [Pictures("The least believed labels of each mechanism", tuple(shown))] if shown else []


def _checks(issues: LabelIssues) -> list[Block]:
    if not issues.checks:
        return []
    rows = tuple(
        (c.name, None if c.reason else int(c.flagged.sum()), f"not evaluated: {c.reason}" if c.reason else "evaluated")
        for c in issues.checks
    )
    columns = (Column("check"), Column("images", "count"), Column("status"))
    return [Table("Further checks of cleanlab's Datalab", columns, rows)]
