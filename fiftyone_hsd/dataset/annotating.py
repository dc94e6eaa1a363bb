"""Groups in a labelling workflow: whole groups to one annotator, and the groups whose labels disagree afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, InputError
from .reading import scalar_path

GROUP = "hsd_group"


@dataclass(frozen=True)
class Disagreement:
    """A group whose images carry several labels.

    Attributes:
        group: its id.
        labels: label -> images, the most frequent first.
    """

    group: str
    labels: dict[str, int]


def annotator_views(view: Any, annotators: Sequence[str]) -> dict[str, Any]:
    """One view for each annotator; a group is never shared out, and the numbers of images are balanced.

    The largest groups go first, each to whoever has the fewest images (longest processing time first, Graham 1969).
    Send each view on with `view.annotate(...)`, with `group_attribute()` in its label schema so that the group stays
    with the label.

    Raises:
        InputError: no annotator, or one twice.
        FieldError: the dataset holds no groups.
    """
    names = [str(a) for a in annotators]
    if not names or len(set(names)) != len(names):
        raise InputError(f"annotators {', '.join(names) or 'none'}", "at least one, each once")
    _grouped(view)
    load, groups = dict.fromkeys(names, 0), {name: list[str]() for name in names}
    counts = {k: int(v) for k, v in view.count_values(GROUP).items() if k is not None}
    for group, size in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        name = min(names, key=lambda n: load[n])
        groups[name].append(group)
        load[name] += size
    return {name: view.match({GROUP: {"$in": wanted}}) for name, wanted in groups.items()}


def group_attribute() -> dict[str, Any]:
    """Entry of a label schema's `attributes` that keeps the group beside the label, not to be edited."""
    return {GROUP: {"type": "text", "read_only": True}}


def disagreeing(view: Any, label_field: str) -> list[Disagreement]:
    """The groups whose images carry several labels, those with the most images first; counted by the database.

    Raises:
        FieldError: there is no such field, or the dataset holds no groups.
    """
    _grouped(view)
    path = scalar_path(view, label_field, "a Classification field")
    pipeline = [
        {"$match": {GROUP: {"$ne": None}, path: {"$ne": None}}},
        {"$group": {"_id": {"group": f"${GROUP}", "label": f"${path}"}, "n": {"$sum": 1}}},
        {"$group": {"_id": "$_id.group", "labels": {"$push": {"label": "$_id.label", "n": "$n"}}}},
        {"$match": {"labels.1": {"$exists": True}}},
    ]
    found = []
    for document in view._aggregate(pipeline=pipeline):
        labels = sorted(((str(x["label"]), int(x["n"])) for x in document["labels"]), key=lambda x: (-x[1], x[0]))
        found.append(Disagreement(document["_id"], dict(labels)))
    return sorted(found, key=lambda d: (-sum(d.labels.values()), d.group))


def _grouped(view: Any) -> None:
    if view.get_field(GROUP) is None:
        raise FieldError(f"there is no field {GROUP}", advice="run the audit with its marks first")
