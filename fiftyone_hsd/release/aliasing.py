"""Ids and paths replaced by salted aliases, everywhere in a report.

An alias is `s` + 16 hex of HMAC-SHA256(key, path) and the suffix of an image file. Whoever has the key can follow it
from path to alias; whoever has the images can match them by the digests of their bytes; nobody else learns a name.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import hmac
import io
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..errors import StoreError
from ..images import IMAGE_SUFFIXES
from ..model import SCHEMA, AuditReport, Exposure, Grouping, Ints, Links, Run, Samples, SplitPlan
from ..report.csv_files import encoded, sample_paths
from ..store import atomic

KEY, MAP = Path(".hsd/alias_key.json"), Path(".hsd/aliases.csv")
HIDDEN = "(name)"
CORPUS, FILE = "corpus", "FILE"
ABSOLUTE = r"""(?<![\w/<.])(?:~|[A-Za-z]:)?/(?:[^\s/'",;<>|()]+/)+[^\s'",;<>|()]*"""
"""An absolute path of two or more parts inside a text, such as that of a weights file; it becomes FILE."""
SHORT = 5
"""Names below this length that hold no dot are not searched for in sentences: they would hit words and numbers."""


def alias_of(key: bytes, path: str) -> str:
    """The alias of one path."""
    digest = hmac.new(key, path.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    suffix = PurePosixPath(path).suffix.lower()
    return f"s{digest[:16]}{suffix if suffix in IMAGE_SUFFIXES else ''}"


def alias_key(out: Path) -> bytes:
    """The key of an audit folder, made at the first export; the same key gives the same aliases again.

    Raises:
        StoreError: the file is damaged or cannot be written.
    """
    path = out / KEY
    if not path.exists():
        with atomic(path) as file:
            file.write(json.dumps({"schema": SCHEMA, "key": secrets.token_hex(32)}).encode("ascii") + b"\n")
        path.chmod(0o600)
    return read_key(path)


def read_key(path: Path) -> bytes:
    """The key in a file that `alias_key` wrote.

    Raises:
        StoreError: there is none.
    """
    try:
        return bytes.fromhex(json.loads(path.read_text("ascii"))["key"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path} holds no alias key ({error})", f"the file {KEY} of the audit folder", "name that file"
        ) from error


def write_map(out: Path, paths: Sequence[str], aliases: Sequence[str]) -> None:
    """Alias and path of every sample, kept beside the audit and never exported."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("alias", "path"), *zip(aliases, paths, strict=True)])
    with atomic(out / MAP) as file:
        file.write(encoded(text.getvalue()))
    (out / MAP).chmod(0o600)


def renamed(report: AuditReport, names: Sequence[str], failed: Sequence[str]) -> AuditReport:
    """The report with other ids, its rows in order of these; digests of plans follow the new ids.

    Args:
        names: n unique names, one a sample.
        failed: names of the images that could not be used.
    """
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    ids = tuple(names[i] for i in order.tolist())
    links, samples = report.grouping.links, report.samples.take(order)
    ends = np.sort(np.c_[position[links.a], position[links.b]], axis=1)
    moved = Links(ends[:, 0], ends[:, 1], links.source, links.score, links.rule, links.accepted)
    return dataclasses.replace(
        report,
        samples=Samples(
            ids,
            samples.paths,
            samples.labels,
            samples.classes,
            samples.split,
            samples.metadata,
            samples.root,
            samples.notes,
        ),
        failures=tuple((n, path, why) for n, (_, path, why) in zip(failed, report.failures, strict=True)),
        scan=report.scan.take(order),
        grouping=Grouping(report.grouping.codes[order], moved, report.grouping.notes),
        plans=tuple(SplitPlan.of(p.condition, p.seed, p.partition[order], ids, p.notes) for p in report.plans),
        exposures=tuple(_exposure(e, order, position) for e in report.exposures),
        runs=tuple(_run(r, position) for r in report.runs),
        control_runs=tuple(_run(r, position) for r in report.control_runs),
        control_sheets=tuple(dataclasses.replace(s, rows=position[s.rows]) for s in report.control_sheets),
        label_results=tuple(_taken(issues, order) for issues in report.label_results),
    )


ORDERED = (
    [
        "samples",
        "failures",
        "scan",
        "grouping",
        "plans",
        "exposures",
        "runs",
        "control_runs",
        "control_sheets",
        "label_results",
    ],
    ["effects", "settings", "versions", "verdict", "notes", "control_results", "run_records"],
)
"""Fields of a report with rows of samples, which `renamed` brings into the new order; and those without."""


def _taken(noun: Any, order: Ints) -> Any:
    """A noun whose arrays have one row a sample, in another order of these; nouns inside it too."""

    def take(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[order]
        if isinstance(value, tuple):
            return tuple(_taken(v, order) if dataclasses.is_dataclass(v) else v for v in value)
        return value

    return dataclasses.replace(noun, **{f.name: take(getattr(noun, f.name)) for f in dataclasses.fields(noun)})


def _exposure(e: Exposure, order: Ints, position: Ints) -> Exposure:
    near = e.nearest_train[order]
    return Exposure(
        e.condition,
        e.seed,
        e.exposed[order],
        e.mates_in_train[order],
        np.where(near >= 0, position[near], -1) if len(position) else near,
        e.nearest_similarity[order],
        e.evaluated[order],
    )


def _run(run: Run, position: Ints) -> Run:
    rows = position[run.rows]
    order = np.argsort(rows)
    return dataclasses.replace(run, rows=rows[order], probabilities=run.probabilities[order])


def aliased(report: AuditReport, key: bytes) -> AuditReport:
    """The report with aliases for ids and paths, without metadata, and no name in any of its sentences.

    Class, partition and field names stay. Examples of notes, which are mostly names, go; what is left is searched for
    every id, path, file name and directory of the corpus. The files themselves stay readable (`samples.paths`).
    """
    paths = sample_paths(report)
    new = [alias_of(key, p) for p in paths]
    failed = [alias_of(key, i) for i, _, _ in report.failures]
    known = _known(report, paths, new, failed)
    plain = renamed(report, new, failed)
    samples = dataclasses.replace(plain.samples, metadata={}, root=CORPUS)
    plain = dataclasses.replace(plain, samples=samples, settings=_settings(report.settings))
    bare: AuditReport = _mapped(plain, lambda field, value: () if field == "examples" else value, _KEPT)
    texts = "\0".join(_texts(bare, _KEPT))
    hits = sorted((k for k in known if k in texts), key=len, reverse=True)
    pattern = re.compile("|".join([*map(re.escape, hits), ABSOLUTE]))

    def clean(_: str, value: Any) -> Any:
        return pattern.sub(lambda m: known.get(m[0], FILE), value) if isinstance(value, str) else value

    result: AuditReport = _mapped(bare, clean, _KEPT)
    return result


_KEPT = frozenset(
    ("ids", "paths", "classes", "split", "partition", "content", "pixels", "digest", "condition", "class_name")
)
"""Fields without sentences: replaced already, or names of classes and partitions, which stay."""


def _known(report: AuditReport, paths: Sequence[str], new: Sequence[str], failed: Sequence[str]) -> dict[str, str]:
    """What must not appear -> what stands for it."""
    samples = report.samples
    names: dict[str, str] = {}
    rows = [*zip(samples.ids, samples.paths, paths, new, strict=True)]
    rows += [(i, path, i, name) for (i, path, _), name in zip(report.failures, failed, strict=True)]
    kept = {*samples.classes, *samples.split.tolist(), *(p for plan in report.plans for p in plan.partition.tolist())}
    kept |= {os.path.basename(name) for name in ("", *samples.classes)}  # noqa: PTH119 - text, not a path
    for identity, path, relative, name in rows:
        for text in (identity, path, relative, PurePosixPath(path).name):
            names.setdefault(text, name)
        for directory in PurePosixPath(path).parts[:-1]:
            names.setdefault(directory, HIDDEN)
    for text in (samples.root, PurePosixPath(samples.root).name, *_words(report.settings)):
        names.setdefault(text, HIDDEN)
    for model in (*(r.config.model for r in report.runs), *(r.model for r in report.run_records)):
        names.setdefault(str(PurePosixPath(model.partition("@")[2]).parent), HIDDEN)
    for column in samples.metadata.values():
        for value in np.unique(column).tolist():
            if re.search(r"\d", value) and re.search(r"[^\W\d]", value):
                names.setdefault(value, HIDDEN)
    return {k: v for k, v in names.items() if k not in kept and _telling(k)}


def _telling(text: str) -> bool:
    """Whether a text is a name wherever it stands: not a short one, and not a plain word that any sentence may hold."""
    return "." in text.strip(".") or (len(text) >= SHORT and not re.fullmatch("[^\\W\\d_][a-z]+", text))


def _words(settings: Mapping[str, Any]) -> Iterable[str]:
    """Paths among the settings, and their last parts."""
    for key, value in settings.items():
        if isinstance(value, str) and _is_path(key, value):
            yield value
            yield PurePosixPath(value).name
            yield PurePosixPath(value.removeprefix("fiftyone:")).name


def _is_path(key: str, value: str) -> bool:
    """Whether a setting leads somewhere; a pattern and the names of models and descriptors may hold a slash too."""
    if key in ("pattern", "descriptor", "model"):
        return Path(value).is_absolute()
    return "/" in value or "\\" in value or value.startswith("fiftyone:") or Path(value).exists()


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without paths; the source is the corpus, any other file is a FILE."""
    result = {k: FILE if isinstance(v, str) and _is_path(k, v) else v for k, v in settings.items()}
    if "source" in result:
        result["source"] = CORPUS
    return result


def _mapped(value: Any, change: Callable[[str, Any], Any], kept: frozenset[str], name: str = "") -> Any:
    """A noun with `change(field, value)` applied to every text and list of texts inside it."""
    if name in kept:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        new = {f.name: _mapped(getattr(value, f.name), change, kept, f.name) for f in dataclasses.fields(value)}
        return value if all(new[k] is getattr(value, k) for k in new) else dataclasses.replace(value, **new)
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "U":
            return value
        different, index = np.unique(value, return_inverse=True)
        words = [change(name, v) for v in different.tolist()]
        return np.array(words, np.str_)[index] if words != different.tolist() else value
    if isinstance(value, Mapping):
        return {k: _mapped(v, change, kept, str(k)) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        whole = change(name, value)
        return type(value)(_mapped(v, change, kept, name) for v in whole)
    return change(name, value)


def _texts(value: Any, kept: frozenset[str]) -> list[str]:
    found: dict[str, None] = {}

    def note(_: str, text: Any) -> Any:
        if isinstance(text, str):
            found.setdefault(text)
        return text

    _mapped(value, note, kept)
    return list(found)
