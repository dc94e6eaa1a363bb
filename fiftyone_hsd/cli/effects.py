"""`hsd effects`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .application import app
from .console import Out
from .summary import show


@app.command()
def effects(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `hsd audit` or `hsd train` wrote.")],
) -> None:
    """Compute the numbers of an audit folder anew from the runs it holds; nothing is trained."""
    from ..recompute import effects as run

    console = Out()
    show(console, run(out))
    console.say(f"\nreport: {out / 'report.html'}")
