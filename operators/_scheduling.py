"""Whether somebody works off what is scheduled, and what a form says about it.

Open-source FiftyOne records no worker: `fiftyone delegated launch` only asks the database for queued operations. So a
worker is known by its process on this machine, or by what another machine's worker started a short while ago.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from fiftyone.operators import types

RUNS, UNSEEN, OFF = "runs", "unseen", "off"
WORDS = {
    RUNS: "A worker runs here: Schedule hands the work to it and is the default; Execute does it in the App's server",
    UNSEEN: "No worker was seen: Execute does the work in the App's server, and what is scheduled waits until "
    "`fiftyone delegated launch` runs",
    OFF: "This runs in the App's server while this page is open. To schedule it instead, set "
    "FIFTYONE_ALLOW_LEGACY_ORCHESTRATORS=true for the App and run `fiftyone delegated launch`",
}
DATABASE = ("FIFTYONE_DATABASE_URI", "FIFTYONE_DATABASE_NAME", "FIFTYONE_DATABASE_DIR")
RECENT, PATIENCE = timedelta(minutes=15), timedelta(minutes=1)
"""A worker that started something so recently still counts, unless something else has waited so long."""
KEPT = 5.0
"""Seconds for which an answer is kept: a form asks at every key stroke."""
_LAST = [float("-inf"), OFF]


def service():
    """RUNS, UNSEEN or OFF (this FiftyOne lets nobody schedule)."""
    import fiftyone as fo

    if not fo.config.allow_legacy_orchestrators:
        return OFF
    if time.monotonic() - _LAST[0] > KEPT:
        _LAST[:] = [time.monotonic(), RUNS if _process() or _started() else UNSEEN]
    return _LAST[1]


def notice(inputs):
    """What happens to this work, at the end of a form."""
    inputs.view("scheduling", types.Notice(label=WORDS[service()]))


def _process():
    """Whether a worker of this database runs on this machine."""
    import psutil

    ours = [os.environ.get(name) for name in DATABASE]
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if ("delegated", "launch") not in pairwise(words):
            continue
        try:
            theirs = process.environ()
        except (psutil.Error, OSError):
            continue
        if [theirs.get(name) for name in DATABASE] == ours:
            return True
    return False


def _started():
    """Whether a worker anywhere started an operation of this database a short while ago and none waits since."""
    from fiftyone.core.odm.database import get_db_conn

    now, operations = datetime.now(UTC).replace(tzinfo=None), get_db_conn()["delegated_ops"]
    waiting = {"run_state": "queued", "queued_at": {"$lt": now - PATIENCE}}
    return operations.count_documents({"started_at": {"$gt": now - RECENT}}, limit=1) > 0 and not (
        operations.count_documents(waiting, limit=1)
    )
