"""What `leaks` takes, in the forms that compute_leaky_splits takes it: splits and vectors of a collection or Samples.

FiftyOne collections are used through their own methods, so nothing of FiftyOne is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .descriptors import by_name
from .errors import FieldError, InputError
from .model import Descriptors, Ints, Note, Samples, Strings
from .progress import Progress
from .similarity_blocks import Rows

FOR_THE_MODEL = ("batch_size", "num_workers", "skip_failures")


class Given:
    """Samples, and in which split each is.

    Attributes:
        samples: as read.
        collection: the FiftyOne collection they came from, None for plain Samples.
        names: the splits to compare.
        partition: (n,) str, the split of each sample, "" = none.
        torn: int64, rows in more than one split; `partition` holds the first.
        notes: what a reader must know.
    """

    def __init__(self, source: Any, splits: Any, label_field: str | None) -> None:
        self.notes: list[Note] = []
        if isinstance(source, Samples):
            if label_field is not None:
                raise InputError("label_field for plain samples", "a FiftyOne collection", "leave it out")
            self.collection: Any = None
            self.samples = source
            member = _of_samples(source, splits)
        else:
            self.collection = source
            self.samples = self._read(source, label_field)
            member = _of_collection(source, splits)
        self.names, members = member
        if len(self.names) < 2:
            raise InputError(
                f"one split ({self.names[0]})" if self.names else "no split", "two or more", "name tags or a field"
            )
        of = [members.get(name, ()) for name in self.samples.ids]
        self.partition: Strings = np.array([m[0] if m else "" for m in of], np.str_)
        self.torn: Ints = np.array([row for row, m in enumerate(of) if len(m) > 1], np.int64)
        if len(self.torn):
            text = "samples are in more than one split: each leaks by itself, and was compared as part of the first"
            first = tuple(self.samples.ids[row] for row in self.torn[:5])
            self.notes.append(Note("problem", "split", text, len(self.torn), first))
        unsplit = int((self.partition == "").sum())
        if unsplit:
            self.notes.append(Note("info", "split", "samples are in none of the splits and take no part", unsplit))

    def _read(self, collection: Any, label_field: str | None) -> Samples:
        from .dataset import from_view

        try:
            return from_view(collection, label_field=label_field)
        except FieldError as error:
            if label_field is not None:
                raise
            self.notes.append(Note("not evaluated", "labels", f"rates per class: {error.came}"))
            return from_view(collection.select_fields("tags"))

    def vectors(
        self,
        embeddings: Any,
        similarity_index: Any,
        model: Any,
        descriptor: str,
        options: Mapping[str, Any],
        progress: Progress,
    ) -> Descriptors:
        """Unit vectors of the samples, from the one source that was given."""
        options = {k: v for k, v in options.items() if v is not None and v is not False}
        allowed = FOR_THE_MODEL if model is not None else ()
        if others := sorted(set(options) - set(allowed)):
            raise InputError(
                f"the option {', '.join(others)}",
                f"with `model`: {', '.join(FOR_THE_MODEL)}",
                "for regions of images pass view.to_patches(FIELD)" if "roi_field" in others else "leave it out",
            )
        if model is not None:
            return self._by_model(model, embeddings, options)
        if similarity_index is not None:
            return self._by_index(similarity_index)
        if embeddings is not None:
            return self._given(embeddings)
        return self._described(descriptor, progress)

    def _given(self, embeddings: Any) -> Descriptors:
        if isinstance(embeddings, Descriptors):
            return self._unit(embeddings.values, embeddings.name)
        if isinstance(embeddings, str):
            if self.collection is None:
                raise InputError(f"the field {embeddings!r} for plain samples", "an array (n, d) or Descriptors")
            if self.collection.get_field(embeddings) is None:
                raise FieldError(f"there is no field {embeddings!r}", "a field that holds vectors")
            return self._unit(_stack(self.collection.values(embeddings)), f"field {embeddings}")
        if isinstance(embeddings, Mapping):
            raise InputError("embeddings of patches", "one vector a sample", "pass view.to_patches(FIELD) instead")
        return self._unit(np.asarray(embeddings), "embeddings")

    def _by_index(self, index: Any) -> Descriptors:
        if isinstance(index, str):
            if self.collection is None:
                raise InputError(f"the brain key {index!r} for plain samples", "an array (n, d) as `embeddings`")
            index = self.collection.load_brain_results(index)
        values, ids, patches = index.get_embeddings()
        if patches is not None:
            raise InputError("a similarity index of patches", "one vector a sample")
        row = {name: i for i, name in enumerate(ids)}
        ours = [row.get(name, -1) for name in self.samples.ids]
        full = np.zeros((len(ours), np.asarray(values).shape[1]), np.float32)
        there = np.array(ours) >= 0
        full[there] = np.asarray(values)[np.array(ours)[there]]
        return self._unit(full, "similarity index")

    def _by_model(self, model: Any, field: Any, options: Mapping[str, Any]) -> Descriptors:
        if self.collection is None or isinstance(model, str):
            raise InputError(
                f"the model {model!r}" + (" for plain samples" if self.collection is None else ""),
                "a FiftyOne model object, with a FiftyOne collection",
                "pass fiftyone.zoo.load_zoo_model(NAME), or name a descriptor of ours as `descriptor`",
            )
        values = self.collection.compute_embeddings(model, embeddings_field=field, **options)
        return self._unit(_stack(self.collection.values(field) if field else values), type(model).__name__)

    def _described(self, descriptor: str, progress: Progress) -> Descriptors:
        from .encoding import encode
        from .places import cache_folder

        found, failures = encode(self.samples.paths, by_name(descriptor), folder=cache_folder(), progress=progress)
        if failures:
            text = "images cannot be used and match nothing"
            first = tuple(f"{Path(p).name}: {reason}" for p, reason in list(failures.items())[:5])
            self.notes.append(Note("problem", "failure", text, len(failures), first))
        return found

    def _unit(self, values: NDArray[Any], name: str) -> Descriptors:
        """Unit rows of the samples; a collection that shows a sample twice gives as many vectors as it shows."""
        n = len(self.samples)
        if self.collection is not None and len(values) != n:
            shown: dict[str, int] = {}
            for row, sample in enumerate(self.collection.values("id")):
                shown.setdefault(sample, row)
            if len(values) == len(self.collection):
                values = values[[shown[sample] for sample in self.samples.ids]]
        if values.ndim != 2 or len(values) != n:
            raise InputError(f"embeddings of shape {values.shape}", f"shape ({n}, d), in the order of the samples")
        rows = Rows.of(values, "embeddings")
        if absent := n - len(rows):
            self.notes.append(Note("warning", "descriptors", "samples have no vector and match nothing", absent))
        unit = np.zeros((n, rows.dim), np.float32)
        unit[rows.alive] = rows.block(0, len(rows))
        return Descriptors(name, unit)


def _stack(rows: ArrayLike | Iterable[Any]) -> NDArray[Any]:
    """(n, d); rows that are None become zero."""
    if isinstance(rows, np.ndarray):
        return rows
    items = list(rows)  # type: ignore[arg-type]
    dim = next((len(r) for r in items if r is not None), 0)
    return np.stack([np.zeros(dim) if r is None else np.asarray(r) for r in items]) if items else np.zeros((0, dim))


def _of_samples(samples: Samples, splits: Any) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """(names of the splits, id -> the splits it is in)."""
    column = samples.split
    if isinstance(splits, str):
        column = samples.column(splits)
    elif isinstance(splits, Mapping):
        raise InputError("splits as a dict for plain samples", "names of partitions, a metadata column, or None")
    there = sorted(set(column.tolist()) - {""})
    names = there if splits is None or isinstance(splits, str) else [str(s) for s in splits]
    _known(names, there)
    return tuple(names), {i: (v,) for i, v in zip(samples.ids, column.tolist(), strict=True) if v in names}


def _of_collection(collection: Any, splits: Any) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """As `_of_samples`, with one bulk read, never a view a split."""
    if splits is None:
        raise InputError("no splits", "a list of tags, a field, or a dict of views", "say `splits=`")
    found: dict[str, list[str]] = {}
    if isinstance(splits, Mapping):
        for name, view in splits.items():
            for sample in view.values("id"):
                found.setdefault(sample, []).append(str(name))
        return tuple(str(s) for s in splits), {k: tuple(v) for k, v in found.items()}
    path = splits if isinstance(splits, str) else "tags"
    field = collection.get_field(path)
    if field is None:
        raise FieldError(f"there is no field {path!r}", ", ".join(collection.get_field_schema()))
    ids, values = collection.values(["id", f"{path}.label" if hasattr(field, "document_type") else path])
    for sample, value in zip(ids, values, strict=True):
        several = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
        found[sample] = [str(v) for v in several]
    there = sorted({v for values in found.values() for v in values})
    names = there if isinstance(splits, str) else [str(s) for s in splits]
    _known(names, there)
    return tuple(names), {k: tuple(n for n in names if n in v) for k, v in found.items()}


def _known(names: Iterable[str], there: Iterable[str]) -> None:
    have = list(there)
    if absent := [n for n in names if n not in have]:
        raise FieldError(f"no sample is in the split {', '.join(absent)}", ", ".join(have[:30]) or "no split at all")
