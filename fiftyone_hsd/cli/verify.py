"""`hsd verify`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from .application import Quiet, app, resumable
from .console import Out, progress


@app.command()
def verify(
    release: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder that `hsd export` wrote.")],
    images: Annotated[Path | None, typer.Option(help="Folder of the images, to compare their bytes.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="OUT/.hsd/alias_key.json: lets an aliased release be compared by name too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list of checks.")] = False,
    quiet: Quiet = False,
) -> None:
    """Derive every invariant and digest of a release again and say what differs; ends with 1 if anything does."""
    from ..release import verify as run

    with resumable(None), progress(quiet) as tell:
        found = run(release, images=images, key=key, progress=tell)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(c) for c in found.checks], indent=1))
    else:
        console = Out()
        for check in found.checks:
            word, style = (
                ("??", "magenta") if check.left_out else ("!!", "bold red") if check.differs else ("ok", "green")
            )
            rest = (
                f" {check.name}: not checked, {check.left_out}"
                if check.left_out
                else f" {check.name} ({check.compared})"
            )
            console.say(word, style, rest)
            for text in check.differs:
                console.say("     ", "", text)
        console.say("\nthe release holds" if found.holds else "\nthe release does not hold", "bold")
    if not found.holds:
        raise typer.Exit(1)
