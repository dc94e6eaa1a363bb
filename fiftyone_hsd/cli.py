"""`hsd`, the command line. Results go to stdout, progress and errors to stderr.

Exit codes: 0 done; 1 done, and `--fail-on` found what it asked for; 2 could not run; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from . import __version__
from .errors import HsdError, InputError
from .model import AuditReport
from .progress import Progress as Tell
from .settings import Settings

DEFAULTS = Settings()
app = typer.Typer(
    help="Find hidden sample dependence in image data sets, measure what it inflates, and split without it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class FailOn(StrEnum):
    """When `hsd audit` ends with exit code 1."""

    never = "never"
    exposed = "exposed"
    inflation = "inflation"


Path_ = Annotated[str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or fiftyone:NAME.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for report.html, report.json and the CSV files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fiftyone-hsd {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,
) -> None:
    pass


@app.command()
def audit(
    path: Path_,
    groups: Annotated[str | None, typer.Option(help="CSV file (path,group) with known groups.")] = DEFAULTS.groups,
    group_field: Annotated[
        str | None, typer.Option(help="Column or FiftyOne field with known groups.")
    ] = DEFAULTS.group_field,
    labels: Annotated[
        str | None, typer.Option(help="CSV file (path,label[,group,split]) for a folder.")
    ] = DEFAULTS.labels,
    label_field: Annotated[str | None, typer.Option(help="FiftyOne classification field.")] = DEFAULTS.label_field,
    split_field: Annotated[str | None, typer.Option(help="FiftyOne field with the split.")] = DEFAULTS.split_field,
    pattern: Annotated[
        str | None, typer.Option(help="Regular expression with (?P<group>...), searched in each relative path.")
    ] = DEFAULTS.pattern,
    models: Annotated[str, typer.Option(help="Comma-separated models.")] = ",".join(DEFAULTS.models),
    seeds: Annotated[int, typer.Option(help="Number of split seeds.")] = DEFAULTS.seeds,
    fractions: Annotated[
        str | None, typer.Option(help="Shares such as train=.7,val=.15,test=.15; default: the existing split's.")
    ] = None,
    descriptor: Annotated[str, typer.Option(help="What similarity and cheap models look at.")] = DEFAULTS.descriptor,
    unknown: Annotated[
        str, typer.Option(help="singleton: a file nothing is known about is its own group; refuse: stop.")
    ] = DEFAULTS.unknown,
    truth: Annotated[
        str | None, typer.Option(help="CSV file (path,group), opened after the work to score the groups.")
    ] = DEFAULTS.truth,
    fail_on: Annotated[FailOn, typer.Option(help="When to end with exit code 1.")] = FailOn.never,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Find hidden groups, show what they do to a test score, and write splits without them."""
    settings: dict[str, Any] = {
        "groups": groups,
        "group_field": group_field,
        "labels": labels,
        "label_field": label_field,
        "split_field": split_field,
        "pattern": pattern,
        "models": tuple(m.strip() for m in models.split(",") if m.strip()),
        "seeds": seeds,
        "fractions": parse_fractions(fractions),
        "descriptor": descriptor,
        "unknown": unknown,
        "truth": truth,
    }
    report = _audit(path, out, quiet, settings)
    if fail_on is not FailOn.never and failed(report, fail_on.value):
        raise typer.Exit(1)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the drawn corpus and its report.")] = Path("hsd-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the drawing.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Draw a corpus of blood smears with known truth, audit it, and say where the report lies."""
    from .drawn import DEMO, TRUTH, draw, with_seed

    with _progress(quiet) as tell:
        images = draw(out, with_seed(DEMO, seed), progress=tell)
    _audit(str(images), out, quiet, {"pattern": r"/(?P<group>P\d+)_S", "truth": str(out / TRUTH)})


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Versions, mongod, faiss and torch device: what is there, what was chosen, and what to type."""
    from .doctor import doctor as checks

    found = checks()
    if as_json:
        typer.echo(json.dumps([vars(c) for c in found], indent=1))
        return
    table = Table(show_header=False, box=None)
    for check in found:
        mark = {"ok": "[green]ok[/]", "info": "[blue]--[/]", "problem": "[red]!![/]"}[check.level]
        advice = f"\n[bold]{escape(check.advice)}[/]" if check.advice else ""
        table.add_row(mark, escape(check.topic), escape(check.text) + advice)
    Console().print(table)


def parse_fractions(text: str | None) -> dict[str, float] | None:
    """`train=.7,test=.3` as a mapping.

    Raises:
        InputError: not of that form.
    """
    if text is None:
        return None
    result = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            result[name.strip()] = float(share)
        except ValueError:
            raise InputError(f"--fractions {text!r}", "train=.7,val=.15,test=.15") from None
    return result


def failed(report: AuditReport, what: str) -> bool:
    """Whether a report holds what `--fail-on` asks for."""
    if what == FailOn.exposed.value:
        return any(e.exposed.any() for e in report.exposures if e.condition == "existing")
    return any(e.what == "inflation" and e.condition == "random" and e.low > 0 for e in report.effects)


def _audit(path: str, out: Path | None, quiet: bool, settings: dict[str, Any]) -> AuditReport:
    from .audit import audit as run

    try:
        with _progress(quiet) as tell:
            report = run(path, out=out, progress=tell, **settings)
    except KeyboardInterrupt:
        where = (
            f"; type the same command again to go on (state in {out / '.hsd'})"
            if out
            else "; with --out it could go on"
        )
        _error(f"stopped{where}")
        raise typer.Exit(130) from None
    _show(report, out)
    return report


def _show(report: AuditReport, out: Path | None) -> None:
    console = Console(highlight=False)
    console.print(f"\n[bold]{escape(clean(report.verdict))}[/]\n", soft_wrap=True)
    table = Table("model", "condition", "exposed", "balanced accuracy", "95 % interval", box=None, title_justify="left")
    exposed = {
        e.condition: e.estimate
        for e in reversed(report.effects)
        if e.what == "exposure_rate" and e.partition == "test" and not e.class_name
    }
    for e in report.effects:
        if e.what == "score" and e.seed is None and e.metric == "balanced_accuracy":
            rate = exposed.get(e.condition, float("nan"))
            table.add_row(
                escape(e.model), e.condition, f"{rate:.0%}", f"{e.estimate:.3f}", f"{e.low:.3f} to {e.high:.3f}"
            )
    if table.row_count:
        console.print(table)
    for note in (*report.grouping.notes, *report.notes, *report.samples.notes):
        mark = {"info": "blue", "warning": "yellow", "problem": "red", "not evaluated": "magenta"}[note.level]
        count = f" ({note.count})" if note.count else ""
        console.print(f"[{mark}]{note.level}[/] {escape(clean(note.text))}{count}", soft_wrap=True)
    for _, path, reason in report.failures[:10]:
        console.print(f"[red]unreadable[/] {escape(clean(path))}: {escape(clean(reason))}", soft_wrap=True)
    if len(report.failures) > 10:
        console.print(f"... and {len(report.failures) - 10} more unreadable images, listed in samples.csv")
    if out is not None:
        console.print(f"\nreport: {escape(clean(str(out / 'report.html')))}", soft_wrap=True)


def clean(text: str) -> str:
    """Text that cannot steer a terminal: control characters and undecodable bytes are shown as escapes."""
    return "".join(
        c if c.isprintable() or c == " " else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


@contextmanager
def _progress(quiet: bool) -> Iterator[Tell | None]:
    """Bars with rate and time left on a terminal, a line now and then elsewhere."""
    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
        )
        with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bars:
            yield _Bars(bars)
    else:
        yield _Lines()


class _Bars:
    def __init__(self, bars: Progress) -> None:
        self.bars, self.tasks, self.started = bars, dict[str, Any](), dict[str, float]()

    def __call__(self, done: int, total: int, label: str) -> None:
        if label not in self.tasks:
            for task in self.tasks.values():
                self.bars.update(task, completed=self.bars.tasks[task].total)
            self.tasks[label] = self.bars.add_task(escape(clean(label)), total=total or None, rate="")
            self.started[label] = time.monotonic()
        spent = time.monotonic() - self.started[label]
        rate = f"{done / spent:.0f}/s" if spent > 0.5 and done else ""
        self.bars.update(self.tasks[label], completed=done, total=total or None, rate=rate)


class _Lines:
    def __init__(self) -> None:
        self.label, self.last, self.start = "", 0.0, 0.0

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.monotonic()
        if label != self.label:
            self.label, self.start = label, now
        elif now - self.last < 5:
            return
        self.last = now
        rate = f", {done / (now - self.start):.0f}/s" if done and now - self.start > 0.5 else ""
        sys.stderr.write(f"{clean(label)}{f' {done}/{total}' if total else ''}{rate}\n")


def _error(text: str) -> None:
    Console(stderr=True, highlight=False).print(f"[red]hsd: {escape(clean(text))}[/]", soft_wrap=True)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into words and exit codes."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(args=words, standalone_mode=False)
    except HsdError as error:
        _error(str(error))
        code = 2
    except KeyboardInterrupt:
        _error("stopped")
        code = 130
    except typer.Abort:
        code = 130
    except Exception as error:
        if "--debug" in words:
            raise
        shown = getattr(error, "show", None)
        if callable(shown):  # a wrong option: click explains it
            shown()
        else:
            _error(
                f"unexpected {type(error).__name__}: {error}. To do: run `hsd --debug ...` and report what it prints"
            )
        code = 2
    raise SystemExit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
