"""Verdicts of reviewers in a dataset, and the marks of the groups after them.

Each verdict is one entry of the dataset's execution store under a name of its own, so two people who judge at the same
time never overwrite each other, and an audit that is run again or undone leaves them where they are. The audit that is
kept stays as it was; the groups, sizes and exposure on the samples follow every verdict at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..exposure import exposure
from ..judging import Pair, regrouped
from ..model import DIFFERENT, SAME, AuditReport, Exposure, Grouping, Ints, Verdict
from .bulk import Record, alive, digests
from .keeping import AUDIT, done, stored_report, unpacked
from .marks import EXISTING, TAG, field_names, group_columns, primary
from .root import root
from .status import unnoticed

STORE, PATCHES = "hsd_verdicts", "hsd_verdict_digests"
ITSELF = "__store__"
"""The key under which FiftyOne keeps what it knows about a store itself."""
_REPORTS: dict[str, tuple[str, AuditReport]] = {}
_GROUPS: dict[tuple[int, tuple[Verdict, ...]], Grouping] = {}


@dataclass(frozen=True, eq=False)
class _State:
    """Groups and exposure after some verdicts."""

    grouping: Grouping
    exposures: tuple[Exposure, ...]


@dataclass(frozen=True)
class Since:
    """What verdicts changed since the audit: verdicts that contradict its groups, images whose marks were set anew."""

    verdicts: int
    images: int


def add_verdict(view: Any, a: str, b: str, verdict: str, author: str) -> int:
    """Keep one verdict and mark the groups that it changes; the number of samples whose marks changed.

    Raises:
        InputError: not a verdict, one sample twice, or no author.
    """
    dataset = root(view)
    before = verdicts(dataset)
    said = Verdict(a, b, verdict, author.strip() or "anonymous", datetime.now(UTC).isoformat())
    _keep(dataset, [said])
    return _follow(dataset, before, [*before, said])


def add_verdicts(view: Any, more: Iterable[Verdict]) -> int:
    """Keep verdicts from elsewhere (a file), each once; the number of samples whose marks changed."""
    dataset = root(view)
    before = verdicts(dataset)
    new = [v for v in dict.fromkeys(more) if v not in set(before)]
    _keep(dataset, new)
    return _follow(dataset, before, [*before, *new])


def _keep(dataset: Any, said: Iterable[Verdict]) -> None:
    store = _store(dataset, STORE)
    for one in said:
        store.set(uuid.uuid4().hex, asdict(one))


def verdicts(view: Any) -> list[Verdict]:
    """All verdicts of a dataset, by time."""
    found = [Verdict(**value) for value in _values(root(view), STORE)]
    return sorted(found, key=lambda v: (v.time, v.author, v.path_a, v.path_b))


def forget_verdicts(view: Any) -> None:
    """Drop all verdicts of a dataset."""
    dataset = root(view)
    before = verdicts(dataset)
    _store(dataset, STORE).clear()
    _follow(dataset, before, [])


def follow_verdicts(view: Any) -> int:
    """Mark the groups of a freshly written audit as the kept verdicts say; the number of samples that changed."""
    dataset = root(view)
    return _follow(dataset, [], verdicts(dataset))


def stored_queue(view: Any, *, there: bool = False) -> list[Pair]:
    """The pairs that the recorded audit puts up for judging.

    Args:
        there: only pairs whose samples are both still in the dataset.
    """
    dataset = root(view)
    if not done(dataset):
        return []
    found = [Pair(**p) for p in unpacked(dataset.load_run_results(AUDIT).queue)]
    ids = alive(dataset, {name for p in found for name in (p.a, p.b)}) if there else set()
    return [p for p in found if not there or {p.a, p.b} <= ids]


def waiting(view: Any, author: str | None = None) -> list[Pair]:
    """The pairs of the queue that this author (None: anybody) has not judged and whose samples are both there."""
    judged = {(v.path_a, v.path_b) for v in verdicts(view) if author in (None, v.author)}
    return [p for p in stored_queue(view, there=True) if (p.a, p.b) not in judged]


def patches(dataset: Any) -> Mapping[str, str]:
    """Sample id -> digest of its marks after the verdicts, for the samples whose marks they changed."""
    found: dict[str, str] = {}
    for value in sorted(_values(dataset, PATCHES), key=lambda v: v["time"]):
        found |= value["digests"]
    return found


def changed_by_verdicts(view: Any) -> Since:
    """What the verdicts changed since the recorded audit; reads what was kept at each change, not the report."""
    kept = sorted(_values(root(view), PATCHES), key=lambda v: v["time"])
    images = {name for value in kept for name in value["digests"]}
    return Since(int(kept[-1].get("against", 0)) if kept else 0, len(images))


def forget_patches(dataset: Any) -> None:
    """Drop the digests that belong to the recorded audit."""
    _store(dataset, PATCHES).clear()


def judged_report(view: Any) -> AuditReport | None:
    """The kept report, read once for each audit; None if there is none."""
    dataset = root(view)
    if not done(dataset):
        return None
    info = dataset.get_run_info(AUDIT)
    key, version = str(dataset._doc.id), str(info.timestamp)
    if _REPORTS.get(key, ("",))[0] != version:
        report = stored_report(dataset)
        if report is None:
            return None
        _GROUPS.clear()
        _REPORTS.clear()  # one at a time: a report of a large corpus takes much memory
        _REPORTS[key] = (version, report)
    return _REPORTS[key][1]


def groups_after(view: Any) -> Grouping | None:
    """The groups of the recorded audit after all verdicts."""
    report = judged_report(view)
    return None if report is None else _grouping(report, verdicts(view))


def _grouping(report: AuditReport, said: Sequence[Verdict]) -> Grouping:
    """The groups after some verdicts; those of the last two questions are kept."""
    if not said:
        return report.grouping
    key = (id(report), tuple(said))
    if key not in _GROUPS:
        while len(_GROUPS) >= 2:
            _GROUPS.pop(next(iter(_GROUPS)))
        _GROUPS[key] = regrouped(report.samples.ids, report.grouping, said)
    return _GROUPS[key]


def _follow(dataset: Any, before: Sequence[Verdict], after: Sequence[Verdict]) -> int:
    report = judged_report(dataset)
    if report is None:
        return 0
    old, new = _state(report, before), _state(report, after)
    rows = _touched(report, old.grouping, new.grouping, set(before) ^ set(after))
    ids = [report.samples.ids[r] for r in rows.tolist()]
    was, now = (_columns(state.grouping, rows, ids) for state in (old, new))
    changed = np.array([now[name] != was[name] for name in now]).any(0) if len(rows) else np.zeros(0, bool)
    for one, other in zip(old.exposures, new.exposures, strict=True):
        changed |= (one.exposed != other.exposed)[rows] | (one.mates_in_train != other.mates_in_train)[rows]
    if changed.any():
        columns = {name: values[changed].tolist() for name, values in now.items()}
        with unnoticed(dataset):
            _write(dataset, report, new, rows[changed], columns, _against(report, after))
    return int(changed.sum())


def _state(report: AuditReport, said: Sequence[Verdict]) -> _State:
    grouping = _grouping(report, said)
    return _State(grouping, tuple(exposure(plan, grouping) for plan, _ in primary(report)))


def _against(report: AuditReport, said: Sequence[Verdict]) -> int:
    """How many verdicts contradict the groups of the audit."""
    named = {name for v in said for name in (v.path_a, v.path_b)}
    codes = dict(zip(report.samples.ids, report.grouping.codes.tolist(), strict=True))
    code = {name: codes[name] for name in named if name in codes}
    wrong = {SAME: lambda a, b: a != b, DIFFERENT: lambda a, b: a == b}
    known = (v for v in said if v.verdict in wrong and v.path_a in code and v.path_b in code)
    return sum(wrong[v.verdict](code[v.path_a], code[v.path_b]) for v in known)


def _touched(report: AuditReport, old: Grouping, new: Grouping, said: Iterable[Verdict]) -> Ints:
    """Rows of the groups, before and after, of the samples that some verdicts are about: no other group can change."""
    names = {name for v in said for name in (v.path_a, v.path_b)}
    seeds = [i for i, name in enumerate(report.samples.ids) if name in names]
    inside = np.isin(old.codes, old.codes[seeds]) | np.isin(new.codes, new.codes[seeds])
    return np.flatnonzero(inside).astype(np.int64)


def _columns(grouping: Grouping, rows: Ints, ids: Sequence[str]) -> dict[str, Any]:
    """The fields of the groups for some rows that hold whole groups: name -> (m,) object."""
    place = np.full(len(grouping), -1, np.int64)
    place[rows] = np.arange(len(rows))
    links = grouping.links
    links = links.take((place[links.a] >= 0) & (place[links.b] >= 0))
    part = Grouping(grouping.codes[rows], replace(links, a=place[links.a], b=place[links.b]))
    return {c.name: np.array(c.values, dtype=object) for c in group_columns(part, ids)}


def _write(
    dataset: Any, report: AuditReport, state: _State, rows: Ints, columns: Mapping[str, Sequence[Any]], against: int
) -> None:
    """Set groups (`columns`, one entry a row) and exposure of some samples anew, and keep their digests for undo."""
    from bson import ObjectId
    from pymongo import UpdateOne

    there = set(dataset.get_field_schema())
    stamp = datetime.now(UTC).replace(tzinfo=None)
    updates = []
    for place, row in enumerate(rows.tolist()):
        key = {"_id": ObjectId(report.samples.ids[row])}
        values: dict[str, Any] = {name: column[place] for name, column in columns.items()}
        gone, added = [], []
        for (plan, _), found in zip(primary(report), state.exposures, strict=True):
            names = field_names(plan.condition)
            if not found.evaluated[row]:
                continue
            exposed = bool(found.exposed[row])
            values[names["exposed"]] = exposed
            if plan.condition == EXISTING:
                values["hsd_mates_in_train"] = int(found.mates_in_train[row])
            words = ("exposed", "unexposed") if exposed else ("unexposed", "exposed")
            added.append(f"{TAG}{plan.condition}:{words[0]}")
            gone.append(f"{TAG}{plan.condition}:{words[1]}")
        kept = {k: v for k, v in values.items() if k in there}
        updates.append(UpdateOne(key, {"$set": {**kept, "last_modified_at": stamp}, "$pull": {"tags": {"$in": gone}}}))
        if added:
            updates.append(UpdateOne(key, {"$addToSet": {"tags": {"$each": added}}}))
    dataset._bulk_write(updates, ids=[report.samples.ids[r] for r in rows.tolist()])
    record = Record.from_json(vars(dataset.get_run_info(AUDIT).config))
    ids = [report.samples.ids[r] for r in rows.tolist()]
    value = {"time": datetime.now(UTC).isoformat(), "digests": digests(dataset, record, ids), "against": against}
    _store(dataset, PATCHES).set(f"{value['time']}:{uuid.uuid4().hex}", value)


def _store(dataset: Any, name: str) -> Any:
    from fiftyone.operators.store import ExecutionStore

    return ExecutionStore.create(name, dataset_id=dataset._doc.id)


def _values(dataset: Any, name: str) -> list[dict[str, Any]]:
    """All values of a store in one read."""
    from fiftyone.core.odm.database import get_db_conn
    from fiftyone.factory.repos.execution_store import MongoExecutionStoreRepo

    entries = get_db_conn()[MongoExecutionStoreRepo.COLLECTION_NAME]
    wanted = {"store_name": name, "dataset_id": dataset._doc.id, "key": {"$ne": ITSELF}}
    return [entry["value"] for entry in entries.find(wanted)]
