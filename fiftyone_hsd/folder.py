"""Samples from a folder or a CSV file, and files of labels or groups joined by relative path."""

from __future__ import annotations

import csv
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TextIO

import numpy as np

from .errors import EmptyError, FieldError, InputError, PathError
from .images import IMAGE_SUFFIXES, sniff
from .model import Note, Samples, Strings

SPLIT_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing", "tst"), "test"),
}
"""Directory names and values that mean a partition, whatever their case."""

RESERVED = ("path", "label", "split")


def from_source(path: Path, *, labels: Path | None = None) -> Samples:
    """Samples from a folder or a CSV file, whichever `path` is.

    Raises:
        PathError: there is nothing at `path`, or it is a single image.
    """
    if path.is_dir():
        return from_folder(path, labels=labels)
    if not path.exists():
        raise PathError(f"there is nothing at {path}", "an image folder, a CSV file or fiftyone:NAME", "check the path")
    if sniff(path):
        raise PathError(f"{path} is a single image", "an image folder or a CSV file")
    if labels is not None:
        raise InputError("a labels file was given for a CSV corpus", "a `label` column in the CSV file itself")
    return from_csv(path)


def from_folder(root: str | Path, *, labels: Path | None = None) -> Samples:
    """The images below a folder.

    A leading split directory (train, val, valid, test, ...) gives the split if every image is in one; the directory
    after it is the class, but only if every image has one. A file is an image if its content says so, or if its
    suffix does and the content does not (then reading it will fail, and that is shown).

    Args:
        root: the folder.
        labels: CSV file (path,label[,group,split]), paths relative to `root`; it replaces what directories say.

    Returns:
        Samples in order of their relative paths.

    Raises:
        PathError: `root` is no folder.
        EmptyError: it holds no image.
    """
    top = Path(root).absolute()
    if not top.is_dir():
        raise PathError(f"{root} is not a folder", "an image folder")
    relative, others = _walk(top)
    if not relative:
        raise EmptyError(f"{root} holds no image ({others} other files)", "at least one image", "check the path")
    relative, notes = _without_link_copies(top, relative)
    if others:
        notes.append(Note("info", "not an image", "files that are no images were left alone", others))
    split, label = layout(relative)
    metadata: dict[str, list[str]] = {}
    if labels is not None:
        table = _joined(labels, relative, ("label",))
        label = table.pop("label")
        split = [_partition(v) for v in table.pop("split")] if "split" in table else split
        metadata = table
    return _samples(relative, [os.path.join(top, r) for r in relative], label, split, metadata, str(top), notes)  # noqa: PTH118 - bytes-safe


def from_csv(path: str | Path, *, root: Path | None = None) -> Samples:
    """A corpus listed in a CSV file with the columns path[,label][,split] and any metadata.

    Args:
        path: the file; paths in it are relative to `root` or absolute.
        root: default the folder of the CSV file.

    Raises:
        PathError, FieldError: the file is missing or has no `path` column.
        EmptyError: it has no rows.
    """
    source = Path(path)
    top = (root or source.parent).absolute()
    table = read_table(source)
    _need(table, ("path",), source)
    listed = [_absolute(top, p) for p in table["path"]]
    if not listed:
        raise EmptyError(f"{path} has no rows", "one row an image")
    inside = all(p.startswith(f"{str(top).rstrip('/')}/") for p in listed)
    base = str(top) if inside else os.path.commonpath([os.path.dirname(p) for p in listed])  # noqa: PTH120
    ids = [PurePosixPath(os.path.relpath(p, base)).as_posix() for p in listed]
    rows, notes = _without_repeats(ids)
    metadata = {k: [v[i] for i in rows] for k, v in table.items() if k not in RESERVED}
    label = [table["label"][i] for i in rows] if "label" in table else [""] * len(rows)
    split = [_partition(table["split"][i]) for i in rows] if "split" in table else [""] * len(rows)
    return _samples([ids[i] for i in rows], [listed[i] for i in rows], label, split, metadata, base, notes)


def read_groups(path: Path, samples: Samples) -> Strings:
    """(n,) str: the group of each sample in a CSV file (path,group), "" where the file does not name the sample.

    Raises:
        PathError, FieldError: the file is missing or lacks a column.
        InputError: no row fits any sample, or two rows of one path disagree.
    """
    return np.array(_joined(path, samples.names, ("group",))["group"], dtype=np.str_)


def layout(relative: Sequence[str]) -> tuple[list[str], list[str]]:
    """(split, class) of each relative path by its directories; "" where the layout does not give one."""
    parts = [PurePosixPath(r).parts[:-1] for r in relative]
    shared = _shared(parts)
    if shared and shared[-1].lower() in SPLIT_NAMES:
        shared = shared[:-1]
    below = [p[len(shared) :] for p in parts]
    split = [""] * len(below)
    if all(p and p[0].lower() in SPLIT_NAMES for p in below):
        split = [SPLIT_NAMES[p[0].lower()] for p in below]
        below = [p[1:] for p in below]
    return split, [p[0] for p in below] if all(below) else [""] * len(below)


def _shared(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The directories that all paths have in common, from the left."""
    if len(parts) < 2:
        return ()
    first, last = min(parts), max(parts)
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def read_table(path: Path) -> dict[str, list[str]]:
    """Column -> values of a CSV or TSV file (UTF-8, a BOM is allowed); every value is text, missing ones are "".

    Raises:
        PathError: the file cannot be opened.
        InputError: it is no table of text.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            return _table(file, path)
    except OSError as error:
        raise PathError(f"{path} cannot be read ({error.strerror or error})", "a CSV file") from error
    except csv.Error as error:
        raise InputError(
            f"{path} is no CSV file ({error})", "comma- or tab-separated text with a header line"
        ) from error


def _table(file: TextIO, path: Path) -> dict[str, list[str]]:
    reader = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
    header = [h.strip() for h in next(reader, [])]
    if len(set(header)) != len(header) or not header:
        raise FieldError(f"the header of {path} is {','.join(header) or 'empty'}", "one name a column, each once")
    rows = [row for row in reader if row]
    long = next((i for i, row in enumerate(rows) if len(row) > len(header)), None)
    if long is not None:
        raise InputError(f"row {long + 2} of {path} has {len(rows[long])} values", f"{len(header)}, as the header")
    return {h: [row[k] if k < len(row) else "" for row in rows] for k, h in enumerate(header)}


def _need(table: Mapping[str, list[str]], columns: Iterable[str], path: Path) -> None:
    for column in columns:
        if column not in table:
            raise FieldError(
                f"{path} has no column {column!r}", f"its columns are {', '.join(table)}", f"name one {column}"
            )


def _key(path: str) -> str:
    text = path.replace("\\", "/") if "/" not in path else path
    return unicodedata.normalize("NFC", text).removeprefix("./")


def _joined(path: Path, names: Sequence[str], needed: Sequence[str]) -> dict[str, list[str]]:
    """Every column but `path` of a CSV file, brought into the order of `names` ("" = not named there)."""
    table = read_table(path)
    _need(table, ("path", *needed), path)
    columns = [c for c in table if c != "path"]
    wanted: dict[str, int] = {}
    for i, name in enumerate(names):
        if wanted.setdefault(_key(name), i) != i:
            raise InputError(f"two samples have the path {name!r} up to Unicode form", "distinct paths")
    result = {c: [""] * len(names) for c in columns}
    first: dict[int, int] = {}
    for row, text in enumerate(table["path"]):
        if _key(text) not in wanted:
            continue
        i = wanted[_key(text)]
        before = first.setdefault(i, row)
        if before != row and any(table[c][before] != table[c][row] for c in columns):
            raise InputError(f"{path} names {text!r} twice with different values", "one row a path")
        for c in columns:
            result[c][i] = table[c][row]
    if not first:
        example = table["path"][0] if table["path"] else "nothing"
        raise InputError(
            f"no row of {path} fits any image; it says {example!r}, the corpus has {names[0]!r}",
            "paths relative to the corpus folder",
        )
    return result


def _walk(top: Path) -> tuple[list[str], int]:
    found: list[str] = []
    others = 0
    seen: set[str] = set()
    for folder, directories, files in os.walk(top, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:  # a link to a folder that was already walked, or a loop
            directories[:] = []
            continue
        seen.add(real)
        directories[:] = sorted(d for d in directories if not d.startswith("."))
        for name in files:
            if name.startswith("."):
                continue
            full = os.path.join(folder, name)  # noqa: PTH118
            if sniff(full) or os.path.splitext(name)[1].lower() in IMAGE_SUFFIXES:  # noqa: PTH122
                found.append(PurePosixPath(os.path.relpath(full, top)).as_posix())
            else:
                others += 1
    return sorted(found), others


def _without_link_copies(top: Path, relative: Sequence[str]) -> tuple[list[str], list[Note]]:
    """Drop symbolic links to a file that is in the corpus itself."""
    links = {r: os.path.realpath(top / r) for r in relative if (top / r).is_symlink()}
    present = {os.path.realpath(top / r) for r in relative if r not in links}
    kept, dropped = [], []
    for r in relative:
        if r in links and links[r] in present:
            dropped.append(f"{r} -> {os.path.relpath(links[r], os.path.realpath(top))}")
            continue
        present.add(links.get(r, ""))
        kept.append(r)
    if not dropped:
        return kept, []
    text = "symbolic links to another image of the corpus: only the first name of the file was kept"
    return kept, [Note("warning", "symlink copy", text, len(dropped), tuple(dropped[:5]))]


def _without_repeats(ids: Sequence[str]) -> tuple[list[int], list[Note]]:
    seen: dict[str, int] = {}
    rows = [i for i, name in enumerate(ids) if seen.setdefault(name, i) == i]
    repeated = [name for i, name in enumerate(ids) if seen[name] != i]
    if not repeated:
        return rows, []
    text = "paths listed more than once: the first row was kept"
    return rows, [Note("warning", "duplicate path", text, len(repeated), tuple(repeated[:5]))]


def _absolute(top: Path, path: str) -> str:
    return os.path.normpath(os.path.join(top, path))  # noqa: PTH118


def _partition(value: str) -> str:
    return SPLIT_NAMES.get(value.strip().lower(), value.strip())


def _samples(
    ids: Sequence[str],
    paths: Sequence[str],
    label: Sequence[str],
    split: Sequence[str],
    metadata: Mapping[str, Sequence[str]],
    root: str,
    notes: list[Note],
) -> Samples:
    classes = tuple(sorted({v for v in label if v}))
    code = {name: i for i, name in enumerate(classes)}
    unlabelled = [i for i, v in zip(ids, label, strict=True) if not v]
    if unlabelled:
        every = len(unlabelled) == len(ids)
        text = "no image has a label" if every else "images without a label"
        notes.append(Note("warning", "unlabelled", text, len(unlabelled), () if every else tuple(unlabelled[:5])))
    return Samples(
        ids=tuple(ids),
        paths=tuple(paths),
        labels=np.array([code.get(v, -1) for v in label], dtype=np.int32),
        classes=classes,
        split=np.array(list(split), dtype=np.str_),
        metadata={k: np.array(list(v), dtype=np.str_) for k, v in metadata.items()},
        root=root,
        notes=tuple(notes),
    )
