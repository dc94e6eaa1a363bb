"""`hsd train`."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..errors import InputError
from ..launch import Forecast
from ..report.wording import duration
from ..settings import Settings
from ..trainers._recipes import in_words
from .application import Quiet, app, parse_fractions, resumable
from .console import Out, cell, progress
from .inputs import (
    Corpus,
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
DEFAULTED = "ParameterSource.DEFAULT"
"""An option that nobody typed: what the audit in the folder was asked for holds."""
MIB = 1 << 20


@app.command()
def train(
    context: typer.Context,
    path: Corpus,
    out: Annotated[
        Path, typer.Option(help="Folder of the report and of all runs; an audit in it is kept. Resumes from there.")
    ],
    models: Annotated[
        str,
        typer.Option(help="Comma-separated: lite0, vit, resnet50, timm:NAME[@FILE], linear_probe, nearest_neighbour."),
    ] = "lite0",
    conditions: Annotated[
        str,
        typer.Option(
            help="all, endpoints (intact, random, existing split), names; joined by commas, also with matched."
        ),
    ] = "all",
    seeds: Annotated[int, typer.Option(help="Number of split seeds.")] = DEFAULTS.seeds,
    option: Annotated[
        list[str] | None, typer.Option(help="Of the networks' recipe, such as steps=500; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan with time and memory from a short trial; train nothing.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(help="Ray cluster: an address, auto, or local = one on this machine for the time being."),
    ] = None,
    gpus: Annotated[
        float, typer.Option(help="On Ray: GPUs a training (a fraction shares one). Here: processes, one a GPU.")
    ] = 0,
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
    fractions: Annotated[
        str | None,
        typer.Option(help="Shares, such as train=.7,val=.15,test=.15; default: those of the existing split."),
    ] = None,
    descriptor: Annotated[
        str, typer.Option(help="What nearest neighbours and the cheap models look at.")
    ] = DEFAULTS.descriptor,
    unknown: Unknown = DEFAULTS.unknown,
    quiet: Quiet = False,
) -> None:
    """Train models under the conditions of the ladder: the same recipe everywhere, resumable, here or on Ray."""
    given = dict(locals())
    said = {k for k in given if k in context.params and str(context.get_parameter_source(k)) != DEFAULTED}
    settings = {f.name: given[f.name] for f in dataclasses.fields(Settings) if f.name in said}
    settings["models"] = tuple(m.strip() for m in models.split(",") if m.strip())
    if fractions is not None:
        settings["fractions"] = parse_fractions(fractions)
    console = Out()
    with resumable(out), progress(quiet) as tell:
        from ..train import train as run

        own = {k: given[k] for k in inspect.signature(run).parameters if k in given}
        report = run(
            path,
            **own,
            options=parse_options(option or []),
            announce=lambda rows: _announce(console, rows),
            progress=tell,
            **settings,
        )
    if dry_run:
        console.say("Nothing was trained; without --dry-run this plan is carried out.")
        return
    show(console, report)
    console.say(f"\nreport: {out / 'report.html'}")


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """`steps=500` as a mapping; whole numbers, numbers and truth values are read as such.

    Raises:
        InputError: not of that form.
    """
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = (p.strip() for p in word.partition("="))
        if not name or not equals or not text or name in options:
            raise InputError(f"--option {word}", "NAME=VALUE, each name once")
        options[name] = _value(text)
    return options


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _announce(console: Out, rows: Sequence[Forecast]) -> None:
    """The plan: runs, steps, time and memory."""
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), title="trainings", title_justify="left")
    table.add_column("model", overflow="fold")
    for name in ("runs", "left", "steps each", "time each", "time in all", "memory"):
        table.add_column(name, justify="right")
    for r in rows:
        known = math.isfinite(r.seconds)
        memory = f"{r.peak_memory / MIB:.0f} MiB" if math.isfinite(r.peak_memory) else "?"
        times = (duration(r.seconds), duration(r.seconds * r.left)) if known else ("?", "?")
        table.add_row(
            cell(in_words(r.model)), str(r.runs), str(r.left), str(r.steps or "?"), *times, memory if known else "?"
        )
    console.print(table)
    for r in rows:
        if r.trouble:
            console.say("the trial failed: ", "yellow", f"{in_words(r.model)}: {r.trouble}")
    console.say("(from a trial of a few steps on this machine, one training after another)", "dim")
