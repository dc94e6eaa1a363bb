"""`hsd`, the command line. Results go to stdout, progress and errors to stderr.

Exit codes: 0 done; 1 done, and `--fail-on` found what it asked for; 2 could not run; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import sys
import traceback
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import __version__
from ..errors import HsdError, InputError
from ..model import AuditReport
from ..progress import Progress as Tell
from ..settings import Settings
from .console import Out, cell, clean, progress
from .console import error as error_line
from .summary import show

DEFAULTS = Settings()
INTERRUPTED = 130
MARKS = {"ok": ("ok", "green"), "info": ("--", "cyan"), "problem": ("!!", "bold red")}

app = typer.Typer(
    help="Find hidden sample dependence in image data sets, measure what it inflates, and split without it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class FailOn(StrEnum):
    """When `hsd audit` ends with exit code 1."""

    never = "never"
    exposed = "exposed"
    inflation = "inflation"


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


@app.command()
def audit(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or FiftyOne dataset (fiftyone:NAME).")
    ],
    groups: Annotated[str | None, typer.Option(help="CSV file (path,group) with known groups.")] = DEFAULTS.groups,
    group_field: Annotated[
        str | None, typer.Option(help="CSV column or FiftyOne field with known groups.")
    ] = DEFAULTS.group_field,
    labels: Annotated[
        str | None, typer.Option(help="CSV file (path,label[,group,split]) with the labels of a folder.")
    ] = DEFAULTS.labels,
    label_field: Annotated[str | None, typer.Option(help="FiftyOne classification field.")] = DEFAULTS.label_field,
    split_field: Annotated[
        str | None, typer.Option(help="FiftyOne string field with the existing split; default: tags.")
    ] = DEFAULTS.split_field,
    pattern: Annotated[
        str | None, typer.Option(help="Regular expression with (?P<group>...), searched in each relative path.")
    ] = DEFAULTS.pattern,
    names: Annotated[
        bool,
        typer.Option("--names/--no-names", help="When no groups are given, use those that file names seem to hold."),
    ] = DEFAULTS.names,
    models: Annotated[str, typer.Option(help="Trainers to run, comma-separated.")] = ",".join(DEFAULTS.models),
    seeds: Annotated[int, typer.Option(help="Number of split seeds.")] = DEFAULTS.seeds,
    fractions: Annotated[
        str | None,
        typer.Option(help="Shares, such as train=.7,val=.15,test=.15; default: those of the existing split."),
    ] = None,
    descriptor: Annotated[
        str, typer.Option(help="What nearest neighbours and the cheap models look at.")
    ] = DEFAULTS.descriptor,
    unknown: Annotated[
        str, typer.Option(help="A file nothing is known about: `singleton` = its own group, `refuse` = stop.")
    ] = DEFAULTS.unknown,
    truth: Annotated[
        str | None, typer.Option(help="CSV file (path,group), opened only after the work, to score the groups found.")
    ] = DEFAULTS.truth,
    fail_on: Annotated[
        FailOn, typer.Option(help="Exit with 1 if the existing split exposes test images, or if inflation is shown.")
    ] = FailOn.never,
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html, report.json and the CSV files; resumes from there.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Find hidden groups, show what they do to a test score, and write splits without them."""
    given = dict(locals())
    settings = {f.name: given[f.name] for f in dataclasses.fields(Settings)}
    settings["models"] = tuple(m.strip() for m in models.split(",") if m.strip())
    settings["fractions"] = parse_fractions(fractions)
    with _resumable(out), progress(quiet) as tell:
        report = _audit(path, out, tell, settings)
    console = Out()
    show(console, report)
    if out is None:
        console.say("\nNothing was written; --out DIR keeps the report, the splits and the groups.")
    else:
        console.say(f"\nreport: {out / 'report.html'}")
    if fail_on is not FailOn.never and failed(report, fail_on):
        raise typer.Exit(1)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the drawn corpus and its report.")] = Path("hsd-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Draw blood smears with known hidden groups, audit them, and compare what was found with the truth."""
    from ..drawn import DEMO, IMAGES, TRUTH, draw

    truth = out / TRUTH
    with _resumable(out), progress(quiet) as tell:
        draw(out, DEMO, seed=seed, progress=tell)
        report = _audit(str(out / IMAGES), out, tell, {"names": True, "truth": str(truth)})
    console = Out()
    show(console, report)
    console.say("\nThe same by hand:", "bold")
    console.say(f"  hsd audit {out / IMAGES} --names --truth {truth} --out {out}")
    console.say(f"drawn images: {out / IMAGES}\ntruth, opened only after the work: {truth}")
    console.say(f"report: {out / 'report.html'}")


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


def failed(report: AuditReport, what: FailOn) -> bool:
    """Whether a report holds what `--fail-on` asks for.

    `exposed`: a test image of the existing split has a mate in train. `inflation`: for some model and metric the
    interval of the inflation from intact to random groups lies above 0.
    """
    if what is FailOn.exposed:
        return any(e.exposed.any() for e in report.exposures if e.condition == "existing")
    return what is FailOn.inflation and any(
        e.what == "inflation" and e.condition == "random" and e.seed is None and not e.class_name and e.low > 0
        for e in report.effects
    )


def _audit(path: str, out: Path | None, tell: Tell | None, settings: dict[str, Any]) -> AuditReport:
    from ..audit import audit as run

    return run(path, out=out, progress=tell, **settings)


@contextlib.contextmanager
def _resumable(out: Path | None) -> Iterator[None]:
    """Ctrl-C says how to go on, and ends with 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = "" if out is None else f"; what is finished is kept in {out / '.hsd'}"
        how = "type the same command again to go on" if out is not None else "with --out DIR a stopped run can go on"
        error_line(f"stopped{kept}; {how}", "yellow")
        raise typer.Exit(INTERRUPTED) from None


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into words and exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a narrow terminal encoding must not end a run
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = words[: words.index("--")] if "--" in words else words
    debug = "--debug" in options
    words = [w for w in options if w != "--debug"] + words[len(options) :]
    try:
        code = app(args=words, prog_name="hsd", standalone_mode=False)
    except HsdError as error:
        error_line(str(error))
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        error_line("stopped", "yellow")
        code = INTERRUPTED
    except Exception as error:
        code = _unexpected(error, debug)
    raise SystemExit(code if isinstance(code, int) else 0)


def _unexpected(error: Exception, debug: bool) -> int:
    explain = getattr(error, "show", None)
    if callable(explain):  # a wrong option or argument: click's own words
        explain()
        return 2
    if debug:
        traceback.print_exception(error)
    text = f"unexpected {type(error).__name__}: {error}"
    error_line(text if debug else f"{text}. To do: repeat with --debug and report the traceback it shows")
    return 2
