"""The files of a release beside those of a report: content digests, class list, lists of paths, a folder tree."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..errors import FieldError, InputError, PathError, StaleError
from ..images import IMAGE_SUFFIXES, sniff
from ..model import SCHEMA, UNUSED, AuditReport, SplitPlan, sha256_json
from ..progress import Progress
from ..report.csv_files import cell, encoded, split_files
from ..report.json_file import digests
from ..report.lookup import primary
from ..store import atomic

RELEASE, CONTENT, CLASSES, LISTS, TREE = "release.json", "content.csv", "classes.txt", "lists", "tree"
CONTENT_COLUMNS, LIST_COLUMNS = "path,sha256,width,height", "path,index"
LONGEST = 200
"""Bytes of a file name in the tree; most file systems hold 255."""


def write_lists(report: AuditReport, to: Path) -> dict[str, str]:
    """content.csv, classes.txt and lists/CONDITION/PARTITION.csv (primary seed, labelled samples).

    Returns:
        file name -> SHA-256.
    """
    samples, scan = report.samples, report.scan
    path = [cell(i) for i in samples.ids]
    rows = zip(path, scan.content, scan.width.tolist(), scan.height.tolist(), strict=True)
    texts = {CONTENT: "".join([f"{CONTENT_COLUMNS}\n", *(f"{p},{c},{w},{h}\n" for p, c, w, h in rows)])}
    if samples.classes and not any("\n" in c or "\r" in c for c in samples.classes):
        texts[CLASSES] = "".join(f"{c}\n" for c in samples.classes)
    for condition, name in split_files(report).items():
        plan = primary(report, condition)
        assert plan is not None  # noqa: S101 - the condition comes from the plans
        for partition in sorted(set(plan[0].partition.tolist()) - {UNUSED}):
            inside = np.flatnonzero((plan[0].partition == partition) & (samples.labels >= 0))
            lines = (f"{path[i]},{int(samples.labels[i])}\n" for i in inside.tolist())
            texts[f"{LISTS}/{Path(name).stem}/{_safe(partition)}.csv"] = "".join([f"{LIST_COLUMNS}\n", *lines])
    return {name: put(to / name, encoded(text)) for name, text in texts.items()}


def put(path: Path, data: bytes) -> str:
    """Write a file; its SHA-256."""
    with atomic(path) as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def release_value(report: AuditReport, files: dict[str, str], aliased: bool, tree: dict[str, Any]) -> dict[str, Any]:
    """The value of release.json; `digest` is that of all the rest."""
    value = {
        "schema": SCHEMA,
        "aliased": aliased,
        "images": len(report.samples),
        "classes": list(report.samples.classes),
        "seeds": sorted({p.seed for p in report.plans}),
        "conditions": list(dict.fromkeys(p.condition for p in report.plans)),
        "settings": json.loads(json.dumps(dict(report.settings), default=list)),
        "versions": dict(report.versions),
        "digests": {**digests(report), "content": sha256_json(sorted(report.scan.content))},
        "tree": tree,
        "files": dict(sorted(files.items())),
    }
    return {**value, "digest": sha256_json(value)}


def rendered(value: dict[str, Any]) -> bytes:
    """The bytes of release.json."""
    return (json.dumps(value, ensure_ascii=True, allow_nan=False, indent=1) + "\n").encode("ascii")


def plan_of(report: AuditReport, condition: str) -> SplitPlan:
    """The primary plan of a condition.

    Raises:
        FieldError: there is none.
    """
    found = primary(report, condition)
    if found is None:
        have = ", ".join(dict.fromkeys(p.condition for p in report.plans)) or "the audit has no split"
        raise FieldError(f"there is no split {condition!r}", have, "name one of these as tree")
    return found[0]


def write_tree(report: AuditReport, condition: str, to: Path, link: str, progress: Progress) -> dict[str, str]:
    """tree/CONDITION/PARTITION/CLASS/file of the labelled images, copied or as symbolic links.

    Every class has a directory in every partition, also an empty one, and their order is that of the class list:
    torchvision's ImageFolder(allow_empty=True) and timm's folder reader with class_map=tree/classes.txt number classes
    alike in every partition.

    Returns:
        file name -> SHA-256 of copies and of tree/classes.txt; links are not listed.

    Raises:
        StaleError: an image is no longer the one that was audited.
    """
    plan, samples = plan_of(report, condition), report.samples
    names = _directories(samples.classes)
    base = PurePosixPath(TREE, _safe(condition))
    files = {f"{TREE}/{CLASSES}": put(to / TREE / CLASSES, encoded("".join(f"{n}\n" for n in names)))}
    parts = sorted(set(plan.partition.tolist()) - {UNUSED})
    for part in parts:
        for name in names:
            (to / base / _safe(part) / name).mkdir(parents=True, exist_ok=True)
    rows = np.flatnonzero((plan.partition != UNUSED) & (samples.labels >= 0)).tolist()
    taken: set[PurePosixPath] = set()
    for done, row in enumerate(rows):
        progress(done, len(rows), "writing the folder tree")
        folder = base / _safe(str(plan.partition[row])) / names[samples.labels[row]]
        target = folder / _file_name(samples.ids[row], samples.paths[row])
        if target in taken:
            target = folder / f"{hashlib.sha256(encoded(samples.ids[row])).hexdigest()[:12]}_{target.name}"
        taken.add(target)
        digest = _place(samples.paths[row], to / target, link, report.scan.content[row])
        if digest:
            files[str(target)] = digest
    return files


def _place(source: str, target: Path, link: str, content: str) -> str:
    if link == "symlink":
        target.symlink_to(Path(source).absolute())
        return ""
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        raise PathError(
            f"{source} cannot be read ({error.strerror or error})", "the images that were audited"
        ) from error
    if hashlib.sha256(data).hexdigest() != content:
        raise StaleError(f"{source} changed since the audit", "the bytes that were audited", "run the audit again")
    return put(target, data)


def _directories(classes: Sequence[str]) -> list[str]:
    """One directory name a class, in the order of the class list: the names themselves where that is possible."""
    plain = [_safe(c) for c in classes]
    if plain == list(classes) == sorted(set(plain)):
        return plain
    width = len(str(len(classes)))
    return [f"{i:0{width}d}_{name}" for i, name in enumerate(plain)]


def _safe(text: str) -> str:
    """Text as one component of a path on every system, readable where it was."""
    clean = "".join(c if c.isalnum() or c in " _-+.()" else "_" for c in text).strip(" .")
    if clean == text and len(text.encode("utf-8", "surrogateescape")) <= LONGEST:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean[:80]}-{mark}"


def _file_name(name: str, path: str) -> str:
    """The id as a file name with the suffix of an image, which folder readers go by."""
    safe = _safe(name.replace("/", "__"))
    if PurePosixPath(safe).suffix.lower() in IMAGE_SUFFIXES:
        return safe
    suffix = PurePosixPath(path).suffix.lower()
    return safe + (suffix if suffix in IMAGE_SUFFIXES else f".{sniff(path).lower() or 'img'}")


def listed_files(to: Path) -> Iterator[str]:
    """Every regular file below a folder, relative; links of a folder tree are no files of the release."""
    for folder, _, names in os.walk(to):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                yield path.relative_to(to).as_posix()


def refuse_strangers(to: Path) -> list[str]:
    """Files of an earlier release in a folder, which a new one replaces.

    Raises:
        InputError: the folder holds something else.
    """
    if not to.exists():
        return []
    if not to.is_dir():
        raise InputError(f"{to} is a file", "a new or empty folder")
    there = set(listed_files(to))
    try:
        value = json.loads((to / RELEASE).read_text("ascii")) if there else {}
        old = {*value.get("files", {}), RELEASE} if there else set()
    except (OSError, ValueError, AttributeError):
        old = set()
    if there - old:
        raise InputError(
            f"{to} holds {len(there - old)} files that no release wrote, such as {min(there - old)}",
            "a new or empty folder, or an earlier release",
            "choose another folder",
        )
    return sorted(there)
