"""What is kept of a recorded audit beside its marks: the panel's value, the whole report, and when it was written."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..model import SCHEMA, AuditReport
from ..store import from_bytes, to_bytes
from .root import root

AUDIT = "hsd_audit"
RUNS = {what: f"hsd_{what}" for what in ("audit", "repair", "labels", "controls", "training")}
"""What is recorded -> its custom run."""
REPORT = "hsd_report"
"""A custom run of its own for the whole report: it is large, and a panel never reads it."""
MOST_KEPT = 8
_OVERVIEWS: dict[tuple[str, ...], Mapping[str, Any]] = {}


def now(dataset: Any) -> dict[str, Any]:
    """When marks were finished, in which dataset, and how many samples it then held: what "stale" is measured against.

    A clone of the dataset holds a copy of the record, but not its id.
    """
    total = dataset._sample_collection.estimated_document_count()
    return {"written": datetime.now(UTC).isoformat(), "total": total, "dataset": str(dataset._doc.id)}


def renew(dataset: Any, **more: Any) -> None:
    """Count changes from now on, after marks of ours moved the time stamps; `more` is kept in the record.

    The number of samples stays that of the audit.
    """
    if done(dataset):
        config = vars(dataset.get_run_info(AUDIT).config)
        names = ("schema", "status", "fields", "tags", "views", "evaluations", "arranged", "total", "dataset")
        values = {k: config[k] for k in names if k in config} | more
        dataset.update_run_config(AUDIT, dataset.init_run(**values, written=datetime.now(UTC).isoformat()))


def keep_report(dataset: Any, report: AuditReport) -> None:
    """Keep the whole report of the recorded audit."""
    forget_report(dataset)
    dataset.register_run(REPORT, dataset.init_run(schema=SCHEMA))
    kept = base64.b64encode(to_bytes(report)).decode("ascii")
    dataset.save_run_results(REPORT, dataset.init_run_results(REPORT, report=kept), cache=False)


def forget_report(dataset: Any) -> None:
    """Drop the kept report, if there is one."""
    if dataset.has_run(REPORT):
        dataset.delete_run(REPORT)


def stored_report(view: Any) -> AuditReport | None:
    """The whole report of the recorded audit, None if there is none.

    Raises:
        StoreError: it was written by another version, or is damaged.
    """
    dataset = root(view)
    if not done(dataset) or not dataset.has_run(REPORT):
        return None
    return from_bytes(base64.b64decode(dataset.load_run_results(REPORT, cache=False).report), AuditReport)


def stored_overview(view: Any) -> Mapping[str, Any] | None:
    """What a panel shows of the recorded audit (see overview.py), None if there is none. Read once for each audit.

    What other verbs recorded is under their names: "repair", "labels", "controls", "training".
    """
    dataset = root(view)
    if not done(dataset):
        return None
    return {**_read(dataset, AUDIT), **stored_findings(dataset)}


def stored_findings(view: Any) -> dict[str, Mapping[str, Any]]:
    """What a panel shows of the verbs beside the audit, under their names; with or without an audit."""
    dataset = root(view)
    value: dict[str, Mapping[str, Any]] = {}
    for what, run in RUNS.items():
        if run == AUDIT or not dataset.has_run(run):
            continue
        config = dataset.get_run_info(run).config
        if hasattr(config, "written"):
            value[what] = {**_read(dataset, run), "views": list(config.views)}
    return value


def _read(dataset: Any, run: str) -> Mapping[str, Any]:
    key = (str(dataset._doc.id), run, str(dataset.get_run_info(run).config.written))
    if key not in _OVERVIEWS:
        while len(_OVERVIEWS) >= MOST_KEPT:
            _OVERVIEWS.pop(next(iter(_OVERVIEWS)))
        kept = getattr(dataset.load_run_results(run, cache=False), "overview", None)
        _OVERVIEWS[key] = {} if kept is None else unpacked(kept)
    return _OVERVIEWS[key]


def done(dataset: Any) -> bool:
    """Whether an audit is recorded and was written to its end, by a version that kept the time."""
    return bool(dataset.has_run(AUDIT)) and hasattr(dataset.get_run_info(AUDIT).config, "written")


def recorded(view: Any) -> list[str]:
    """What is recorded in a dataset, as keys of `RUNS`."""
    dataset = root(view)
    return [what for what, run in RUNS.items() if dataset.has_run(run)]


def packed(value: Any) -> str:
    """JSON, compressed, as text."""
    return base64.b64encode(zlib.compress(json.dumps(value).encode("ascii"), 6)).decode("ascii")


def unpacked(text: str) -> Any:
    """Back from `packed`."""
    return json.loads(zlib.decompress(base64.b64decode(text)))
