"""`hsd demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model import AuditReport
from .application import Quiet, app, resumable
from .audit import run_audit
from .console import Out, progress
from .summary import show


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the drawn corpus and its report.")] = Path("hsd-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
    in_app: Annotated[
        bool, typer.Option("--app", help="Then open FiftyOne's App on the drawn corpus, with the plugin installed.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the App.")] = 5151,
    quiet: Quiet = False,
) -> None:
    """Draw blood smears with known hidden groups, audit them, and compare what was found with the truth."""
    from ..drawn import DEMO, IMAGES, TRUTH, draw

    truth = out / TRUTH
    with resumable(out), progress(quiet) as tell:
        draw(out, DEMO, seed=seed, progress=tell)
        report = run_audit(str(out / IMAGES), out, tell, {"names": True, "truth": str(truth)})
    console = Out()
    show(console, report)
    console.say("\nThe same by hand:", "bold")
    console.say(f"  hsd audit {out / IMAGES} --names --truth {truth} --out {out}")
    console.say(f"drawn images: {out / IMAGES}\ntruth, opened only after the work: {truth}")
    console.say(f"report: {out / 'report.html'}")
    if in_app:
        _show_in_app(console, report, port, quiet)


def _show_in_app(console: Out, report: AuditReport, port: int, quiet: bool) -> None:
    from ..dataset import dataset_of, install_plugin, link_to, open_app, write_audit

    console.say(f"plugin: {install_plugin()}")
    found = dataset_of(report.samples, "hsd-demo", replace=True)
    with progress(quiet) as tell:
        write_audit(found, run_audit("fiftyone:hsd-demo", None, tell, {"names": True}), progress=tell)
    console.say(f"open {link_to(found, port)} (Ctrl-C ends the App)")
    open_app(found, port)
