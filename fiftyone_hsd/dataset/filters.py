"""What a bar, a row or a button of the panel shows in the grid: a filter as plain JSON, and its view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from .reading import fiftyone

Filter = Mapping[str, Any]
"""Keys, all optional and joined by "and": equal {path: value}, at_least and below {path: number}, correct [path, path],
wrong [path, path], present [path, ...] (a value is there), tagged [...] (all of these tags), untagged [...] (none of
them), ids [...] (in that order), saved NAME (a saved view, taken as it is), everything True."""

KEYS = ("equal", "at_least", "below", "correct", "wrong", "present", "tagged", "untagged", "ids", "saved", "everything")
MOST_IDS = 2_000
"""Ids in one view stage; far below what a MongoDB document may hold."""


def filtered(dataset: Any, wanted: Filter) -> Any:
    """The images of a dataset that a filter wants. Values are compared as they are, never read as expressions.

    Raises:
        InputError: an unknown key, a saved view that is gone, or too many ids for one view.
    """
    unknown = sorted(set(wanted) - set(KEYS))
    if unknown:
        raise InputError(f"a filter with {', '.join(unknown)}", ", ".join(KEYS))
    if "saved" in wanted:
        if not dataset.has_saved_view(wanted["saved"]):
            raise InputError(f"the saved view {wanted['saved']!r} is gone", advice="run the audit again")
        return dataset.load_saved_view(wanted["saved"])
    view = images(dataset)
    for expression in _expressions(wanted):
        view = view.match(expression)
    for path in wanted.get("present", ()):
        view = view.exists(path)
    if "tagged" in wanted:
        view = view.match_tags(list(wanted["tagged"]), all=True)
    if "untagged" in wanted:
        view = view.match_tags(list(wanted["untagged"]), bool=False)
    if "ids" in wanted:
        view = _ordered(view, wanted["ids"])
    return view


def missing(dataset: Any, wanted: Filter) -> list[str]:
    """Paths that a filter asks about and that are no fields of the dataset any more."""
    paths = {*wanted.get("present", ()), *wanted.get("correct", ()), *wanted.get("wrong", ())}
    for key in ("equal", "at_least", "below"):
        paths.update(wanted.get(key, {}))
    return sorted(path for path in paths if not dataset.has_field(path))


def _expressions(wanted: Filter) -> list[Any]:
    fo = fiftyone()
    field, literal = fo.ViewField, fo.ViewExpression.literal
    found = [field(path) == literal(value) for path, value in wanted.get("equal", {}).items()]
    found += [field(path) >= float(value) for path, value in wanted.get("at_least", {}).items()]
    found += [field(path) < float(value) for path, value in wanted.get("below", {}).items()]
    for word in ("correct", "wrong"):
        if word in wanted:
            predicted, label = wanted[word]
            same = field(predicted) == field(label)
            found += [field(predicted).exists(), same if word == "correct" else ~same]
    return found


def _ordered(view: Any, ids: Sequence[str]) -> Any:
    if len(ids) > MOST_IDS:
        raise InputError(f"{len(ids)} images by id", f"at most {MOST_IDS}")
    return view.select(list(ids), ordered=True)


def images(dataset: Any) -> Any:
    """The dataset, or all image slices of a grouped one."""
    if dataset.media_type != "group":
        return dataset.view()
    return dataset.select_group_slices(sorted(s for s, kind in dataset.group_media_types.items() if kind == "image"))
