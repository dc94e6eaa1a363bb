"""The command-line application that every verb joins, and what verbs share."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..errors import InputError
from .console import error as error_line

INTERRUPTED = 130

app = typer.Typer(
    help="Find hidden sample dependence in image data sets, measure what it inflates, and split without it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fiftyone-hsd {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an unexpected error; may stand anywhere.")
    ] = False,
) -> None:
    # Both are handled before a command runs; they are declared here for --help.
    del version, debug


def parse_fractions(text: str | None) -> dict[str, float] | None:
    """`train=.7,test=.3` as a mapping.

    Raises:
        InputError: not of that form.
    """
    if text is None:
        return None
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (p.strip() for p in part.partition("="))
        try:
            value = float(share)
        except ValueError:
            value = math.nan
        if not name or name in shares or not math.isfinite(value):
            raise InputError(f"--fractions {text}", "shares such as train=.7,val=.15,test=.15, each name once")
        shares[name] = value
    return shares


@contextlib.contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """Ctrl-C says how to go on, and ends with 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = "" if out is None else f"; what is finished is kept in {out / '.hsd'}"
        how = "type the same command again to go on" if out is not None else "with --out DIR a stopped run can go on"
        error_line(f"stopped{kept}; {how}", "yellow")
        raise typer.Exit(INTERRUPTED) from None
