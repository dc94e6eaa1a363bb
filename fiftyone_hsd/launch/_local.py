"""One training in a process of its own on this machine, tried again where that can help."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..model import TrainConfig
from ..progress import Progress
from ..store import load
from ..trainers._recipes import halved, recipe
from ._folders import OUTCOME, OUTPUT, TICKET, Ticket, accumulated, finished, halve, outcome, with_parts, write_json

PACKAGE = Path(__file__).parents[2]
KILLED_TWICE = 2
LOCK = "lock"


def train_in(folder: Path, processes: int, tell: Progress) -> dict[str, Any]:
    """Run the training of a prepared folder to its end.

    Out of memory: once more with each batch in twice as many parts. Killed by somebody else: once more, from the last
    checkpoint.

    Somebody else at work in the same folder is waited for; what they finished is not done again.

    Returns:
        the outcome, also written to the folder: status, reason, kind, seconds, peak_memory.
    """
    with _alone(folder):
        ticket = load(folder / TICKET, Ticket)
        return outcome(folder) if finished(folder, ticket) is not None else _attempts(folder, ticket, processes, tell)


def _attempts(folder: Path, ticket: Ticket, processes: int, tell: Progress) -> dict[str, Any]:
    for attempt in range(1, KILLED_TWICE + 1):
        (folder / OUTCOME).unlink(missing_ok=True)
        kills = _kills_for_memory()
        code = _run(folder, processes, tell)
        result = outcome(folder) or _unsaid(folder, code, _kills_for_memory() > kills)
        if result["status"] == "done" or attempt == KILLED_TWICE:
            break
        smaller = halved(with_parts(ticket.config, accumulated(folder)))
        if result.get("kind") == "memory" and smaller is not None and not accumulated(folder):
            halve(folder, _parts(smaller))
        elif result.get("kind") != "killed":
            break
    if accumulated(folder) and result["status"] == "failed":
        result["reason"] += f" (also with batches in {accumulated(folder)} parts)"
    elif accumulated(folder):
        result["reason"] = f"out of memory at first; batches were halved to {accumulated(folder)} parts each"
    write_json(folder / OUTCOME, result)
    return result


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process trains in this folder meanwhile, where the system has locks of files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / LOCK).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def trial_in(folder: Path) -> dict[str, float] | str:
    """What a short trial of a prepared folder measured: steps, start, train, predict (seconds) and peak_memory (bytes);
    or why it could not be tried."""
    with _started(folder, 1, "--trial") as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        text = process.stdout.read().decode()
    try:
        return dict(json.loads(text))
    except ValueError:
        return _last_words(folder) or f"it ended with code {process.returncode}"


def _parts(config: TrainConfig) -> int:
    return recipe(config).accumulate


def _run(folder: Path, processes: int, tell: Progress) -> int:
    with _started(folder, processes) as process:
        try:
            for line in _lines(process):
                tell(*line)
        except BaseException:
            process.kill()
            raise
    return process.returncode


def _lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[int, int, str]]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    for line in process.stdout:
        try:
            done, total, label = json.loads(line)
        except ValueError:
            continue
        yield int(done), int(total), str(label)


def _started(folder: Path, processes: int, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m"]
    if processes > 1:
        command += ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m"]
    path = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH", ""))))
    with (folder / OUTPUT).open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*command, "fiftyone_hsd.launch._child", str(folder), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env={**os.environ, "PYTHONPATH": path},
        )


def _unsaid(folder: Path, code: int, for_memory: bool) -> dict[str, Any]:
    """The outcome of a process that could not say it."""
    words = _last_words(folder)
    if for_memory or any(sign in words.lower() for sign in ("bad_alloc", "allocate memory", "out of memory")):
        kind, reason = "memory", words if not for_memory else "the system stopped it because memory ran out"
    elif code < 0:
        kind, reason = "killed", f"it was stopped by {signal.Signals(-code).name}"
    else:
        kind, reason = "error", words or f"it ended with code {code}"
    return {"status": "failed", "kind": kind, "reason": reason, "seconds": 0.0, "peak_memory": None}


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / OUTPUT).read_text("utf-8", "backslashreplace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


def _kills_for_memory() -> int:
    """How often Linux has killed a process because memory ran out: of the machine, and of this container."""
    total = 0
    for path in ("/proc/vmstat", "/sys/fs/cgroup/memory.events"):
        try:
            words = Path(path).read_text().split()
        except OSError:
            continue
        total += sum(int(n) for k, n in itertools.pairwise(words) if k == "oom_kill")
    return total
