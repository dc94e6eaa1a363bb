"""A release as its files say it, with digests compared on the way. Nothing here trusts a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import HsdError, PathError
from ..folder.tables import read_table
from ..model import SCHEMA, Grouping, Ints, Links, Strings, sha256_json
from .files import CONTENT, RELEASE, digest_of, listed_files, rendered

Finding = tuple[str, int, tuple[str, ...]]
"""Name of a check, number of things compared, what differs."""
ALL, EXPOSURES = "splits/all.csv", "exposure.csv"
MOST = 20
"""Differences listed of one check; the rest is counted."""


@dataclass(frozen=True, eq=False)
class Release:
    """The tables of a release; row i of every array is `paths[i]`.

    Attributes:
        folder: where it lies.
        value: release.json.
        paths: n names, in order.
        label, group, split: (n,) str, of samples.csv.
        content: (n,) str, SHA-256 of the bytes.
        codes: int64 (n,), groups as numbers.
        plans: (condition, seed) -> (n,) str, of splits/all.csv; "" = the plan does not name the sample.
        exposures: (condition, seed) -> table of exposure.csv: path -> (exposed, mates_in_train).
        tables: file name -> column -> values of every other table that was read.
    """

    folder: Path
    value: Mapping[str, Any]
    paths: tuple[str, ...]
    label: Strings
    group: Strings
    split: Strings
    content: Strings
    codes: Ints
    plans: Mapping[tuple[str, int], Strings]
    exposures: Mapping[tuple[str, int], Mapping[str, tuple[str, str]]]
    tables: Mapping[str, Mapping[str, list[str]]]

    @property
    def grouping(self) -> Grouping:
        """The groups without their evidence."""
        return Grouping(self.codes, Links.of([], [], ""))


def read_release(folder: Path) -> tuple[Release | None, list[Finding]]:
    """The release (None where its tables cannot be read) and what its digests say.

    Raises:
        PathError: there is no release.
    """
    path = folder / RELEASE
    if not path.is_file():
        raise PathError(f"{folder} holds no release ({RELEASE} is missing)", "a folder that `hsd export` wrote")
    data = path.read_bytes()
    try:
        value = json.loads(data)
        listed = {str(k): str(v) for k, v in value["files"].items()}
        if value["schema"] != SCHEMA:
            raise PathError(
                f"{path} is of schema {value['schema']}", f"schema {SCHEMA}", "use the version that wrote it"
            )
        same = value["digest"] == sha256_json({k: v for k, v in value.items() if k != "digest"})
        whole = same and rendered(value) == data
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return None, [(f"{RELEASE} is what was written", 1, (f"{RELEASE} cannot be read ({error})",))]
    findings: list[Finding] = [
        (f"{RELEASE} is what was written", 1, () if whole else (f"{RELEASE} was changed: its digest does not fit",)),
        _files(folder, listed),
    ]
    try:
        return _tables(folder, value, listed), findings
    except (HsdError, OSError, csv.Error, KeyError, ValueError, IndexError) as error:
        findings.append(("the tables can be read", 1, (f"a table is damaged: {error}",)))
        return None, findings


def some(items: list[str]) -> tuple[str, ...]:
    """The first of many differences, and how many more there are."""
    return (*items[:MOST], f"... and {len(items) - MOST} more") if len(items) > MOST else tuple(items)


def _files(folder: Path, listed: Mapping[str, str]) -> Finding:
    there = set(listed_files(folder)) - {RELEASE}
    differs = [f"{name} is missing" for name in sorted(set(listed) - there)]
    differs += [f"{name} is not in the list of files" for name in sorted(there - set(listed))]
    gone: dict[str, str] = {listed[n]: n for n in sorted(set(listed) - there)}
    for name in sorted(there):
        digest = digest_of(folder / name)
        if name in listed and digest != listed[name]:
            differs.append(f"{name} was changed: SHA-256 {digest[:12]}..., written as {listed[name][:12]}...")
        elif name not in listed and digest in gone:
            differs.append(f"{gone[digest]} was renamed to {name}")
    return "every file has the bytes that were written", len(listed), some(differs)


def _tables(folder: Path, value: Mapping[str, Any], listed: Mapping[str, str]) -> Release:
    streamed = ("links.csv", ALL, EXPOSURES)
    tables = {n: read_table(folder / n) for n in sorted(listed) if n.endswith(".csv") and n not in streamed}
    samples, content = tables["samples.csv"], tables[CONTENT]
    usable = [i for i, why in enumerate(samples["failure"]) if not why]
    paths = [samples["path"][i] for i in usable]
    row = {p: i for i, p in enumerate(paths)}
    if len(row) != len(paths):
        raise ValueError("samples.csv names a sample twice")
    digests = dict(zip(content["path"], content["sha256"], strict=True))
    label, group, split = (np.array([samples[c][i] for i in usable], np.str_) for c in ("label", "group", "split"))
    return Release(
        folder=folder,
        value=value,
        paths=tuple(paths),
        label=label,
        group=group,
        split=split,
        content=np.array([digests.get(p, "") for p in paths], np.str_),
        codes=np.unique(group, return_inverse=True)[1].astype(np.int64),
        plans=_plans(folder / ALL, row) if ALL in listed else {},
        exposures=_exposures(folder / EXPOSURES, paths, row),
        tables=tables,
    )


def _rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    """The cells of some columns, row by row: a table of every condition and seed is too long to be held as text."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        header = next(reader, [])
        at = [header.index(c) for c in columns]
        for row in reader:
            yield [row[k] for k in at]


def _plans(path: Path, row: Mapping[str, int]) -> dict[tuple[str, int], Strings]:
    plans: dict[tuple[str, int], list[str]] = {}
    for name, condition, seed, partition in _rows(path, ("path", "condition", "seed", "partition")):
        key = (condition, int(seed))
        if key not in plans:
            plans[key] = [""] * len(row)
        plans[key][row[name]] = sys.intern(partition)
    return {k: np.array(v, np.str_) for k, v in plans.items()}


def _exposures(
    path: Path, paths: Sequence[str], row: Mapping[str, int]
) -> dict[tuple[str, int], dict[str, tuple[str, str]]]:
    exposures: dict[tuple[str, int], dict[str, tuple[str, str]]] = {}
    columns = ("path", "condition", "seed", "exposed", "mates_in_train")
    for name, condition, seed, exposed, mates in _rows(path, columns):
        said = (sys.intern(exposed), sys.intern(mates))
        exposures.setdefault((condition, int(seed)), {})[paths[row[name]]] = said
    return exposures
