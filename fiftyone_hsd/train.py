"""Training over the conditions of the ladder: the same recipe everywhere, several seeds, resumable, here or on Ray."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .audit import publish, source_name, train_all
from .carried import CONTROL
from .errors import HsdError
from .launch import Forecast, Place, forecast, run_grid
from .model import AuditReport, Descriptors, Run, RunRecord, SplitPlan
from .progress import Progress, guarded
from .recompute import judged
from .report.predictions import write_predictions
from .settings import Settings
from .train_inputs import (
    ENDPOINTS,
    MODELS,
    checked_networks,
    grid_of,
    merged,
    planned,
    plans_of,
    stored,
)
from .train_joining import cheap_digest, joined
from .trainers._recipes import is_network

__all__ = ["MODELS", "train"]

ANNOUNCE = Callable[[Sequence[Forecast]], object]


def train(
    source: Any,
    *,
    out: str | Path,
    conditions: str = "all",
    options: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    ray: str | None = None,
    gpus: float = 0,
    announce: ANNOUNCE | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> AuditReport:
    """Train models under the conditions of the ladder, and say what the groups do to their scores.

    A folder that holds an audit of the same source keeps it: its groups and settings are used where nothing else is
    asked for, and its runs stay. Finished trainings are never repeated, stopped ones go on from their last checkpoint;
    one that fails is named, with its reason, and the others go on.

    Args:
        source: as for `audit`; or the AuditReport of one, whose samples, groups and settings are then taken.
        out: folder of the report and of all state.
        conditions: "all", "endpoints" (intact, random and the existing split), or names joined by commas; with
            "matched" among them also under the two plans of the matched swap.
        options: of the recipe of every network (steps, batch, size, ...), see `trainers._recipes.Recipe`.
        dry_run: only plan: nothing is trained beyond the short trial, and the report stays as it was.
        ray: address of a Ray cluster, "auto", or "local"; None = here, one training after another.
        gpus: on Ray, GPUs a training (a fraction shares one); here, processes of one training, one a GPU.
        announce: called with the forecast of every network before anything is trained.
        settings: fields of `Settings`; what is left out is as in the audit that the folder holds. `models` (default
            lite0) are those to train, `seeds` how many split seeds.

    Returns:
        the AuditReport of the folder, with the new runs.

    Raises:
        InputError, PathError, FieldError, PatternError, EmptyError: what was given cannot be used.
        InfeasibleError: there are no labels, or no split of whole groups.
        MissingExtraError: torch, timm, accelerate or ray is missing.
        StoreError: `out` cannot be written.
    """
    folder, tell = Path(out), guarded(progress)
    before = stored(folder, source)
    if isinstance(source, AuditReport):
        before = source if before is None else joined(source, before, source.runs, source.run_records)
    asked = merged(settings, before)
    networks = checked_networks(asked.models, options)
    seeds = max(asked.seeds, 0 if before is None else int(before.settings.get("seeds", 0)))
    state = folder / ".hsd"
    plain = dataclasses.replace(asked, models=(), seeds=seeds)
    report, vectors = planned(source, asked, plain, state, tell)
    samples = report.samples
    plans, design = plans_of(report, conditions, asked.seeds)
    plans.sort(key=lambda p: p.condition not in ENDPOINTS)  # a grid that is stopped early then says something already
    grid = grid_of(report, plans, networks)
    if announce is not None:  # a trial costs about as much as a short training: none unless somebody wants to know
        announce(forecast(state / "runs", grid, samples, progress=tell) if grid else [])
    if dry_run:
        return before or report
    cheap = dataclasses.replace(asked, models=tuple(m for m in asked.models if not is_network(m)))
    runs, records = _cheap(report, vectors, plans, cheap, state, tell) if vectors is not None else ([], [])
    more, told = run_grid(state / "runs", grid, samples, place=Place(ray, gpus), progress=tell)
    line = _line(source, asked, conditions, options)
    mine = grid_of(report, report.plans, networks)
    keys = {(model, t.plan.condition, t.plan.seed): t.key for t in mine for model in t.models}
    report = joined(
        report,
        before,
        [*runs, *more],
        [*records, *told],
        keys=keys,
        descriptor=asked.descriptor,
        design=design,
    )
    report = judged(dataclasses.replace(report, settings=_said(report, source, plain, before, line)))
    tell(0, 0, "writing the report")
    publish(report, folder)
    write_predictions(report, folder)
    return report


def _cheap(
    report: AuditReport,
    vectors: Descriptors,
    plans: Sequence[SplitPlan],
    options: Settings,
    state: Path,
    tell: Progress,
) -> tuple[list[Run], list[RunRecord]]:
    """Models that look at descriptors: seconds, in this process; one that fails is recorded."""
    runs: list[Run] = []
    records: list[RunRecord] = []
    for model in options.models:
        one = dataclasses.replace(options, models=(model,))
        made: dict[str, Run] = {}
        with contextlib.suppress(HsdError, MemoryError):  # then one by one, to see which
            found = train_all(report.samples, report.scan, vectors, plans, one, state, tell)
            made = {p.digest: r for p, r in zip(plans, found, strict=True)}
        for plan in plans:
            status, reason = "done", ""
            if plan.digest not in made:
                try:
                    (made[plan.digest],) = train_all(report.samples, report.scan, vectors, [plan], one, state, tell)
                except (HsdError, MemoryError) as error:
                    status, reason = "failed", str(error)
            run = made.get(plan.digest)
            runs, seconds = [*runs, *([run] if run else [])], run.seconds if run else 0.0
            digest = cheap_digest(plan, model, options.descriptor)
            records.append(RunRecord(model, plan.condition, plan.seed, status, seconds, float("nan"), digest, reason))
    return runs, records


def _said(report: AuditReport, source: Any, options: Settings, before: AuditReport | None, line: str) -> dict[str, Any]:
    """The settings of the audit, and a command line for each training."""
    cheap = dict.fromkeys(r.config.model for r in report.runs if not is_network(r.config.model))
    lines = [] if before is None else list(before.settings.get("training", []))
    said = {**dataclasses.asdict(options), "models": tuple(cheap), "source": source_name(source)}
    if before is not None:
        said |= {k: v for k, v in before.settings.items() if k.startswith(f"{CONTROL}_")}
    return {**said, "training": [*(old for old in lines if old != line), line]}


def _line(source: Any, asked: Settings, conditions: str, options: Mapping[str, Any] | None) -> str:
    """What to type for the same training; groups and the rest come from the audit in the folder."""
    words = ["hsd", "train", source_name(source), "--models", ",".join(asked.models)]
    words += ["--conditions", conditions, "--seeds", str(asked.seeds)]
    for name, value in sorted((options or {}).items()):
        words += ["--option", f"{name}={value}"]
    return shlex.join([*words, "--out", "OUT"])
