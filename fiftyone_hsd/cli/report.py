"""`hsd report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .application import app
from .console import Out


@app.command()
def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of an audit (`hsd audit --out OUT`).")],
    share: Annotated[bool, typer.Option("--share", help="One page with aliases for ids and paths.")] = False,
    to: Annotated[Path | None, typer.Option(help="With --share: the file; default OUT/report-share.html.")] = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="With --share: pictures of the corpus too.")] = False,
) -> None:
    """Write the report of an audit again, or one page of it that names nothing."""
    from ..release import rewrite
    from ..release import share as shared

    if not share and (to is not None or pictures):
        raise InputError("--to and --pictures", "together with --share")
    path = shared(out, to=to, pictures=pictures) if share else rewrite(out)
    Out().say(f"report: {path}")
