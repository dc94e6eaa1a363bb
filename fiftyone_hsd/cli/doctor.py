"""`hsd doctor`."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from .application import app
from .console import Out, cell, clean

MARKS = {"ok": ("ok", "green"), "info": ("--", "cyan"), "problem": ("!!", "bold red")}


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list of checks.")] = False,
) -> None:
    """Say what is installed, what was chosen and why, and which line repairs what is broken."""
    from ..doctor import doctor as examine

    checks = examine()
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(c) for c in checks], indent=1))
        return
    console = Out()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for check in checks:
        word, style = MARKS[check.level]
        table.add_row(Text(word, style), cell(check.topic), cell(check.text))
        if check.advice:
            table.add_row("", "", Text(clean(check.advice), "bold", overflow="fold"))
    console.print(table)
    problems = sum(c.level == "problem" for c in checks)
    console.say(f"\n{problems or 'no'} problem{'' if problems == 1 else 's'}", "bold red" if problems else "green")
