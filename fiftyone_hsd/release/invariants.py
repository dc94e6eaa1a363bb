"""What must hold inside a release, derived anew from samples, groups and partitions (the method's section 3)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..errors import FieldError
from ..exposure import exposure
from ..model import TEST, TRAIN, UNUSED, Exposure, SplitPlan, Strings, sha256_json
from ..report.csv_files import SPLIT, encoded
from ..splitting import SHUFFLE
from ..splitting.checks import crossing_groups
from ..splitting.ladder import condition_names
from .files import CONTENT, LISTS
from .reading import Finding, Release, some

WHOLE = ("intact", "repaired")
"""Conditions in which no group may lie in two partitions."""


def derive(read: Release) -> list[Finding]:
    """Every check, in the order in which a reader would ask."""
    plans = {k: SplitPlan.of(*k, np.where(v == "", UNUSED, v), read.paths) for k, v in read.plans.items()}
    return [
        _same_samples(read),
        _groups(read),
        _primary_files(read),
        _digests(read, plans),
        _disjoint(read, plans),
        _class_counts(read, plans),
        *_exposures(read, plans),
        _exposing(read, plans),
        _lists(read),
    ]


def _same_samples(read: Release) -> Finding:
    """Every table names the same samples."""
    known, differs = set(read.paths), []
    for name, table in read.tables.items():
        if not (name in ("groups.csv", CONTENT) or name.startswith("splits/")) or name == "splits/all.csv":
            continue
        listed = table["path"]
        differs += [f"{name} does not name {p}" for p in sorted(known - set(listed))]
        differs += [f"{name} names {p}, which samples.csv does not" for p in sorted(set(listed) - known)]
        if len(set(listed)) != len(listed):
            differs.append(f"{name} names a sample twice")
    for (condition, seed), partition in read.plans.items():
        missing = [read.paths[i] for i in np.flatnonzero(partition == "").tolist()]
        differs += [f"splits/all.csv, {condition}, seed {seed} does not name {p}" for p in missing]
    return "every table names the same samples", len(read.paths), some(differs)


def _groups(read: Release) -> Finding:
    """Group ids follow from their members, and every table gives a sample the same group and label."""
    smallest: dict[str, str] = {}
    for path, group in zip(read.paths, read.group.tolist(), strict=True):
        smallest[group] = min(smallest.get(group, path), path)
    differs = []
    for group, path in sorted(smallest.items()):
        named = "g" + hashlib.sha256(encoded(path)).hexdigest()[:12]
        if group != named:
            differs.append(f"samples.csv calls the group of {path} {group or 'nothing'}, its members say {named}")
    columns = {"group": dict(zip(read.paths, read.group.tolist(), strict=True))}
    columns["label"] = dict(zip(read.paths, read.label.tolist(), strict=True))
    for name, table in read.tables.items():
        if name == "groups.csv" or (name.startswith("splits/") and name != "splits/all.csv"):
            for column in ("group", "label"):
                for path, value in zip(table["path"], table.get(column, ()), strict=False):
                    if columns[column].get(path, value) != value:
                        differs.append(
                            f"{name}: the {column} of {path} is {value}, {columns[column][path]} in samples.csv"
                        )
    return "groups and labels agree in every table", len(smallest), some(differs)


def _primary_files(read: Release) -> Finding:
    """Each splits/CONDITION.csv is the first seed of its condition in splits/all.csv; `existing` is that of samples."""
    differs, compared = [], 0
    tables = {n: t for n, t in read.tables.items() if n.startswith("splits/") and list(t) == SPLIT.split(",")}
    first: dict[str, tuple[int, Strings]] = {}
    for (condition, seed), partition in read.plans.items():
        if condition not in first or seed < first[condition][0]:
            first[condition] = (seed, partition)
    names = {f"splits/{c}.csv": c for c in first}
    for name, table in tables.items():
        if name not in names:  # a condition whose name is no file name
            continue
        compared += 1
        said = dict(zip(read.paths, first[names[name]][1].tolist(), strict=True))
        for path, part in zip(table["path"], table["partition"], strict=True):
            if said.get(path, part) != part:
                differs.append(f"{path} is in {part} in {name}, in {said[path]} in splits/all.csv")
    if "existing" in first:
        for path, where, split in zip(read.paths, first["existing"][1].tolist(), read.split.tolist(), strict=True):
            if where != (split or UNUSED):
                differs.append(f"{path} is in {split or 'no partition'} in samples.csv, in {where} in splits/all.csv")
    return "files of single splits agree with splits/all.csv", compared, some(differs)


def _digests(read: Release, plans: dict[tuple[str, int], SplitPlan]) -> Finding:
    """Digests of samples, groups, contents and plans, computed again."""
    written = read.value["digests"]
    order = sorted(range(len(read.paths)), key=read.paths.__getitem__)
    rows = [read.label.tolist(), read.split.tolist(), read.content.tolist()]
    again = {
        "samples": sha256_json([[read.paths[i], *(c[i] for c in rows)] for i in order]),
        "groups": sha256_json([[read.paths[i], str(read.group[i])] for i in order]),
        "content": sha256_json(sorted(read.content.tolist())),
    }
    differs = [f"the digest of the {k} differs: a row was changed" for k, v in again.items() if written.get(k) != v]
    listed = {(p["condition"], int(p["seed"])): p["sha256"] for p in written.get("plans", ())}
    for key in sorted({*plans, *listed}):
        name = f"{key[0]}, seed {key[1]}"
        if key not in plans or key not in listed:
            differs.append(f"the split {name} is {'missing' if key in listed else 'not listed'}")
        elif plans[key].digest != listed[key]:
            differs.append(f"the digest of the split {name} differs: a sample was moved")
    return "digests follow from the tables", len(again) + len(listed), some(differs)


def _disjoint(read: Release, plans: dict[tuple[str, int], SplitPlan]) -> Finding:
    differs, compared = [], 0
    for (condition, seed), plan in plans.items():
        if condition in WHOLE:
            compared += 1
            for code in crossing_groups(plan.partition, read.codes).tolist():
                inside = read.codes == code
                where = Counter(plan.partition[inside].tolist())
                told = ", ".join(f"{n} in {p}" for p, n in sorted(where.items()))
                differs.append(f"{condition}, seed {seed}: group {read.group[inside][0]} is torn apart ({told})")
    return "no group lies in two partitions of an intact or repaired split", compared, some(differs)


def _ladders(read: Release) -> Iterator[tuple[int, list[str]]]:
    """(seed, conditions of the ladder in order of release)."""
    for seed in sorted({s for _, s in read.plans}):
        there = {c for c, s in read.plans if s == seed}
        count = 2 + sum(c[:1] == "q" and c[1:].isdigit() for c in there)
        names = [c for c in condition_names(count) if c in there]
        if len(names) > 1:
            yield seed, names


def _class_counts(read: Release, plans: dict[tuple[str, int], SplitPlan]) -> Finding:
    differs, compared = [], 0
    for seed, names in _ladders(read):
        names = [*names, *([SHUFFLE] if (SHUFFLE, seed) in plans else [])]
        counts = [Counter(zip(read.label.tolist(), plans[n, seed].partition.tolist(), strict=True)) for n in names]
        compared += len(names)
        for name, count in zip(names[1:], counts[1:], strict=True):
            for label, part in sorted(set(counts[0]) | set(count)):
                a, b = counts[0][label, part], count[label, part]
                if a != b:
                    differs.append(
                        f"seed {seed}: {part} holds {b} of class {label or '(none)'} under {name}, {a} under {names[0]}"
                    )
    return "class counts are equal in every condition of a ladder", compared, some(differs)


def _exposures(read: Release, plans: dict[tuple[str, int], SplitPlan]) -> list[Finding]:
    """Exposure computed again, and the exposed test sets nested along each ladder."""
    differs, compared, found = [], 0, {}
    grouping = read.grouping
    for key, plan in plans.items():
        try:
            found[key] = exposure(plan, grouping)
        except FieldError:
            continue
        compared += 1
        differs += _told_apart(read, key, found[key])
    nested = []
    for seed, names in _ladders(read):
        for a, b in pairwise(names):
            sets = [found[n, seed].exposed & (plans[n, seed].partition == TEST) for n in (a, b)]
            lost = np.flatnonzero(sets[0] & ~sets[1]).tolist()
            nested += [f"seed {seed}: {read.paths[i]} is exposed under {a}, not under {b}" for i in lost]
    rungs = sum(len(n) for _, n in _ladders(read))
    return [
        ("exposure follows from groups and partitions", compared, some(differs)),
        ("exposed test samples are nested along each ladder", rungs, some(nested)),
    ]


def _told_apart(read: Release, key: tuple[str, int], again: Exposure) -> list[str]:
    said = read.exposures.get(key, {})
    name, differs = f"{key[0]}, seed {key[1]}", []
    for i in np.flatnonzero(again.evaluated).tolist():
        path = read.paths[i]
        words = ("true" if again.exposed[i] else "false", str(int(again.mates_in_train[i])))
        if path not in said:
            differs.append(f"exposure.csv, {name}: {path} is missing")
        elif said[path] != words:
            differs.append(
                f"exposure.csv, {name}: {path} is called exposed={said[path][0]} with {said[path][1]} mates in train, "
                f"derived: {words[0]} with {words[1]}"
            )
    extra = set(said) - {read.paths[i] for i in np.flatnonzero(again.evaluated).tolist()}
    return differs + [f"exposure.csv, {name}: {p} is not outside train" for p in sorted(extra)]


def _exposing(read: Release, plans: dict[tuple[str, int], SplitPlan]) -> Finding:
    """exposing.csv pairs samples outside train with train samples of their own group."""
    table = read.tables.get("exposing.csv", {"path": [], "condition": [], "seed": [], "train": []})
    row = {p: i for i, p in enumerate(read.paths)}
    differs = []
    columns = (table[c] for c in ("path", "condition", "seed", "train"))
    for path, condition, seed, train in zip(*columns, strict=True):
        plan, a, b = plans.get((condition, int(seed))), row.get(path), row.get(train)
        if plan is None or a is None or b is None:
            differs.append(f"exposing.csv names {path}, {train} or {condition}, seed {seed}, which are not here")
        elif read.codes[a] != read.codes[b] or plan.partition[b] != TRAIN or plan.partition[a] == TRAIN:
            differs.append(f"exposing.csv, {condition}, seed {seed}: {train} does not expose {path}")
    return "pairs of exposing.csv follow from groups and partitions", len(table["path"]), some(differs)


def _lists(read: Release) -> Finding:
    """lists/CONDITION/PARTITION.csv hold the labelled samples of the primary plan under the index of the class list."""
    index = {str(c): str(i) for i, c in enumerate(read.value["classes"])}
    label = dict(zip(read.paths, read.label.tolist(), strict=True))
    differs, seen = [], 0
    for name, table in read.tables.items():
        if not name.startswith(f"{LISTS}/"):
            continue
        seen += 1
        split = read.tables.get(f"splits/{name.split('/')[1]}.csv")
        where = {} if split is None else dict(zip(split["path"], split["partition"], strict=True))
        parts = {where.get(p, "?") for p in table["path"]}
        if len(parts) > 1:
            differs.append(f"{name} holds samples of {', '.join(sorted(parts))}")
        for path, number in zip(table["path"], table["index"], strict=True):
            if index.get(label.get(path, "")) != number:
                differs.append(f"{name}: {path} has index {number}, its class is {label.get(path, 'unknown')}")
        if len(parts) == 1:
            (part,) = parts
            short = {p for p, w in where.items() if w == part and label.get(p)} - set(table["path"])
            differs += [f"{name} does not name {p}" for p in sorted(short)]
    return "lists of paths hold the partitions and the indices of the class list", seen, some(differs)
