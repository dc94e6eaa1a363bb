"""The process of one training: `python -m fiftyone_hsd.launch._child FOLDER [--trial]`.

A process of its own keeps memory apart, can be killed, and dies with the one that started it: it ends when its standard
input is closed. Progress goes to standard output, a line of JSON each; everything else to standard error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import trainers
from ..errors import HsdError, StoreError
from ..model import Descriptors, Note, Run, Samples
from ..store import load, save
from ..trainers._memory import peak_memory
from ..trainers._recipes import BEST, in_words
from ..trainers.timm_finetune import _cost
from ._folders import BEST_RUN, OUTCOME, RUN, TICKET, TRAINING, Ticket, accumulated, samples_of, with_parts, write_json

SAY_EVERY = 0.5


def main(folder: Path, trial: bool) -> int:
    """Train, or try a few steps; 0 = done, 3 = failed and the reason written down."""
    said = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not mix with progress
    threading.Thread(target=_die_with_parent, daemon=True).start()
    ticket = load(folder / TICKET, Ticket)
    samples = load(samples_of(folder, ticket), Samples)
    if trial:
        try:
            cost = _cost(samples, ticket.plan, ticket.config)
        except (MemoryError, HsdError) as error:
            sys.stderr.write(f"{' '.join(str(error).split())}\n")
            return 3
        os.write(said, (json.dumps({**cost, "peak_memory": peak_memory()}) + "\n").encode())
        return 0
    try:
        run = _train(folder, ticket, samples, _progress(said))
    except (MemoryError, HsdError, OSError) as error:
        kind = "memory" if isinstance(error, MemoryError) else "disk" if isinstance(error, StoreError) else "error"
        _fail(folder, kind, str(error) or type(error).__name__)
        return 3
    if _first():
        result = {"status": "done", "reason": "", "seconds": run.seconds, "peak_memory": peak_memory()}
        write_json(folder / OUTCOME, result)
    return 0


def _train(folder: Path, ticket: Ticket, samples: Samples, tell: Callable[[int, int, str], None]) -> Run:
    parts = accumulated(folder)
    config = with_parts(ticket.config, parts)
    train, state = trainers.by_name(config.model), folder / TRAINING
    nothing = Descriptors("none", np.zeros((len(samples), 0), np.float32))
    note = Note(
        "warning", "training", f"{in_words(config.model)}: out of memory, so batches were halved: {parts} parts each"
    )
    runs = []
    for model in ticket.models:
        asked = dataclasses.replace(config, model=model)
        run = train(samples, ticket.plan, nothing, asked, progress=tell, state=state)  # type: ignore[call-arg]
        notes = (*run.notes, note) if parts else run.notes
        own = dataclasses.replace(ticket.config, model=model)
        seconds = 0.0 if model.endswith(BEST) else run.seconds
        runs.append(dataclasses.replace(run, config=own, notes=notes, seconds=seconds))
        if _first():
            save(folder / (BEST_RUN if model.endswith(BEST) else RUN), runs[-1])
    return runs[0]


def _first() -> bool:
    """Whether this is the process that writes, where several work on one training."""
    return os.environ.get("RANK", "0") == "0"


def _fail(folder: Path, kind: str, reason: str) -> None:
    sys.stderr.write(f"{reason}\n")
    if _first():
        result = {"status": "failed", "kind": kind, "reason": reason, "seconds": 0.0, "peak_memory": peak_memory()}
        write_json(folder / OUTCOME, result)


def _progress(said: int) -> Callable[[int, int, str], None]:
    before, spoke = "", 0.0

    def tell(done: int, total: int, label: str) -> None:
        nonlocal before, spoke
        now = time.monotonic()
        if _first() and (label != before or done == total or now - spoke > SAY_EVERY):
            before, spoke = label, now
            os.write(said, (json.dumps([done, total, label]) + "\n").encode())

    return tell


def _die_with_parent() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1 << 12):  # not sys.stdin: its lock would be held when the interpreter ends
            pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--trial" in sys.argv[2:]))
