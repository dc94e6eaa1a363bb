"""What is going on with a dataset: nothing yet, an audit at work, one that failed, one that is stored, a stale one.

A run that works on a dataset says so in that dataset's execution store, so that a panel in another process sees it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ..progress import Progress
from .keeping import AUDIT, done, renew
from .root import root

STORE, KEY, STOP = "hsd", "run", "stop"
EVERY = 2.0
"""Seconds between two signs of life."""
SILENT = 90.0
"""Seconds without a sign of life after which a run counts as interrupted."""
COPY = "this is a copy of an audited dataset: run HSD: audit"


class Stopped(KeyboardInterrupt):
    """Somebody asked the run to stop. Not an Exception, so that no progress guard swallows it."""


Kind = Literal["none", "running", "failed", "interrupted", "unfinished", "stored"]


@dataclass(frozen=True)
class Status:
    """What a panel has to say before any number.

    Attributes:
        kind: none = no audit yet; unfinished = marks of a write that was cut short; stored = there is one to show.
        words: what happens or happened, in one sentence ("" if there is nothing to add).
        share: of the present step, None = unknown.
    """

    kind: Kind
    words: str = ""
    share: float | None = None


@contextlib.contextmanager
def running(view: Any, what: str, progress: Progress | None = None) -> Iterator[Progress]:
    """While the block runs the dataset's status is "running"; an error leaves "failed" with its words.

    Yields:
        a progress function that also keeps the status up to date, and raises `Stopped` after `ask_to_stop`.
    """
    store = _store(root(view))
    store.delete(STOP)
    since, last = time.time(), [0.0]

    def tell(done: int, total: int, label: str) -> None:
        if time.monotonic() - last[0] > EVERY:
            last[0] = time.monotonic()
            if store.get(STOP) is not None:
                raise Stopped("it was stopped, as somebody asked")
            share = min(1.0, done / total) if total else None
            step = f"{label}: {done:,} of {total:,}" if total else label
            said = {"state": "running", "what": what, "since": since, "beat": time.time(), "step": step}
            store.set(KEY, {**said, "share": share})
        if progress is not None:
            progress(done, total, label)

    tell(0, 0, "starting")
    try:
        yield tell
    except BaseException as error:
        stopped = not isinstance(error, Exception)
        words = "it was stopped" if stopped and not str(error) else str(error) or type(error).__name__
        store.set(KEY, {"state": "failed", "what": what, "since": since, "beat": time.time(), "step": words})
        raise
    store.delete(KEY)


def ask_to_stop(view: Any) -> bool:
    """Ask what is running on a dataset to stop, in whatever process it is; whether anything runs.

    It ends within a few seconds; what it had finished is kept.
    """
    dataset = root(view)
    runs = is_running(dataset)
    if runs:
        _store(dataset).set(STOP, {"since": time.time()})
    return runs


def is_running(view: Any) -> bool:
    """Whether a run that works on a dataset has given a sign of life lately."""
    said = _store(root(view)).get(KEY)
    return said is not None and said["state"] == "running" and time.time() - float(said["beat"]) < SILENT


def status(view: Any) -> Status:
    """The status of a dataset; cheap enough for every redraw of a panel."""
    dataset = root(view)
    said = _store(dataset).get(KEY)
    there, complete = dataset.has_run(AUDIT), done(dataset)
    if said is not None and said["state"] == "running":
        silent = time.time() - float(said["beat"])
        if silent < SILENT:
            return Status("running", f"{said['what']} is running. {said['step']}", said.get("share"))
        words = f"{said['what']} was interrupted: no sign of life for {silent / 60:.0f} minutes. Last: {said['step']}"
        return Status("stored" if complete else "interrupted", words)
    if said is not None:
        return Status("stored" if complete else "failed", f"{said['what']} failed: {said['step']}")
    if not there:
        return Status("none")
    return Status("stored") if complete else Status("unfinished", "an audit was cut short while it wrote its marks")


def forget_failure(view: Any) -> None:
    """Drop what is remembered of a run that failed."""
    _store(root(view)).delete(KEY)


def changed_since(view: Any) -> str:
    """How the dataset differs from the one that was audited, in words; "" if nothing changed, or no audit is there.

    Only the audit's own record counts: what other verbs wrote later says nothing about changes before it.
    """
    dataset = root(view)
    if not done(dataset):
        return ""
    config = dataset.get_run_info(AUDIT).config
    key = str(dataset._doc.id)
    if getattr(config, "dataset", key) != key:
        return COPY
    since = datetime.fromisoformat(config.written).astimezone(UTC).replace(tzinfo=None)
    samples = dataset._sample_collection
    later = {"$gt": since}
    added = samples.count_documents({"created_at": later})
    changed = samples.count_documents({"last_modified_at": later, "created_at": {"$lte": since}})
    removed = int(config.total) + added - samples.estimated_document_count()
    gone = len(set(config.fields) - set(dataset.get_field_schema()))
    words = ("added", "removed", "changed (labels, tags or other fields)", "of its fields deleted")
    counts = zip((added, removed, changed, gone), words, strict=True)
    return ", ".join(f"{n:,} {word}" for n, word in counts if n > 0)


def stale(view: Any) -> str:
    """`changed_since` as a sentence of its own, "" if nothing changed."""
    changes = changed_since(view)
    if not changes:
        return ""
    return f"Stale: {changes}" if changes == COPY else f"Stale: since the audit of this dataset {changes}"


@contextlib.contextmanager
def unnoticed(dataset: Any) -> Iterator[None]:
    """Marks of ours that the block writes are no change since the audit; what changed before it stays a change."""
    unchanged = done(dataset) and not changed_since(dataset)
    try:
        yield
    finally:
        if unchanged:
            renew(dataset)


def _store(dataset: Any) -> Any:
    from fiftyone.operators.store import ExecutionStore

    return ExecutionStore.create(STORE, dataset_id=dataset._doc.id)
