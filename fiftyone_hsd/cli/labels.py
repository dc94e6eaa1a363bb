"""`hsd labels`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from ..labels import FOLDS, MODEL, in_a_sentence
from ..model import AuditReport, LabelIssues
from ..settings import Settings
from .application import Quiet, app, resumable
from .console import Out, cell, progress
from .inputs import (
    GroupField,
    Groups,
    LabelField,
    Labels,
    Names,
    NearCopies,
    NearThreshold,
    Pattern,
    SplitField,
    TrustSplit,
    Unknown,
    Verdicts,
)
from .summary import STYLES, interval

DEFAULTS = Settings()
SHOWN = 10


@app.command()
def labels(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or FiftyOne dataset (fiftyone:NAME).")
    ],
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    near_copies: NearCopies = DEFAULTS.near_copies,
    near_threshold: NearThreshold = DEFAULTS.near_threshold,
    trust_split: TrustSplit = DEFAULTS.trust_split,
    verdicts: Verdicts = DEFAULTS.verdicts,
    model: Annotated[str, typer.Option(help="Trainer behind the out-of-fold probabilities.")] = MODEL,
    folds: Annotated[int, typer.Option(min=2, help="Folds of one division.")] = FOLDS,
    seeds: Annotated[int, typer.Option(help="Divisions into folds that are averaged.")] = DEFAULTS.seeds,
    descriptor: Annotated[str, typer.Option(help="What the cheap models look at.")] = DEFAULTS.descriptor,
    unknown: Unknown = DEFAULTS.unknown,
    checks: Annotated[
        str, typer.Option(help="Further checks of cleanlab's Datalab, comma-separated, such as outlier,non_iid.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder for label_issues.csv and the report; an audit that is there is kept.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Find labels that are probably wrong, by folds that keep groups whole and by folds that do not."""
    given: dict[str, Any] = dict(locals())
    settings = {k: v for k, v in given.items() if k not in ("path", "out", "quiet", "checks")}
    settings["checks"] = tuple(c.strip() for c in checks.split(",") if c.strip())
    from ..labels import labels as run

    with resumable(out), progress(quiet) as tell:
        report = run(path, out=out, progress=tell, **settings)
    console = Out()
    issues = next(r for r in report.label_results if r.model == model)
    show(console, report, issues)
    if out is None:
        console.say("\nNothing was written; --out DIR keeps the list and the report.")
    else:
        console.say(f"\nlist: {out / 'label_issues.csv'}\nreport: {out / 'report.html'}")


def show(console: Out, report: AuditReport, issues: LabelIssues) -> None:
    """Counts by mechanism, how well the model does, the worst ones, and what was not evaluated."""
    console.say(in_a_sentence(report, issues), "bold")
    for skill in issues.effects:
        if skill.metric == "balanced_accuracy":
            console.say(f"balanced accuracy of {skill.model}, {skill.condition}: {interval(skill, '.3f')}")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("image", "label", "suggested", "mechanism", "likely", "score"):
        table.add_column(name)
    classes = (*report.samples.classes, "")
    rows = np.flatnonzero(issues.flagged)
    rows = rows[np.lexsort((issues.score[rows], ~issues.likely[rows]))]
    for row in rows[:SHOWN].tolist():
        words = (report.samples.ids[row], classes[report.samples.labels[row]], classes[issues.suggested[row]])
        number = "" if np.isnan(issues.score[row]) else f"{issues.score[row]:.3f}"
        table.add_row(
            *(cell(w) for w in (*words, str(issues.mechanism[row]), "yes" if issues.likely[row] else "", number))
        )
    if len(rows):
        kinds, counts = np.unique(issues.mechanism[rows], return_counts=True)
        console.say(", ".join(f"{k}: {c:,}" for k, c in zip(kinds.tolist(), counts.tolist(), strict=True)))
        console.print(table)
    for note in issues.notes:
        console.say(f"{note.level}: ", STYLES[note.level], f"{note.text}{f' [{note.count}]' if note.count else ''}")
    for found in issues.checks:
        if not found.reason:
            console.say(f"Datalab's {found.name}: {int(found.flagged.sum()):,} images")
