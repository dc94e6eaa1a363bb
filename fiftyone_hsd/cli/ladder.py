"""`hsd ladder`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from ..model import AuditReport
from ..settings import Settings
from .application import Quiet, app, parse_fractions, resumable
from .console import Out, cell, progress
from .inputs import (
    READING,
    CorpusOrAudit,
    GroupField,
    Groups,
    LabelField,
    Labels,
    Names,
    Pattern,
    SplitField,
    Unknown,
)
from .summary import STYLES

DEFAULTS = Settings()


@app.command()
def ladder(
    path: CorpusOrAudit,
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    unknown: Unknown = DEFAULTS.unknown,
    seeds: Annotated[int, typer.Option(help="Number of split seeds.")] = DEFAULTS.seeds,
    fractions: Annotated[
        str | None,
        typer.Option(help="Shares, such as train=.7,test=.3; default: those of the existing split."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Column with the site or source: files change places within it, where they can.")
    ] = None,
    sentinel: Annotated[float, typer.Option(help="Share of groups in no partition of any condition.")] = 0.0,
    conditions: Annotated[int, typer.Option(min=2, help="Number of conditions from whole groups to files.")] = 5,
    validation: Annotated[
        str, typer.Option(help="`cross`: files of val change places too; `intact`: val keeps whole groups.")
    ] = "cross",
    out: Annotated[Path | None, typer.Option(help="Folder for the splits and the report.")] = None,
    quiet: Quiet = False,
) -> None:
    """Draw the splits from whole groups to single files, with their exposure; nothing is trained."""
    from ..ladder import ladder as run

    given = dict(locals())
    options = {k: given[k] for k in (*READING, "seeds", "source", "sentinel", "conditions", "validation", "out")}
    with resumable(None), progress(quiet) as tell:
        report = run(path, progress=tell, fractions=parse_fractions(fractions), **options)
    console = Out()
    console.print(table(report))
    for note in dict.fromkeys((*report.grouping.notes, *report.notes)):
        console.say(f"{note.level}: ", STYLES[note.level], note.text)
    if out is None:
        console.say("\nNothing was written; --out DIR keeps the splits.")
    else:
        console.say(f"\nsplits: {out / 'splits'}\nreport: {out / 'report.html'}")


def table(report: AuditReport) -> Table:
    """One row a condition: exposure and relative pair leak, means over seeds."""
    from ..exposure import exposure_rate, relative_pair_leak
    from ..report.lookup import readout

    result = Table(box=None, padding=(0, 2, 0, 0))
    for k, name in enumerate(("condition", "seeds", "partition", "images", "exposed", "relative pair leak")):
        result.add_column(name, justify="right" if k in (1, 3, 4, 5) else "left")
    for condition in dict.fromkeys(p.condition for p in report.plans):
        both = [(p, e) for p, e in zip(report.plans, report.exposures, strict=True) if p.condition == condition]
        part = readout(both[0][0])
        rates = [exposure_rate(e, p.partition == part) for p, e in both]
        leak = [relative_pair_leak(p, report.grouping) for p, _ in both]
        size = int((both[0][0].partition == part).sum())
        words = ["not defined" if np.isnan(leak).any() else f"{np.mean(leak):.3f}"]
        result.add_row(cell(condition), str(len(both)), cell(part), str(size), f"{np.mean(rates):.1%}", *words)
    return result
