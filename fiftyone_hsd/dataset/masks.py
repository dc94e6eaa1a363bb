"""Objects in the images of a dataset: which fields hold some, and the masks of segmentations as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FieldError
from ..model import Bools
from .reading import OURS, fiftyone

BATCH = 256


def object_fields(view: Any) -> dict[str, str]:
    """Field -> kind of label, of the fields that say where objects are: boxes or a segmentation; ours left out."""
    fo = fiftyone()
    kinds = (fo.Detections, fo.Detection, fo.Segmentation)
    schema = view.get_field_schema(ftype=fo.EmbeddedDocumentField)
    found = {name: field.document_type for name, field in schema.items() if not name.startswith(OURS)}
    return {name: kind.__name__ for name, kind in found.items() if issubclass(kind, kinds)}


def object_masks(view: Any, field: str) -> Mapping[str, Bools] | None:
    """Sample id -> pixels of objects (0 = background, as FiftyOne has it) of a Segmentation field.

    Masks in the database are kept packed, eight pixels a byte; masks in files are read when they are asked for.

    Returns:
        None if the field holds no segmentation.

    Raises:
        FieldError: no image has a mask there.
    """
    fo = fiftyone()
    there = view.get_field(field) if field and not field.startswith("_") else None
    kind = getattr(there, "document_type", None)
    if kind is None or not issubclass(kind, fo.Segmentation):
        return None
    found = Masks()
    for start in range(0, len(view), BATCH):
        part = view.skip(start).limit(BATCH)
        for name, label in zip(*part.values(["id", field]), strict=True):
            if label is not None:
                found.keep(name, label)
    if not len(found):
        raise FieldError(f"no image has a mask in {field!r}", "a segmentation with masks", "choose another field")
    return found


class Masks(Mapping[str, Bools]):
    """Masks by sample id."""

    def __init__(self) -> None:
        self._packed: dict[str, tuple[NDArray[np.uint8], tuple[int, ...]]] = {}
        self._files: dict[str, str] = {}

    def keep(self, name: str, label: Any) -> None:
        """Keep the mask of one segmentation, if it has one."""
        if label.mask is not None:
            inside = _inside(label.mask)
            self._packed[name] = np.packbits(inside), inside.shape
        elif label.mask_path:
            self._files[name] = label.mask_path

    def __getitem__(self, name: str) -> Bools:
        if name in self._files:
            return _inside(fiftyone().Segmentation(mask_path=self._files[name]).get_mask())
        packed, shape = self._packed[name]
        return np.unpackbits(packed, count=int(np.prod(shape))).reshape(shape).astype(bool)

    def __iter__(self) -> Iterator[str]:
        yield from self._packed
        yield from self._files

    def __len__(self) -> int:
        return len(self._packed) + len(self._files)


def _inside(mask: Any) -> Bools:
    """bool (h, w), pixels of any object; a mask in colours has one where a channel is not 0."""
    array = np.asarray(mask)
    return np.asarray(array.any(axis=2) if array.ndim == 3 else array != 0, bool)
