"""Bulk writes and reads of sample documents, about five times faster than one `set_values` a field.

They go past the public API (`dataset._sample_collection`), so the time stamps are set here. Values and tags are only
ever data in an update or a literal match: a name with `$` or `.` is never read as an expression.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ..errors import StaleError
from ..model import SCHEMA
from ..progress import Progress
from .marks import Column, Marks
from .reading import fiftyone

BATCH = 10_000
DECLARED_AT_MOST = 5
"""Times that fields are declared before giving up."""


@dataclass(frozen=True)
class Record:
    """Names of everything an audit writes; it is stored with the run before the first mark is."""

    fields: tuple[str, ...]
    tags: tuple[str, ...]
    views: tuple[str, ...]
    evaluations: tuple[str, ...] = ()

    @staticmethod
    def planned(marks: Marks) -> Record:
        """The names in some marks; an evaluation has a field of its name."""
        names = (marks.columns, marks.views, marks.evaluations)
        fields, views, evaluations = (tuple(item.name for item in items) for items in names)
        return Record((*fields, *evaluations), tuple(t.tag for t in marks.tags), views, evaluations)

    def without(self, other: Record) -> Record:
        """The names that `other` lacks."""
        known = {*other.fields, *other.tags, *other.views}
        parts = (self.fields, self.tags, self.views, self.evaluations)
        return Record(*(tuple(n for n in part if n not in known) for part in parts))

    def to_json(self) -> dict[str, Any]:
        """As parameters of a custom run."""
        return {"schema": SCHEMA, **{k: list(v) for k, v in asdict(self).items()}}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Record:
        """Back from the parameters of a custom run."""
        names = (value["fields"], value["tags"], value["views"], value.get("evaluations", ()))
        return Record(*(tuple(part) for part in names))


def write_samples(dataset: Any, marks: Marks, progress: Progress) -> None:
    """Declare the fields and write all values and tags, one update a sample."""
    from bson import ObjectId
    from pymongo import UpdateOne

    _declare(dataset, marks.columns)
    tags: list[list[str]] = [[] for _ in marks.ids]
    for tagging in marks.tags:
        for row in tagging.rows.tolist():
            tags[row].append(tagging.tag)
    n = len(marks.ids)
    for start in range(0, n, BATCH):
        progress(start, n, "writing fields and tags")
        ids = marks.ids[start : start + BATCH]
        updates = []
        for row, name in enumerate(ids, start):
            update: dict[str, Any] = {"$set": {"last_modified_at": _now(), **_document(marks.columns, row)}}
            if tags[row]:
                update["$addToSet"] = {"tags": {"$each": tags[row]}}
            updates.append(UpdateOne({"_id": ObjectId(name)}, update))
        dataset._bulk_write(updates, ids=list(ids))
    progress(n, n, "writing fields and tags")


def _declare(dataset: Any, columns: tuple[Column, ...]) -> None:
    """Declare the fields, until the database has them all.

    FiftyOne saves the whole list of fields: who declares one at the same time in another process may drop ours.
    """
    wanted = list(columns)
    for _ in range(DECLARED_AT_MOST):
        for column in wanted:
            _declare_one(dataset, column)
        there = _declared(dataset)
        wanted = [column for column in columns if column.name not in there]
        if not wanted:
            return
        dataset.reload()
    names = ", ".join(c.name for c in wanted)
    raise StaleError(f"fields {names} cannot be declared: another process keeps changing the dataset's fields")


def _declared(dataset: Any) -> set[str]:
    """Names of the fields in the database, whatever this process believes."""
    documents = fiftyone().core.odm.get_db_conn().datasets
    found = documents.find_one({"_id": dataset._doc.id}, {"sample_fields.name": 1}) or {}
    return {field["name"] for field in found.get("sample_fields", ())}


def _declare_one(dataset: Any, column: Column) -> None:
    fo = fiftyone()
    kinds = {"str": fo.StringField, "int": fo.IntField, "float": fo.FloatField, "bool": fo.BooleanField}
    more: dict[str, Any] = {"description": column.description}
    if column.kind == "class":
        kinds["class"], more["embedded_doc_type"] = fo.EmbeddedDocumentField, fo.Classification
    dataset.add_sample_field(column.name, kinds[column.kind], **more)


def _document(columns: tuple[Column, ...], row: int) -> dict[str, Any]:
    from bson import ObjectId

    result: dict[str, Any] = {}
    for column in columns:
        value = column.values[row]
        if column.kind == "class" and value is not None:
            label, confidence = value
            head = {"_id": ObjectId(), "_cls": "Classification", "tags": []}
            value = {**head, "label": label, "confidence": confidence}
        result[column.name] = value
    return result


def digests(dataset: Any, record: Record, ids: Sequence[str] | None = None) -> dict[str, str]:
    """Sample id -> digest of its marks as they are in the database; samples without any are left out.

    Args:
        ids: only these samples; None = all.
    """
    from bson import ObjectId

    wanted = {} if ids is None else {"_id": {"$in": [ObjectId(i) for i in ids]}}
    ours = set(record.tags)
    shown = dict.fromkeys((*record.fields, "tags"), 1)
    result = {}
    for document in dataset._sample_collection.find(wanted, shown):
        values = [_plain(document.get(name)) for name in record.fields]
        tags = sorted(ours.intersection(document.get("tags") or ()))
        if tags or any(v is not None for v in values):
            text = json.dumps([values, tags], sort_keys=True, default=str)
            result[str(document["_id"])] = hashlib.blake2b(text.encode("ascii"), digest_size=8).hexdigest()
    return result


def alive(dataset: Any, ids: Iterable[str] | None = None) -> set[str]:
    """Ids of the samples that are there, in one query.

    Args:
        ids: only these, which may be any text; None = all.
    """
    from bson import ObjectId

    wanted = {} if ids is None else {"_id": {"$in": [ObjectId(i) for i in ids if ObjectId.is_valid(i)]}}
    return {str(document["_id"]) for document in dataset._sample_collection.find(wanted, {"_id": 1})}


def _plain(value: Any) -> Any:
    return {k: v for k, v in value.items() if k != "_id"} if isinstance(value, dict) else value


def remove_marks(dataset: Any, record: Record) -> int:
    """Take away the fields and tags; the number of samples that had any."""
    fo = fiftyone()
    collection = dataset._sample_collection
    ours = list(record.tags)
    there = [name for name in record.fields if name in dataset.get_field_schema()]
    marked = list(_marked(ours, there))
    count = collection.count_documents({"$or": marked}) if marked else 0
    for start in range(0, len(ours), BATCH):
        some = {"$in": ours[start : start + BATCH]}
        update = {"$pull": {"tags": some}, "$set": {"last_modified_at": _now()}}
        collection.update_many({"tags": some}, update)
    if there:
        dataset.delete_sample_fields(there)
    fo.Sample._reload_docs(dataset._sample_collection_name)
    return int(count)


def _marked(tags: list[str], fields: list[str]) -> Iterator[dict[str, Any]]:
    if tags:
        yield {"tags": {"$in": tags}}
    for name in fields:
        yield {name: {"$ne": None}}


def _now() -> datetime:
    """UTC without a zone, as FiftyOne stores its time stamps."""
    return datetime.now(UTC).replace(tzinfo=None)
