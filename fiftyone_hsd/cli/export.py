"""`hsd export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .application import Quiet, app, resumable
from .console import Out, progress


@app.command()
def export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of an audit (`hsd audit --out OUT`).")],
    to: Annotated[Path, typer.Option(help="A new or empty folder, or an earlier release.")],
    alias: Annotated[
        bool, typer.Option("--alias/--no-alias", help="Salted aliases instead of ids and paths; the key stays in OUT.")
    ] = True,
    pictures: Annotated[bool, typer.Option("--pictures", help="The page may show pictures of the corpus.")] = False,
    tree: Annotated[
        str | None, typer.Option(help="Lay out the images of this condition as tree/CONDITION/PARTITION/CLASS/file.")
    ] = None,
    link: Annotated[str, typer.Option(help="`copy` or `symlink`: how the images of the tree are placed.")] = "copy",
    quiet: Quiet = False,
) -> None:
    """Put an audit into one folder that can be given away and verified, without a name of the corpus in it."""
    from ..release import export as run

    with resumable(None), progress(quiet) as tell:
        folder = run(out, to, alias=alias, pictures=pictures, tree=tree, link=link, progress=tell)
    console = Out()
    console.say(f"release: {folder}")
    if alias:
        console.say(f"aliases and their key, not for others: {out / '.hsd'}")
    console.say(f"check it: hsd verify {folder} --images ROOT")
