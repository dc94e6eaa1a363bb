"""Trainings as tasks on a Ray cluster: a lost node costs only the trainings it worked on, and they are tried again.

The folder of a training may be on a disk that all nodes see; then a training that was lost goes on from its last
checkpoint. Where it is not, files travel with the task and back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError, MissingExtraError
from ..progress import Progress
from ..store import load
from ._folders import OUTCOME, TICKET, Ticket, folder_of, keep_results, results, samples_of, write_json
from ._local import PACKAGE, train_in

HERE = "local"
RETRIES = 3


def run_on_ray(root: Path, tickets: Sequence[Ticket], address: str, gpus: float, tell: Progress) -> None:
    """One task a training; all end, each with an outcome in its folder.

    Args:
        root: folder of all runs; the trainings in it are prepared.
        address: of a cluster, "auto" for one that runs on this machine, "local" to start one for the time being.
        gpus: GPUs a training, also a fraction; 0 = none.

    Raises:
        MissingExtraError: ray is not installed.
        InputError: there is no cluster at that address.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError(f"Ray is not installed ({error})", advice='pip install "fiftyone-hsd[ray]"') from error
    path = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH", ""))))
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(
                address=None if address == HERE else address,
                include_dashboard=False if address == HERE else None,
                log_to_driver=False,
                logging_level="ERROR",
                runtime_env={"env_vars": {"PYTHONPATH": path}},
            )
        except (ConnectionError, ValueError) as error:
            raise InputError(f"no Ray cluster at {address!r} ({error})", "an address, auto, or local") from error
    try:
        task = ray.remote(max_retries=RETRIES, num_cpus=1, num_gpus=gpus)(_task)
        shared = {t.data: ray.put(samples_of(folder_of(root, t), t).read_bytes()) for t in tickets}
        waiting = {}
        for ticket in tickets:
            folder = folder_of(root, ticket)
            files = {TICKET: (folder / TICKET).read_bytes()}
            waiting[task.remote(str(folder), files, shared[ticket.data])] = ticket
        _collect(ray, root, waiting, tell)
    finally:
        if ours:
            ray.shutdown()


def _collect(ray: Any, root: Path, waiting: dict[Any, Ticket], tell: Progress) -> None:
    total = len(waiting)
    while waiting:
        tell(total - len(waiting), total, f"training on Ray, {len(waiting)} left")
        for ref in ray.wait(list(waiting), num_returns=1)[0]:
            folder = folder_of(root, waiting.pop(ref))
            try:
                keep_results(folder, ray.get(ref))
            except ray.exceptions.RayError as error:
                reason = f"lost {RETRIES + 1} times on Ray: {str(error).strip().splitlines()[0][:200]}"
                write_json(folder / OUTCOME, {"status": "failed", "kind": "lost", "reason": reason})
    tell(total, total, "training on Ray")


def _task(place: str, files: dict[str, bytes], samples: bytes) -> dict[str, bytes]:
    """What a node does: the training of one folder, made here first if this node does not see it."""
    folder = Path(place)
    keep_results(folder, files)
    ticket = load(folder / TICKET, Ticket)
    shared = samples_of(folder, ticket)
    if not shared.exists():
        keep_results(shared.parent, {shared.name: samples})
    train_in(folder, 1, lambda *_: None)
    return results(folder)
