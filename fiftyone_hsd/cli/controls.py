"""`hsd controls`."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..control_settings import CORNERS, PRESETS, ControlSettings
from ..model import AuditReport
from .application import Quiet, app, parse_fractions, resumable
from .console import Out, cell, progress
from .inputs import GroupField, Groups, LabelField, Labels, Names, Pattern, SplitField, Unknown
from .summary import STYLES, interval

DEFAULTS = ControlSettings()
Corner = StrEnum("Corner", {c: c for c in CORNERS})  # type: ignore[misc]
Preset = StrEnum("Preset", {p: p for p in PRESETS})  # type: ignore[misc]


@app.command()
def controls(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or FiftyOne dataset (fiftyone:NAME).")
    ],
    control: Annotated[
        str, typer.Option(help="Experiments to run, comma-separated; `all` = every one that the corpus allows.")
    ] = ",".join(DEFAULTS.control),
    corner: Annotated[Corner, typer.Option(help="Where the background crop lies.")] = Corner(DEFAULTS.corner),
    size: Annotated[str, typer.Option(help="Size of the crop, WIDTHxHEIGHT in pixels.")] = DEFAULTS.size,
    box: Annotated[
        str | None, typer.Option(help="x,y,width,height in pixels or shares; replaces --corner and --size.")
    ] = DEFAULTS.box,
    box_field: Annotated[str | None, typer.Option(help="Column with such a box for every image.")] = DEFAULTS.box_field,
    objects_field: Annotated[
        str | None, typer.Option(help="Column with boxes of objects, separated by `;`.")
    ] = DEFAULTS.objects_field,
    object_pixels: Annotated[
        int, typer.Option(help="Pixels above which what Otsu's threshold finds is an object.")
    ] = DEFAULTS.object_pixels,
    object_side: Annotated[
        int, typer.Option(help="Side of the crops around objects and away from them.")
    ] = DEFAULTS.object_side,
    preset: Annotated[
        Preset, typer.Option(help="`fast`: cheap readers in seconds; `paper`: LeNet-5, 120 epochs (needs torch).")
    ] = Preset(DEFAULTS.preset),
    seeds: Annotated[int, typer.Option(help="Number of splits.")] = DEFAULTS.seeds,
    fractions: Annotated[
        str | None, typer.Option(help="Shares; default train=.7,test=.3 (fast) and train=.8,test=.2 (paper).")
    ] = None,
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    unknown: Unknown = DEFAULTS.unknown,
    session_field: Annotated[
        str | None, typer.Option(help="Column with the acquisition session of each image.")
    ] = DEFAULTS.session_field,
    source_field: Annotated[
        str | None, typer.Option(help="Column with the site or source of each image.")
    ] = DEFAULTS.source_field,
    order_field: Annotated[
        str | None, typer.Option(help="Column with the order of acquisition; default EXIF time or the name's counter.")
    ] = DEFAULTS.order_field,
    out: Annotated[
        Path | None, typer.Option(help="Folder for controls.csv and the report; an audit that is there is kept.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Can classes be told apart without the object? Background crops and other control experiments."""
    given = dict(locals())
    settings = {f.name: given[f.name] for f in dataclasses.fields(ControlSettings)}
    settings["control"] = tuple(c.strip() for c in control.split(",") if c.strip())
    settings["corner"], settings["preset"] = corner.value, preset.value
    settings["fractions"] = parse_fractions(fractions)
    with resumable(out), progress(quiet) as tell:
        report = _run(path, out, tell, settings)
    console = Out()
    _show(console, report)
    if out is None:
        console.say("\nNothing was written; --out DIR keeps the numbers and the report.")
    else:
        console.say(f"\nreport: {out / 'report.html'}")


def _run(path: str, out: Path | None, tell: Any, settings: dict[str, Any]) -> AuditReport:
    """The experiments, imported only when they run."""
    from ..control_experiments import controls as run

    return run(path, out=out, progress=tell, **settings)


def _show(console: Out, report: AuditReport) -> None:
    """The numbers over all seeds in one table, then the reading of each control."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("control", "model", "split", "balanced accuracy", "chance", "p"):
        table.add_column(name, justify="left" if name in ("control", "model", "split") else "right")
    for c in report.control_results:
        e = c.effect
        if e.what == "score" and e.seed is None and not e.class_name and e.metric == "balanced_accuracy":
            words = (f"{c.control} ({c.variant})", e.model.replace("_", " "), e.condition)
            p = "" if e.p != e.p else f"{e.p:.2g}"
            table.add_row(*map(cell, words), interval(e, ".3f"), f"{c.chance:.3f}", p)
    if table.row_count:
        console.print(table)
        console.print()
    for note in report.notes:
        if note.topic.startswith("control"):
            console.say(f"{note.level}: ", STYLES[note.level], note.text)
