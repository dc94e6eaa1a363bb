"""A grid of trainings, models x conditions x seeds: planned, forecast, and run here or on a Ray cluster.

Each training has a folder named by the digest of what determines it. So a finished one is never repeated, a stopped one
goes on from its last checkpoint, and one that fails (memory, disk, a lost node) costs the others nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import StoreError
from ..model import VAL, Run, RunRecord, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from ..trainers._recipes import BEST, in_words
from ..trainers.timm_finetune import _versions
from ._folders import Ticket, finished, folder_of, key_of, outcome, prepare, write_json, write_samples
from ._local import train_in, trial_in

__all__ = ["Forecast", "Place", "Ticket", "forecast", "run_grid", "tickets"]

TRIAL = "trial.json"


@dataclass(frozen=True)
class Place:
    """Where trainings run.

    Attributes:
        ray: address of a Ray cluster, "auto", or "local" = a cluster of this machine for the time being; None = here,
            one after another.
        gpus: on Ray: GPUs a training, also a fraction. Here: processes of one training, one a GPU (0, 1: one process).
    """

    ray: str | None = None
    gpus: float = 0


@dataclass(frozen=True)
class Forecast:
    """What the trainings of one model will take, from a short trial on this machine.

    Attributes:
        model: its name.
        runs, left: trainings in the grid, and how many are not finished.
        steps: optimiser steps of each; 0 = not known.
        seconds: of one training; nan = not known.
        peak_memory: bytes; nan = not known.
        trouble: why the trial failed, "" = it did not, or there was none.
    """

    model: str
    runs: int
    left: int
    steps: int
    seconds: float
    peak_memory: float
    trouble: str = ""


def tickets(samples: Samples, plans: Sequence[SplitPlan], configs: Iterable[TrainConfig], data: str) -> list[Ticket]:
    """One training for each config and plan, with the seed of the plan.

    Args:
        configs: models and options; their seeds are not looked at.
        data: SHA-256 (hex) of images and labels.

    Raises:
        PathError: a weights file is missing.
    """
    made = []
    for config in configs:
        for plan in plans:
            own = TrainConfig(config.model.removesuffix(BEST), plan.seed, config.options)
            best = bool(((plan.partition == VAL) & (samples.labels >= 0)).any())
            made.append(Ticket(own, plan, best, data, key_of(data, plan, own, _versions())))
    return made


def forecast(
    root: Path, grid: Sequence[Ticket], samples: Samples, *, measure: bool = True, progress: Progress | None = None
) -> list[Forecast]:
    """Time and memory of each model: a few steps in a process of its own, remembered in the folder of the training.

    Args:
        measure: False = only what an earlier trial has left; nothing is run or written.

    Raises:
        StoreError: `root` cannot be written.
    """
    tell, rows = guarded(progress), []
    if measure:
        write_samples(root, grid, samples)
    for model in dict.fromkeys(t.config.model for t in grid):
        mine = [t for t in grid if t.config.model == model]
        left = [t for t in mine if finished(folder_of(root, t), t) is None]
        if not left:
            rows.append(Forecast(model, len(mine), 0, 0, float("nan"), float("nan")))
            continue
        folders = [folder_of(root, t) for t in mine]
        known: dict[str, float] | str | None = next(filter(None, map(_tried, folders)), None)
        if known is None and measure:
            tell(0, 0, f"trial of {in_words(model)}")
            folder = folder_of(root, left[0])
            prepare(folder, left[0])
            known = _try(folder)
        rows.append(_forecast(known or "", model, len(mine), len(left)))
    return rows


def _tried(folder: Path) -> dict[str, float] | None:
    """What an earlier trial in the folder of a training measured."""
    try:
        return dict(json.loads((folder / TRIAL).read_text("utf-8")))
    except (OSError, ValueError):
        return None


def _try(folder: Path) -> dict[str, float] | str:
    found = trial_in(folder)
    if isinstance(found, dict):
        write_json(folder / TRIAL, found)
    return found


def _forecast(found: dict[str, float] | str, model: str, runs: int, left: int) -> Forecast:
    if isinstance(found, str):
        return Forecast(model, runs, left, 0, float("nan"), float("nan"), found)
    seconds = found["start"] + found["train"] + found["predict"]
    return Forecast(model, runs, left, int(found["steps"]), seconds, float(found["peak_memory"]))


def run_grid(
    root: Path,
    grid: Sequence[Ticket],
    samples: Samples,
    *,
    place: Place | None = None,
    progress: Progress | None = None,
) -> tuple[list[Run], list[RunRecord]]:
    """Train what is not finished, and read everything back.

    Args:
        root: folder of all runs.
        grid: from `tickets`.
        place: default: here, one after another.
        progress: called at every step (here) or finished training (Ray).

    Returns:
        runs of the trainings that ended well, both readouts of each; and a record for every run of the grid.

    Raises:
        MissingExtraError, InputError: Ray is asked for and cannot be had.
        StoreError: `root` cannot be written at all.
    """
    tell, where = guarded(progress), place or Place()
    left = []
    write_samples(root, grid, samples)
    for ticket in grid:
        if finished(folder_of(root, ticket), ticket) is None:
            try:
                prepare(folder_of(root, ticket), ticket)
            except StoreError:  # the record tells
                continue
            left.append(ticket)
    if where.ray is not None:
        from ._ray import run_on_ray

        run_on_ray(root, left, where.ray, where.gpus, tell)
    else:
        for number, ticket in enumerate(left):
            name, plan = in_words(ticket.config.model), ticket.plan
            words = f"{number + 1} of {len(left)}: {name}, {plan.condition}, seed {plan.seed}"
            _train(folder_of(root, ticket), max(1, round(where.gpus)), words, tell)
    runs: list[Run] = []
    records: list[RunRecord] = []
    for ticket in grid:
        found = finished(folder_of(root, ticket), ticket)
        runs += found or []
        records += _records(folder_of(root, ticket), ticket, found)
    return runs, records


def _train(folder: Path, processes: int, words: str, tell: Progress) -> None:
    try:
        train_in(folder, processes, lambda done, total, label: tell(done, total, f"{words}: {label}"))
    except (StoreError, OSError):  # not even the outcome could be written; the record says that it did not run
        tell(0, 0, f"{words}: the folder cannot be written")


def _records(folder: Path, ticket: Ticket, runs: list[Run] | None) -> Iterable[RunRecord]:
    how = outcome(folder)
    memory = how.get("peak_memory")
    for k, model in enumerate(ticket.models):
        status = "done" if runs else "failed" if how.get("status") == "failed" else "not run"
        reason = str(how.get("reason", "")) or ("" if runs else "the folder cannot be written, or it was stopped")
        seconds = runs[k].seconds if runs else 0.0
        peak = float("nan") if memory is None else float(memory)
        yield RunRecord(model, ticket.plan.condition, ticket.plan.seed, status, seconds, peak, ticket.key, reason)
