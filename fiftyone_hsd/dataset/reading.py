"""Samples from a FiftyOne dataset or view, in a few bulk reads and without one id in a view stage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..errors import EmptyError, FieldError, InputError, MissingExtraError
from ..folder import SPLIT_NAMES
from ..grouping._file_fields import is_file_field
from ..model import Note, Samples

OURS = "hsd_"
"""Fields that an audit writes begin with this; they are never taken for a label or a split."""
GROUP = "group"
"""Metadata column with the FiftyOne group, the parent image of a patch or the video of a frame."""
EXAMPLES = 5


def from_name(name: str, **fields: Any) -> Samples:
    """Samples of the dataset called `name`; `fields` as in `from_view`.

    Raises:
        InputError: there is no such dataset.
        MissingExtraError: fiftyone is not installed, or its database does not answer.
    """
    return from_view(load(name), **fields)


def load(name: str) -> Any:
    """The FiftyOne dataset called `name`.

    Raises:
        InputError: there is no such dataset.
        MissingExtraError: fiftyone is not installed, or its database does not answer.
    """
    fo = fiftyone()
    from pymongo.errors import PyMongoError

    try:
        there = fo.list_datasets()
        if name in there:
            return fo.load_dataset(name)
    except (PyMongoError, ConnectionError, RuntimeError) as error:
        advice = "run `hsd doctor`, or point FIFTYONE_DATABASE_URI to a running MongoDB"
        raise MissingExtraError(f"the FiftyOne database does not answer ({error})", advice=advice) from error
    have = ", ".join(there[:20]) or "there is none yet"
    raise InputError(f"there is no FiftyOne dataset {name!r}", have, "check the name with `fiftyone datasets list`")


def fiftyone() -> Any:
    """The fiftyone module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import fiftyone as fo
    except ImportError as error:
        raise MissingExtraError(
            f"fiftyone cannot be imported ({error})", advice="pip install 'fiftyone-hsd[app]'"
        ) from error
    return fo


def from_view(
    view: Any,
    *,
    label_field: str | None = None,
    split_field: str | None = None,
    group_field: str | None = None,
    metadata: Sequence[str] = (),
) -> Samples:
    """The images of a FiftyOne dataset or view, in its order.

    Args:
        view: dataset or view of images. Grouped datasets: all image slices, the FiftyOne group in the column `group`.
            Patches and frames views: the parent image or video in the column `group`. Views grouped by a field are
            taken flat.
        label_field: a Classification (or text, whole number, Boolean) field; None = the only Classification field
            there is. Detections, segmentation and several labels an image give unlabelled samples and a
            "not evaluated" note.
        split_field: a text or Classification field; None = sample tags train, val, test and their synonyms.
        group_field: field with known groups, or several separated by commas; each becomes a metadata column of its name
            (not those that files carry, `exif:...` and `dicom:...`).
        metadata: further fields that become columns.

    Returns:
        Samples with FiftyOne ids.

    Raises:
        InputError: not a collection of images.
        FieldError: a field does not exist, cannot serve, or several could be the label.
        EmptyError: the view is empty.
    """
    fo = fiftyone()
    if not isinstance(view, fo.core.collections.SampleCollection):
        raise InputError(f"a {type(view).__name__}", "a FiftyOne dataset or view")
    if not len(view):
        raise EmptyError(f"{view.dataset_name!r} shows no sample", "at least one image", "choose another view")
    notes: list[Note] = []
    images, parent = _images(view, notes)
    label = label_path(images, label_field, notes)
    given = [f.strip() for f in (group_field or "").split(",") if f.strip()]
    columns = [c for c in dict.fromkeys([*given, *metadata]) if not is_file_field(c)]
    wanted = {c: column_path(images, c) for c in columns}
    if parent and GROUP not in wanted:
        wanted[GROUP] = parent
    split = scalar_path(images, split_field, "a text or Classification field") if split_field else "tags"
    paths = ["id", "filepath", split, *([label] if label else []), *wanted.values()]
    read = dict(zip(paths, images.values(paths), strict=True))
    rows = _first_rows(read["id"], notes)
    read = {k: [v[i] for i in rows] for k, v in read.items()}
    names = read[label] if label else [None] * len(rows)
    labels = ["" if v is None else str(v) for v in names]
    classes = sorted({v for v in labels if v})
    code = {name: i for i, name in enumerate(classes)} | {"": -1}
    partitions = _from_tags(read, notes) if split_field is None else [_partition(v) for v in read[split]]
    if split_field is None and not any(partitions):
        notes += _split_fields_there(images)
    notes += _file_notes(read["filepath"])
    unlabelled = labels.count("")
    if label and unlabelled:
        notes.append(Note("warning", "unlabelled", f"samples without a label in {label}", unlabelled))
    return Samples(
        ids=tuple(read["id"]),
        paths=tuple(read["filepath"]),
        labels=np.array([code[v] for v in labels], dtype=np.int32),
        classes=tuple(classes),
        split=np.array(partitions, dtype=np.str_),
        metadata={c: np.array([_text(v) for v in read[p]], dtype=np.str_) for c, p in wanted.items()},
        root=_root(read["filepath"]),
        notes=tuple(notes),
    )


def unusable(view: Any) -> str:
    """Why a dataset or view holds no images that could be read, "" if it does; an empty one is not asked about."""
    try:
        _images(view, [])
    except InputError as error:
        return str(error)
    return ""


def _images(view: Any, notes: list[Note]) -> tuple[Any, str]:
    """A flat view of images only, and the field that names what several of them belong to ("" = none)."""
    if view._is_dynamic_groups:
        view = view.flatten()
        notes.append(Note("info", "view", "a view grouped by a field was taken flat: all of its samples"))
    if view._is_clips or view.media_type == "video":
        raise InputError(
            "a video dataset or clips view",
            "images",
            "audit its frames: view.to_frames(sample_frames=True); frames of one video then count as mates",
        )
    if view.media_type == "group":
        kinds = view.group_media_types
        slices = sorted(s for s, kind in kinds.items() if kind == "image")
        others = sorted(set(kinds) - set(slices))
        if not slices:
            raise InputError(f"a grouped dataset with the slices {', '.join(others)}", "at least one slice of images")
        if others:
            text = f"slices that hold no images are not evaluated: {', '.join(others)}"
            notes.append(Note("not evaluated", "media", text, len(others)))
        field = f"{view.group_field}.id"
        return view.select_group_slices(slices), field
    if view.media_type not in ("image", "unknown"):
        raise InputError(f"media of the type {view.media_type!r}", "images")
    return view, "sample_id" if view._is_patches or view._is_frames else ""


def label_path(view: Any, label_field: str | None, notes: list[Note]) -> str | None:
    """Path of the class names, None if there is nothing to classify by (`notes` then says what was found instead)."""
    single, several = label_fields(view)
    if label_field is None:
        if len(single) > 1:
            raise FieldError(f"{len(single)} fields could hold the label", ", ".join(single), "name one as label_field")
        if single:
            return f"{single[0]}.label"
        for name, kind in several.items():
            notes.append(_not_a_class(name, kind))
        if not several:
            notes.append(Note("not evaluated", "labels", "the dataset has no classification field"))
        return None
    if label_field in several:
        notes.append(_not_a_class(label_field, several[label_field]))
        return None
    allowed = f"a Classification field ({', '.join(single) or 'there is none'}) or a field with one value an image"
    return scalar_path(view, label_field, allowed)


def evaluated_field(view: Any, label_field: str | None) -> str:
    """The Classification field that predictions can be evaluated against, "" if the labels are plain values."""
    path = label_path(_images(view, [])[0], label_field, []) or ""
    return path.removesuffix(".label") if path.endswith(".label") else ""


def label_fields(view: Any) -> tuple[list[str], dict[str, str]]:
    """(fields with one class an image, field -> type of all other label fields); fields of an audit left out."""
    fo = fiftyone()
    one = (fo.Classification, fo.Detection, fo.Polyline) if view._is_patches else (fo.Classification,)
    single, several = [], {}
    for name, field in view.get_field_schema(ftype=fo.EmbeddedDocumentField).items():
        if name.startswith(OURS):
            continue
        kind = field.document_type
        if issubclass(kind, one):
            single.append(name)
        elif issubclass(kind, fo.Label):
            several[name] = kind.__name__
    return single, several


def scalar_fields(view: Any) -> list[str]:
    """Top-level fields with one value an image that could be a split, a group or metadata."""
    fo = fiftyone()
    kinds = (fo.StringField, fo.IntField, fo.BooleanField, fo.DateField, fo.DateTimeField, fo.ObjectIdField)
    hidden = ("id", "filepath", "created_at", "last_modified_at")
    found = [n for n in view.get_field_schema(ftype=list(kinds)) if not n.startswith(OURS) and n not in hidden]
    return found + label_fields(view)[0]


def scalar_path(view: Any, name: str, allowed: str) -> str:
    """Path of the values of a field that has one value an image; a Classification's is its label.

    Raises:
        FieldError: there is no such field, or it holds lists or documents.
    """
    fo = fiftyone()
    # A field of our own names may be asked for on purpose (a repaired split); only guesses leave them out.
    field = _field(view, name)
    have = ", ".join(scalar_fields(view)) or "there is none"
    if field is None:
        raise FieldError(f"there is no field {name!r}", f"{allowed}: {have}", "name one of these")
    if isinstance(field, fo.EmbeddedDocumentField) and "label" in field.get_field_schema():
        return f"{name}.label"
    if isinstance(field, (fo.EmbeddedDocumentField, fo.ListField, fo.DictField, fo.ArrayField, fo.VectorField)):
        raise FieldError(f"the field {name!r} is a {type(field).__name__}", f"{allowed}: {have}", "name one of these")
    return name


def column_path(view: Any, name: str) -> str:
    """Path of a metadata column: one value an image, or the boxes of a Detection or Detections field.

    Raises:
        FieldError: there is no such field, or it holds something else.
    """
    fo = fiftyone()
    field = _field(view, name)
    kind = getattr(field, "document_type", None)
    if kind is not None and issubclass(kind, fo.Detections):
        return f"{name}.detections.bounding_box"
    if kind is not None and issubclass(kind, fo.Detection):
        return f"{name}.bounding_box"
    return scalar_path(view, name, "a field with one value an image, or boxes")


def _field(view: Any, name: object) -> Any:
    """A field by name, None if there is none; calls by REST may ask for what is no text at all."""
    return view.get_field(name) if isinstance(name, str) and name and not name.startswith("_") else None


def split_counts(view: Any, split_field: str | None) -> dict[str, int]:
    """Partition -> samples ("" = in none), counted on the server; samples with the tags of two count for both.

    Raises:
        FieldError: there is no such field.
    """
    if split_field:
        raw = view.count_values(scalar_path(view, split_field, "a text or Classification field"))
        words = [(_partition(value), count) for value, count in raw.items()]
    else:
        raw = view.count_values("tags")
        words = [(_partition(tag), count) for tag, count in raw.items() if _text(tag).strip().lower() in SPLIT_NAMES]
    counts: dict[str, int] = {}
    for partition, count in words:
        counts[partition] = counts.get(partition, 0) + int(count)
    return counts


def names(view: Any, *, limit: int) -> list[str]:
    """Paths of the first `limit` images, relative to the directory that these share."""
    paths = view.limit(limit).values("filepath")
    root = _root(paths).rstrip("/") + "/"
    return [p.removeprefix(root) for p in paths]


def _not_a_class(name: str, kind: str) -> Note:
    text = f"field {name} holds {kind}, not one class an image: class splits, training and inflation"
    return Note("not evaluated", "labels", text)


def _first_rows(ids: Sequence[str], notes: list[Note]) -> list[int]:
    seen: dict[str, int] = {}
    rows = [i for i, name in enumerate(ids) if seen.setdefault(name, i) == i]
    if len(rows) < len(ids):
        text = "samples that the view shows more than once count once"
        notes.append(Note("warning", "duplicate sample", text, len(ids) - len(rows)))
    return rows


def _from_tags(read: dict[str, list[Any]], notes: list[Note]) -> list[str]:
    """Partition of each sample by its tags; two different ones are no answer, and that is a problem to show."""
    result, torn = [], []
    for name, tags in zip(read["id"], read["tags"], strict=True):
        found = sorted({SPLIT_NAMES[t.strip().lower()] for t in tags or () if t.strip().lower() in SPLIT_NAMES})
        result.append(found[0] if len(found) == 1 else "")
        if len(found) > 1:
            torn.append(f"{name}: {' and '.join(found)}")
    if torn:
        text = "samples carry the tags of two partitions and were counted in neither"
        notes.append(Note("problem", "split", text, len(torn), tuple(torn[:EXAMPLES])))
    return result


def _split_fields_there(view: Any) -> Iterable[Note]:
    found = [n for n in scalar_fields(view) if n.lower() in ("split", "partition", "subset", "fold")]
    if found:
        text = f"no tag names a partition, but there is a field {', '.join(found)}: give it as split_field to use it"
        yield Note("warning", "split", text)


def _file_notes(paths: Sequence[str]) -> Iterable[Note]:
    """Files that are not there, and files that several samples share (by path, symbolic or hard link)."""
    absent, shared = [], []
    seen: dict[tuple[int, int], str] = {}
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116 - a Path object for each of 130,000 files takes longer than the call
        except (OSError, ValueError):
            absent.append(path)
            continue
        key = (status.st_dev, status.st_ino)
        if key in seen:
            shared.append(path)
        else:
            seen[key] = path
    if absent:
        yield Note("problem", "missing media", "files are not there", len(absent), tuple(absent[:EXAMPLES]))
    if shared:
        text = "samples share one file with an earlier sample"
        yield Note("warning", "duplicate path", text, len(shared), tuple(shared[:EXAMPLES]))


def _partition(value: Any) -> str:
    text = _text(value).strip()
    return SPLIT_NAMES.get(text.lower(), text)


def _text(value: Any) -> str:
    """A value as text; a box as `x,y,width,height`, several separated by `;`."""
    if isinstance(value, (list, tuple)):
        inner = [v for v in value if v is not None]
        return (";" if any(isinstance(v, (list, tuple)) for v in inner) else ",").join(_text(v) for v in inner)
    return "" if value is None else str(value)


def _root(paths: Sequence[str]) -> str:
    """The directory that all files share; relative names are read below it."""
    folders = {str(PurePosixPath(p).parent) for p in paths}
    try:
        return Path(os.path.commonpath(folders)).as_posix()
    except ValueError:  # local and remote paths together
        return "/"
