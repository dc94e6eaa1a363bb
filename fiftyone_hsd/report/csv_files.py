"""The CSV files of a report.

UTF-8 with `\\n` line ends; bytes of a file name that are no UTF-8 are written back as they were (surrogateescape).
Ids and labels are never altered, not even one that a spreadsheet would run as a formula (`=`, `+`, `-`, `@` first):
changing them would break every join. Import such files as text. Booleans are true and false; an empty cell means none
or not evaluated.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..exposing import exposing
from ..grouping._chains import strength
from ..model import TRAIN, AuditReport, Exposure, Samples
from ..store import atomic
from .lookup import EXISTING, pairs_of, primary

SAMPLES = "path,label,group,split,exposed,mates_in_train,nearest_train,nearest_similarity,failure"
LINKS = "path_a,path_b,source,score,rule,accepted"
GROUPS = "path,group,evidence,confidence"
SPLIT = "path,label,group,partition"
ALL_SPLITS = "path,condition,seed,partition"
EXPOSURE = "path,condition,seed,exposed,mates_in_train,nearest_train,nearest_similarity"
EXPOSING = "path,condition,seed,train,evidence,through,weakest,similarity,mates_in_train"
EFFECTS = "what,model,condition,seed,partition,class,metric,estimate,low,high,p,n,method"
CONTROLS = f"{EFFECTS},control,variant,chance"
LABEL_ISSUES = (
    "path,model,label,group,issue,likely,mechanism,suggested,score,by_group,by_random,score_group,score_random"
)
RUNS = (
    "model,condition,seed,status,seconds,peak_memory,digest,train_seed,options,n_train,n_predicted,plan,versions,notes"
)

_SPECIAL = re.compile(r'[",\r\n]')
_OBJECT_ID = re.compile(r"[0-9a-f]{24}")
_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def write_csv_files(report: AuditReport, out: Path) -> dict[str, str]:
    """Write them all, each whole or not at all.

    Returns:
        file name relative to `out` -> SHA-256 (hex) of its bytes.

    Raises:
        StoreError: a file cannot be written.
    """
    columns = _Columns(report)
    files: dict[str, Iterable[str]] = {
        "samples.csv": columns.samples(),
        "links.csv": columns.links(),
        "groups.csv": columns.groups(),
        "exposure.csv": columns.exposures(),
        "exposing.csv": columns.exposing(),
        "effects.csv": _effects(report),
        "runs.csv": _runs(report),
    }
    for condition, name in split_files(report).items():
        files[name] = columns.split(condition)
    if report.plans:
        files["splits/all.csv"] = columns.all_splits()
    if report.control_results:
        files["controls.csv"] = _controls(report)
    if report.label_results:
        files["label_issues.csv"] = columns.label_issues()
    return {name: _write(out / name, chunks) for name, chunks in files.items()}


def split_files(report: AuditReport) -> dict[str, str]:
    """Condition -> file of its primary seed; a condition whose name is no safe file name gets a hash behind it."""
    names = {}
    for condition in dict.fromkeys(p.condition for p in report.plans):
        safe = re.sub(r"[^A-Za-z0-9_.-]", "_", condition).lstrip(".")[:80]
        if safe != condition or safe == "all":
            safe += "-" + hashlib.sha256(condition.encode("utf-8", "backslashreplace")).hexdigest()[:8]
        names[condition] = f"splits/{safe}.csv"
    return names


def sample_paths(report: AuditReport) -> tuple[str, ...]:
    """What the `path` column holds: the id, or for FiftyOne samples the path relative to the common root."""
    return paths_of(report.samples)


def paths_of(samples: Samples) -> tuple[str, ...]:
    """The same for samples without a report."""
    if len(samples) and all(_OBJECT_ID.fullmatch(i) for i in samples.ids):
        names = samples.names
        if len(set(names)) == len(names):
            return names
    return samples.ids


def cell(value: object) -> str:
    """One value as CSV text: quoted where needed, floats with 10 significant digits, None and nan empty."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else f"{float(value):.10g}"
    text = str(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _SPECIAL.search(text) else text


def encoded(text: str) -> bytes:
    """UTF-8; undecodable bytes of a name come back as they were, other lone surrogates as `\\udXXX`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _LONE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode("utf-8", "surrogateescape")


def as_written(text: str) -> str:
    """Text as it comes back from a file: `encoded`, read again."""
    return encoded(text).decode("utf-8", "surrogateescape")


def _write(path: Path, chunks: Iterable[str]) -> str:
    digest = hashlib.sha256()

    def put(file: IO[bytes], text: str) -> None:
        data = encoded(text)
        digest.update(data)
        file.write(data)

    with atomic(path) as file:
        for chunk in chunks:
            put(file, chunk)
    return digest.hexdigest()


def _lines(columns: Sequence[Iterable[str]]) -> str:
    """Rows of finished cells as one text."""
    text = "\n".join(map(",".join, zip(*columns, strict=True)))
    return text + "\n" if text else ""


def _spread(values: NDArray[Any], write: Callable[[Any], str] = cell) -> list[str]:
    """Cells of a column with few distinct values: each is written once."""
    different, index = np.unique(values, return_inverse=True)
    words = [write(v) for v in different.tolist()]
    return [words[i] for i in index.tolist()]


def _similarity(values: NDArray[np.float32]) -> list[str]:
    return ["" if v != v else f"{v:.6f}" for v in values.tolist()]


class _Columns:
    """Cells that several files share, written once."""

    def __init__(self, report: AuditReport) -> None:
        self.report = report
        samples = report.samples
        self.path = [cell(p) for p in sample_paths(report)]
        names = ["", *map(cell, samples.classes)]
        self.label = [names[i + 1] for i in samples.labels.tolist()]
        self.group = report.grouping.group_ids(samples.ids)

    def samples(self) -> Iterator[str]:
        report, n = self.report, len(self.report.samples)
        empty = [""] * n
        existing = primary(report, EXISTING)
        tail = [empty] * 4 if existing is None else self._exposure(existing[1], np.arange(n))
        yield f"{SAMPLES}\n"
        yield _lines([self.path, self.label, self.group, _spread(report.samples.split), *tail, empty])
        yield "".join(f"{cell(i)},,,,,,,,{cell(reason)}\n" for i, _, reason in report.failures)

    def _exposure(self, exposure: Exposure, rows: NDArray[np.int64]) -> list[list[str]]:
        """The cells exposed, mates_in_train, nearest_train and nearest_similarity of some rows."""
        said = exposure.exposed[rows] + np.where(exposure.evaluated[rows], 1, 0)
        words = ("", "false", "true")
        return [
            [words[i] for i in said.tolist()],
            _spread(exposure.mates_in_train[rows]),
            ["" if i < 0 else self.path[i] for i in exposure.nearest_train[rows].tolist()],
            _similarity(exposure.nearest_similarity[rows]),
        ]

    def links(self) -> Iterator[str]:
        links = self.report.grouping.links
        yield f"{LINKS}\n"
        yield _lines(
            [
                [self.path[i] for i in links.a.tolist()],
                [self.path[i] for i in links.b.tolist()],
                _spread(links.source),
                _spread(links.score),
                _spread(links.rule),
                ["true" if v else "false" for v in links.accepted.tolist()],
            ]
        )

    def groups(self) -> Iterator[str]:
        evidence, confidence = group_evidence(self.report)
        codes = self.report.grouping.codes.tolist()
        yield f"{GROUPS}\n"
        yield _lines(
            [
                self.path,
                self.group,
                [evidence[c] if c >= 0 else "" for c in codes],
                [confidence[c] if c >= 0 else "" for c in codes],
            ]
        )

    def label_issues(self) -> Iterator[str]:
        """Every labelled image: likely errors first, then other suspicions, the least believed label first."""
        yield f"{LABEL_ISSUES}\n"
        names = [*map(cell, self.report.samples.classes), ""]
        for issues in self.report.label_results:
            rows = np.flatnonzero(self.report.samples.labels >= 0)
            rows = rows[np.lexsort((issues.score[rows], ~issues.flagged[rows], ~issues.likely[rows]))]
            at = rows.tolist()
            yield _lines(
                [
                    [self.path[i] for i in at],
                    [cell(issues.model)] * len(at),
                    [self.label[i] for i in at],
                    [self.group[i] for i in at],
                    _spread(issues.flagged[rows]),
                    _spread(issues.likely[rows]),
                    _spread(issues.mechanism[rows]),
                    [names[c] for c in issues.suggested[rows].tolist()],
                    [cell(v) for v in issues.score[rows].tolist()],
                    _spread(issues.by_group[rows]),
                    _spread(issues.by_random[rows]),
                    [cell(v) for v in issues.score_group[rows].tolist()],
                    [cell(v) for v in issues.score_random[rows].tolist()],
                ]
            )

    def split(self, condition: str) -> Iterator[str]:
        found = primary(self.report, condition)
        assert found is not None  # noqa: S101 - the condition comes from the plans
        yield f"{SPLIT}\n"
        yield _lines([self.path, self.label, self.group, _spread(found[0].partition)])

    def all_splits(self) -> Iterator[str]:
        yield f"{ALL_SPLITS}\n"
        for plan in self.report.plans:
            head = [f"{cell(plan.condition)},{plan.seed}"] * len(self.path)
            yield _lines([self.path, head, _spread(plan.partition)])

    def exposures(self) -> Iterator[str]:
        """Samples outside train and unused; the others have no exposure to speak of."""
        yield f"{EXPOSURE}\n"
        for plan, exposure in zip(self.report.plans, self.report.exposures, strict=True):
            rows = np.flatnonzero(exposure.evaluated)
            head = f"{cell(plan.condition)},{plan.seed}"
            yield _lines([[self.path[i] for i in rows.tolist()], [head] * len(rows), *self._exposure(exposure, rows)])

    def exposing(self) -> Iterator[str]:
        """Exposed samples of the primary plans with the train samples that expose them, nearest along the links first.

        The similarity is known of the most similar train sample only. `mates_in_train` counts all, listed or not.
        """
        yield f"{EXPOSING}\n"
        for condition in split_files(self.report):
            found = primary(self.report, condition)
            assert found is not None  # noqa: S101 - the condition comes from the plans
            plan, exposure = found
            if not exposure.exposed.any():
                continue
            pairs = exposing(plan, self.report.grouping)
            near = exposure.nearest_train[pairs.sample] == pairs.train
            cosine = np.where(near, exposure.nearest_similarity[pairs.sample], np.float32("nan"))
            yield _lines(
                [
                    [self.path[i] for i in pairs.sample.tolist()],
                    [f"{cell(condition)},{plan.seed}"] * len(pairs),
                    [self.path[i] for i in pairs.train.tolist()],
                    _spread(pairs.evidence),
                    ["" if t < 0 else str(t) for t in pairs.through.tolist()],
                    [cell(w) for w in pairs.weakest.tolist()],
                    _similarity(cosine),
                    _spread(exposure.mates_in_train[pairs.sample]),
                ]
            )


def group_evidence(report: AuditReport) -> tuple[list[str], list[str]]:
    """For each group: its sources joined by +, and the weakest link that holds it together; "" without links."""
    grouping = report.grouping
    links = grouping.links
    rows = np.flatnonzero(links.accepted & (grouping.codes[links.a] == grouping.codes[links.b]))
    code = grouping.codes[links.a[rows]]
    rows, code = rows[code >= 0], code[code >= 0]
    found = strength(grouping)
    weakest = np.where(found.weakest_link < 0, np.inf, found.weakest)
    names, number = np.unique(links.source[rows], return_inverse=True)
    sources: list[list[str]] = [[] for _ in range(grouping.n_groups)]
    for c, k in zip(*pairs_of(code, number), strict=True):
        sources[c].append(str(names[k]))
    return [cell("+".join(s)) for s in sources], ["" if np.isinf(w) else cell(w) for w in weakest.tolist()]


def _effect_cells(e: Any) -> list[str]:
    values = (e.what, e.model, e.condition, e.seed, e.partition, e.class_name, e.metric)
    return [cell(v) for v in (*values, float(e.estimate), float(e.low), float(e.high), float(e.p), e.n, e.method)]


def _effects(report: AuditReport) -> Iterator[str]:
    yield f"{EFFECTS}\n"
    for e in report.effects:
        yield ",".join(_effect_cells(e)) + "\n"


def _controls(report: AuditReport) -> Iterator[str]:
    yield f"{CONTROLS}\n"
    for c in report.control_results:
        yield ",".join([*_effect_cells(c.effect), cell(c.control), cell(c.variant), cell(float(c.chance))]) + "\n"


def _runs(report: AuditReport) -> Iterator[str]:
    plans = {(p.condition, p.seed): p for p in report.plans}
    labelled = report.samples.labels >= 0
    records = {(r.model, r.condition, r.seed): r for r in report.run_records}
    yield f"{RUNS}\n"
    for run in report.runs:
        plan, name = plans.get((run.condition, run.seed)), (run.config.model, run.condition, run.seed)
        record = records.pop(name, None)
        values = (
            *name,
            "done",
            float(run.seconds),
            None if record is None else record.peak_memory,
            "" if record is None else record.digest,
            run.config.seed,
            json.dumps(dict(run.config.options), sort_keys=True),
            None if plan is None else int(((plan.partition == TRAIN) & labelled).sum()),
            len(run.rows),
            None if plan is None else plan.digest,
            json.dumps(dict(run.versions), sort_keys=True),
            "; ".join(n.text for n in run.notes),
        )
        yield ",".join(cell(v) for v in values) + "\n"
    for r in records.values():  # runs of a grid without a result
        head = (r.model, r.condition, r.seed, r.status, r.seconds, r.peak_memory, r.digest)
        yield ",".join(cell(v) for v in (*head, *[None] * 6, r.reason)) + "\n"
