"""`hsd repair`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from ..model import UNUSED
from ..repair import Repaired
from ..settings import Settings
from .application import Quiet, app, resumable
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
SHOWN = 10
"""Changing samples that are listed; the rest is counted."""
CLASSES = 30
"""Classes that are listed."""


@app.command()
def repair(
    path: CorpusOrAudit,
    condition: Annotated[str, typer.Option(help="Which split: `existing`, or a condition of the audit.")] = "existing",
    freeze: Annotated[str | None, typer.Option(help="A partition that no sample may enter or leave, as test.")] = None,
    share_bound: Annotated[
        float | None, typer.Option(help="Largest change of a partition's share; default .02, widened where it must.")
    ] = None,
    class_bound: Annotated[
        float | None, typer.Option(help="The same for each class; default .05, widened where it must.")
    ] = None,
    set_aside: Annotated[
        str, typer.Option(help="`forced`: only mates of frozen samples; `free`: whatever makes the change smaller.")
    ] = "forced",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split, and of ties.")] = 0,
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    unknown: Unknown = DEFAULTS.unknown,
    out: Annotated[
        Path | None, typer.Option(help="Folder for splits/repaired.csv, repair.csv and repair.json.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, write nothing.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Mark the samples of the FiftyOne dataset; `hsd undo` takes that back.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """The smallest change of a split after which no group lies in two partitions; nothing is deleted."""
    from ..repair import repair as run

    given = dict(locals())
    wanted = ("condition", "freeze", "share_bound", "class_bound", "set_aside", "seed", "out", "dry_run", "write")
    with resumable(None), progress(quiet) as tell:
        found = run(path, progress=tell, **{k: given[k] for k in (*wanted, *READING)})
    console = Out()
    show(console, found)
    if dry_run or (out is None and not write):
        console.say("\nNothing was written; --out DIR keeps the repaired split and its plan.")
    for file in found.files:
        console.say(f"written: {file}")


def show(console: Out, found: Repaired) -> None:
    """The plan: partitions and classes before and after, why samples change, the first of them."""
    result = found.repair
    for note in result.plan.notes:
        console.say(f"{note.level}: ", STYLES[note.level], note.text)
    console.print(_partitions(found))
    classes = _classes(found)
    if classes is not None:
        console.print(classes)
    for reason in dict.fromkeys(result.reason.tolist()):
        console.say(f"{int((result.reason == reason).sum())} samples: {reason}")
    ids = found.report.samples.ids
    for row, before, after in list(zip(result.rows, result.before, result.after, strict=True))[:SHOWN]:
        console.say(f"  {before} to {after}: {ids[row]}")
    if len(result.rows) > SHOWN:
        console.say(f"  ... and {len(result.rows) - SHOWN} more, all in repair.csv")


def _partitions(found: Repaired) -> Table:
    result = found.repair
    table = _table("partition", "before", "moved in", "moved out", "set aside", "after", "exposed before", "after")
    for name, (before, after) in result.sizes.items():
        leaving = result.after[result.before == name]
        exposed = [
            "" if not (rows := e.evaluated & (p.partition == name)).any() else f"{e.exposed[rows].mean():.1%}"
            for e, p in ((found.before, found.plan), (found.after, result.plan))
        ]
        aside = int((leaving == UNUSED).sum())
        counts = [before, int((result.after == name).sum()), len(leaving) - aside, aside, after]
        table.add_row(cell(name), *map(str, counts), *exposed)
    return table


def _classes(found: Repaired) -> Table | None:
    """Share of each class in each partition, before and after."""
    samples = found.report.samples
    if not samples.labelled or len(samples.classes) > CLASSES:
        return None
    parts = [p for p in found.repair.sizes if p != UNUSED]
    table = _table("class", *(f"{p} before / after" for p in parts))
    for code, name in enumerate(samples.classes):
        rows = samples.labels == code
        shares = []
        for part in parts:
            each = []
            for plan in (found.plan, found.repair.plan):
                used = rows & (plan.partition != UNUSED)
                each.append(f"{np.mean(plan.partition[used] == part):.1%}" if used.any() else "none")
            shares.append(" / ".join(each))
        table.add_row(cell(name), *shares)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for k, name in enumerate(columns):
        table.add_column(cell(name), justify="right" if k else "left")
    return table
