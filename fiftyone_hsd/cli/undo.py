"""`hsd undo`."""

from __future__ import annotations

from typing import Annotated

import typer

from .application import app
from .console import Out


@app.command()
def undo(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="FiftyOne dataset (fiftyone:NAME or NAME).")],
    what: Annotated[str, typer.Option(help="Whose marks: `audit` or `repair`.")] = "audit",
    force: Annotated[bool, typer.Option("--force", help="Also if somebody changed the marks since.")] = False,
) -> None:
    """Remove the fields, tags and saved views of an audit or repair from a FiftyOne dataset; all else stays."""
    from ..dataset import load
    from ..dataset import undo as run

    done = run(load(dataset.removeprefix("fiftyone:")), what=what, force=force)
    Out().say(
        f"{done.samples} samples: {len(done.fields)} fields, {len(done.tags)} tags and "
        f"{len(done.views)} saved views of the {what} removed"
    )
