"""`hsd effects`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .application import Quiet, app
from .console import Out, progress
from .summary import show


@app.command()
def effects(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `hsd audit` or `hsd train` wrote.")],
    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Also how much the inflation depends on the groups (a cheap model again)."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compute the numbers of an audit folder anew from the runs it holds; nothing is trained unless asked for."""
    from ..recompute import effects as run

    console = Out()
    with progress(quiet) as tell:
        report = run(out, sensitivity=sensitivity, progress=tell)
    show(console, report)
    console.say(f"\nreport: {out / 'report.html'}")
