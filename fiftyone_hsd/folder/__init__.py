"""Samples from a folder or a CSV file, and files of labels or groups joined by relative path."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from ..errors import EmptyError, InputError, PathError
from ..images import sniff
from ..model import Note, Samples, Strings
from .files import EXAMPLES, copies_of, copy_notes, walk
from .tables import joined, need, read_table

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

    A leading split directory (train, val, valid, test, ...) gives the split, see `layout`; the directory after it is
    the class, but only if every image has one. A file with several names (symbolic or hard links) is one image. A file
    is an image if its content says so, or if its suffix does and the content does not (then reading it will fail, and
    that is shown).

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
    relative, notes, others = walk(top)
    if not relative:
        raise EmptyError(f"{root} holds no image ({others} other files)", "at least one image", "check the path")
    split, label = layout(relative)
    metadata: dict[str, list[str]] = {}
    if labels is not None:
        table, strangers = joined(labels, relative, ("label",))
        label = table.pop("label")
        split = [_partition(v) for v in table.pop("split")] if "split" in table else split
        metadata = table
        if strangers:
            text = f"rows of {labels.name} name no image of the folder"
            notes.append(Note("warning", "labels", text, len(strangers), tuple(strangers[:EXAMPLES])))
    paths = [os.path.join(top, r) for r in relative]  # noqa: PTH118 - bytes-safe
    return _samples(relative, paths, label, split, metadata, str(top), notes)


def from_csv(path: str | Path, *, root: Path | None = None) -> Samples:
    """A corpus listed in a CSV file with the columns path[,label][,group][,split] and any metadata.

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
    need(table, ("path",), source)
    listed = [_absolute(top, p) for p in table["path"]]
    if not listed:
        raise EmptyError(f"{path} has no rows", "one row an image")
    inside = all(p.startswith(f"{str(top).rstrip('/')}/") for p in listed)
    base = str(top) if inside else os.path.commonpath([os.path.dirname(p) for p in listed])  # noqa: PTH120
    ids = [PurePosixPath(os.path.relpath(p, base)).as_posix() for p in listed]
    metadata = {k: v for k, v in table.items() if k not in RESERVED}
    label = table.get("label", [""] * len(ids))
    split = [_partition(v) for v in table.get("split", [""] * len(ids))]
    return _samples(ids, listed, label, split, metadata, base, [])


def read_groups(path: Path, samples: Samples) -> Strings:
    """(n,) str: the group of each sample in a CSV file (path,group), "" where the file does not name the sample.

    Raises:
        PathError, FieldError: the file is missing or lacks a column.
        InputError: no row fits any sample, or two rows of one path disagree.
    """
    return np.array(joined(path, samples.names, ("group",))[0]["group"], dtype=np.str_)


def layout(relative: Sequence[str]) -> tuple[list[str], list[str]]:
    """(split, class) of each relative path by its directories; "" where the layout does not give one.

    Directories that all images share above the split or the classes (`data/images/...`) are passed over.
    """
    parts = [PurePosixPath(r).parts[:-1] for r in relative]
    shared = _shared(parts)
    at = next((k for k, name in enumerate(shared) if name.lower() in SPLIT_NAMES), len(shared))
    if at == len(shared) and any(len(p) == at for p in parts):
        at = max(0, at - 1)  # nothing lies below: the last shared directory is the one class
    below = [p[at:] for p in parts]
    split = [""] * len(below)
    first = {p[0] if p else "" for p in below}
    known = {SPLIT_NAMES[name.lower()] for name in first if name.lower() in SPLIT_NAMES}
    # Beside two known partitions, any other directory is one too, under its own name; a class may be called "test".
    if "" not in first and (len(known) > 1 or all(name.lower() in SPLIT_NAMES for name in first)):
        split = [_partition(p[0]) for p in below]
        below = [p[1:] for p in below]
    return split, [p[0] for p in below] if all(below) else [""] * len(below)


def _shared(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The directories that all paths have in common, from the left."""
    if len(parts) < 2:
        return ()
    first, last = min(parts), max(parts)
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


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
    copies = copies_of(ids, paths)
    notes = [*notes, *copy_notes(copies, ids, label, split)]
    gone = {i for _, i, _ in copies}
    rows = [i for i in range(len(ids)) if i not in gone]
    ids, paths, label, split = ([column[i] for i in rows] for column in (ids, paths, label, split))
    metadata = {k: [v[i] for i in rows] for k, v in metadata.items()}
    classes = tuple(sorted({v for v in label if v}))
    code = {name: i for i, name in enumerate(classes)}
    unlabelled = [i for i, v in zip(ids, label, strict=True) if not v]
    if unlabelled:
        every = len(unlabelled) == len(ids)
        text = "no image has a label" if every else "images without a label"
        notes.append(
            Note("warning", "unlabelled", text, len(unlabelled), () if every else tuple(unlabelled[:EXAMPLES]))
        )
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
