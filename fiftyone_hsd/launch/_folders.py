"""The folder of one training: named by the digest of what determines it, so that nothing is ever trained twice."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..model import Run, Samples, SplitPlan, TrainConfig, sha256_json
from ..store import atomic, load, save
from ..trainers._recipes import BEST, HOW, weights_digest

TICKET, RUN, BEST_RUN = "ticket.npz", "run.npz", "best.npz"
OUTCOME, ATTEMPT, OUTPUT, TRAINING = "outcome.json", "attempt.json", "output.txt", "training"
NAME = 32
"""Characters of the digest in a folder's name."""


@dataclass(frozen=True, eq=False)
class Ticket:
    """One training of a grid.

    Attributes:
        config: the model as asked for, without a readout.
        plan: of the split.
        best: whether the readout at the best step on validation is wanted too.
        data: SHA-256 (hex) of images and labels.
        key: SHA-256 (hex) of what determines the training.
    """

    config: TrainConfig
    plan: SplitPlan
    best: bool
    data: str
    key: str

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the runs that come of it."""
        return (self.config.model, self.config.model + BEST) if self.best else (self.config.model,)


def key_of(data: str, plan: SplitPlan, config: TrainConfig, versions: Mapping[str, str]) -> str:
    """SHA-256 (hex) over images, labels, split, recipe, weights file and versions of packages."""
    options = [[k, v] for k, v in config.options if k not in HOW]
    weights = weights_digest(config.model)
    return sha256_json([data, plan.digest, config.model, weights, config.seed, options, dict(versions)])


def folder_of(root: Path, ticket: Ticket) -> Path:
    """Where a training lives below the folder of all runs."""
    return root / ticket.key[:NAME]


def prepare(folder: Path, ticket: Ticket) -> None:
    """Write what the training is, unless it is there.

    Raises:
        StoreError: the folder cannot be written.
    """
    if not (folder / TICKET).exists():
        save(folder / TICKET, ticket)


def write_samples(root: Path, tickets: Sequence[Ticket], samples: Samples) -> None:
    """Write the samples anew, since files may have moved; what determines a training is their content.

    Raises:
        StoreError: the folder cannot be written.
    """
    for ticket in {t.data: t for t in tickets}.values():
        save(samples_of(folder_of(root, ticket), ticket), samples)


def samples_of(folder: Path, ticket: Ticket) -> Path:
    """The samples of a training; all trainings of one corpus share the file."""
    return folder.parent / f"samples-{ticket.data[:NAME]}.npz"


def finished(folder: Path, ticket: Ticket) -> list[Run] | None:
    """The runs of a finished training, None if there is none that can be read back."""
    if outcome(folder).get("status") != "done":
        return None
    try:
        runs = [load(folder / RUN, Run)]
        return [*runs, load(folder / BEST_RUN, Run)] if ticket.best else runs
    except StoreError:
        return None


def outcome(folder: Path) -> dict[str, Any]:
    """How the last attempt ended: status, reason, kind (memory, disk, error), seconds, peak_memory; {} = it did not."""
    return _json(folder / OUTCOME)


def accumulated(folder: Path) -> int:
    """Parts of a batch that an attempt after running out of memory uses; 0 = as asked for."""
    return int(_json(folder / ATTEMPT).get("accumulate", 0))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small file, whole or not at all."""
    with atomic(path) as file:
        file.write(json.dumps(dict(value)).encode())


def halve(folder: Path, accumulate: int) -> None:
    """Let the next attempt work batches off in that many parts, from the start."""
    write_json(folder / ATTEMPT, {"accumulate": accumulate})
    shutil.rmtree(folder / TRAINING, ignore_errors=True)


def with_parts(config: TrainConfig, accumulate: int) -> TrainConfig:
    """The config of an attempt."""
    if not accumulate:
        return config
    return dataclasses.replace(config, options=tuple({**dict(config.options), "accumulate": accumulate}.items()))


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def keep_results(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write results that came from another machine, the outcome last."""
    for name in sorted(files, key=lambda n: n == OUTCOME):
        if not (folder / name).exists() or name == OUTCOME:
            with atomic(folder / name) as file:
                file.write(files[name])


def results(folder: Path, names: Sequence[str] = (RUN, BEST_RUN, OUTCOME)) -> dict[str, bytes]:
    """The files that a training hands on."""
    return {n: (folder / n).read_bytes() for n in names if (folder / n).exists()}
