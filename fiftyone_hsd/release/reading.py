"""A release as its files say it, with digests compared on the way. Nothing here trusts a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    except (HsdError, KeyError, ValueError, IndexError, UnicodeError) as error:
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
    tables = {n: read_table(folder / n) for n in sorted(listed) if n.endswith(".csv") and n != "links.csv"}
    samples, content = tables["samples.csv"], tables[CONTENT]
    usable = [i for i, why in enumerate(samples["failure"]) if not why]
    paths = [samples["path"][i] for i in usable]
    row = {p: i for i, p in enumerate(paths)}
    if len(row) != len(paths):
        raise ValueError("samples.csv names a sample twice")
    digests = dict(zip(content["path"], content["sha256"], strict=True))
    group = [samples["group"][i] for i in usable]
    everything = tables.get("splits/all.csv", {"path": [], "condition": [], "seed": [], "partition": []})
    plans: dict[tuple[str, int], list[str]] = {}
    columns = (everything[c] for c in ("path", "condition", "seed", "partition"))
    for path, condition, seed, partition in zip(*columns, strict=True):
        plans.setdefault((condition, int(seed)), [""] * len(paths))[row[path]] = partition
    exposures: dict[tuple[str, int], dict[str, tuple[str, str]]] = {}
    table = tables["exposure.csv"]
    columns = (table[c] for c in ("path", "condition", "seed", "exposed", "mates_in_train"))
    for path, condition, seed, exposed, mates in zip(*columns, strict=True):
        exposures.setdefault((condition, int(seed)), {})[path] = (exposed, mates)
    return Release(
        folder=folder,
        value=value,
        paths=tuple(paths),
        label=np.array([samples["label"][i] for i in usable], np.str_),
        group=np.array(group, np.str_),
        split=np.array([samples["split"][i] for i in usable], np.str_),
        content=np.array([digests.get(p, "") for p in paths], np.str_),
        codes=np.unique(np.array(group, np.str_), return_inverse=True)[1].astype(np.int64),
        plans={k: np.array(v, np.str_) for k, v in plans.items()},
        exposures=exposures,
        tables=tables,
    )
