"""The grouping step of an audit: what is declared, then what the files themselves say."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .errors import InputError
from .grouping.bytes import identical_bytes
from .grouping.merge import joined_by_others, merge
from .grouping.metadata import metadata
from .grouping.pixels import identical_pixels
from .model import Grouping, Links, Note, Samples, Scan, Strings
from .progress import Progress
from .settings import Settings

GROUP_COLUMN = "group"


def find_groups(samples: Samples, found: Scan, options: Settings, progress: Progress) -> Grouping:
    """Groups from everything that was given and from exact copies; unknown samples become singletons, and that is said.

    Raises:
        InputError: `unknown="refuse"` and some samples are in no known group.
    """
    progress(0, 0, "groups")
    values, rule = declared(samples, options)
    copies = [identical_bytes(found), identical_pixels(found)]
    parts = [metadata(values, rule), *copies]
    grouping = merge(len(samples), parts, values != "")
    notes = [*_declared_notes(values, rule), *_copy_notes(samples, copies), *_conflict_notes(values, grouping)]
    unknown = int((grouping.codes < 0).sum())
    if unknown and options.unknown == "refuse":
        raise InputError(
            f"no source of groups says anything about {unknown} of {len(samples)} images",
            "a group for every image",
            "give groups, group_field or pattern for all of them, or unknown='singleton'",
        )
    if unknown:
        some = "every image" if unknown == len(samples) else f"{unknown} of {len(samples)} images"
        text = f"no source of groups says anything about {some}: each counts as its own group"
        notes.append(Note("warning", "unknown groups", text, unknown))
    whole = grouping.with_unknown_as_singletons()
    return Grouping(whole.codes, whole.links, tuple(notes))


def declared(samples: Samples, options: Settings) -> tuple[Strings, str]:
    """The group each sample was declared to be in ("" = not declared) and the rule in words."""
    ways = [name for name in ("groups", "group_field", "pattern") if getattr(options, name) is not None]
    if len(ways) > 1:
        raise InputError(f"{' and '.join(ways)} were given together", "one of groups, group_field, pattern")
    if options.groups is not None:
        from .folder import read_groups

        return read_groups(Path(options.groups), samples), f"file {Path(options.groups).name}"
    if options.group_field is not None:
        return samples.column(options.group_field), f"column {options.group_field}"
    if options.pattern is not None:
        from .grouping._user_pattern import pattern_groups

        return pattern_groups(samples.names, options.pattern), f"pattern {options.pattern}"
    if GROUP_COLUMN in samples.metadata:
        return samples.metadata[GROUP_COLUMN], f"column {GROUP_COLUMN}"
    return np.full(len(samples), "", dtype="<U1"), ""


def _declared_notes(values: Strings, rule: str) -> list[Note]:
    if not rule:
        return []
    stated = values[values != ""]
    text = f"groups by {rule}: {len(np.unique(stated))} groups over {len(stated)} of {len(values)} images"
    return [Note("info" if len(stated) else "problem", "rule", text, len(stated))]


def _copy_notes(samples: Samples, copies: list[Links]) -> list[Note]:
    notes = []
    for links, what in zip(copies, ("byte-identical files", "identical decoded pixels"), strict=True):
        if len(links):
            files = np.unique(np.r_[links.a, links.b])
            sets = len(files) - len(links)
            examples = [f"{samples.ids[a]} = {samples.ids[b]}" for a, b in zip(links.a[:5], links.b[:5], strict=True)]
            notes.append(
                Note("info", "copies", f"{what}: {len(files)} images in {sets} sets", len(files), tuple(examples))
            )
    both = Links.concat(copies)
    first, second = samples.labels[both.a], samples.labels[both.b]
    rows = np.flatnonzero((first != second) & (first >= 0) & (second >= 0))
    if len(rows):
        examples = [
            f"{samples.ids[both.a[r]]} ({samples.classes[first[r]]}) = {samples.ids[both.b[r]]} "
            f"({samples.classes[second[r]]})"
            for r in rows[:5]
        ]
        text = "identical images carry different labels"
        notes.append(Note("problem", "label conflict", text, len(rows), tuple(examples)))
    return notes


def _conflict_notes(values: Strings, grouping: Grouping) -> list[Note]:
    joined = joined_by_others(values, grouping)
    if not joined:
        return []
    examples = tuple(" + ".join(names[:4]) for _, names in joined[:5])
    text = "exact copies join groups that were declared apart"
    return [Note("problem", "conflict", text, len(joined), examples)]
