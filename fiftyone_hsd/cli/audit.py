"""`hsd audit`."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..model import AuditReport
from ..progress import Progress as Tell
from ..settings import Settings
from .application import Quiet, app, parse_fractions, resumable
from .console import Out, progress
from .inputs import (
    GroupField,
    Groups,
    LabelField,
    Labels,
    Names,
    NearCopies,
    NearThreshold,
    Pattern,
    SplitField,
    TrustSplit,
    Unknown,
    Verdicts,
)
from .summary import show

DEFAULTS = Settings()


class FailOn(StrEnum):
    """When `hsd audit` ends with exit code 1."""

    never = "never"
    exposed = "exposed"
    inflation = "inflation"


@app.command()
def audit(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or FiftyOne dataset (fiftyone:NAME).")
    ],
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    near_copies: NearCopies = DEFAULTS.near_copies,
    near_threshold: NearThreshold = DEFAULTS.near_threshold,
    trust_split: TrustSplit = DEFAULTS.trust_split,
    verdicts: Verdicts = DEFAULTS.verdicts,
    models: Annotated[str, typer.Option(help="Trainers to run, comma-separated.")] = ",".join(DEFAULTS.models),
    seeds: Annotated[int, typer.Option(help="Number of split seeds.")] = DEFAULTS.seeds,
    fractions: Annotated[
        str | None,
        typer.Option(help="Shares, such as train=.7,val=.15,test=.15; default: those of the existing split."),
    ] = None,
    descriptor: Annotated[
        str, typer.Option(help="What nearest neighbours and the cheap models look at.")
    ] = DEFAULTS.descriptor,
    unknown: Unknown = DEFAULTS.unknown,
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
    with resumable(out), progress(quiet) as tell:
        report = run_audit(path, out, tell, settings)
    console = Out()
    show(console, report)
    if out is None:
        console.say("\nNothing was written; --out DIR keeps the report, the splits and the groups.")
    else:
        console.say(f"\nreport: {out / 'report.html'}")
    if fail_on is not FailOn.never and failed(report, fail_on):
        raise typer.Exit(1)


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


def run_audit(path: str, out: Path | None, tell: Tell | None, settings: dict[str, Any]) -> AuditReport:
    """The audit, imported only when it runs."""
    from ..audit import audit as run

    return run(path, out=out, progress=tell, **settings)
