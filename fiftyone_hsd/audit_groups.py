"""The grouping step of an audit: what is declared, then what the files themselves say."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from .errors import InputError
from .grouping._file_fields import SESSION, file_field, is_file_field, times
from .grouping._given_checks import against_names, against_paths
from .grouping.acquisition import acquisition
from .grouping.bytes import identical_bytes
from .grouping.merge import joined_by_others, merge
from .grouping.metadata import levels, metadata
from .grouping.names import NameRule, infer, name_links, witness
from .grouping.near_copies import near_copies
from .grouping.pixels import identical_pixels
from .grouping.review import read_verdicts, review
from .model import Bools, Descriptors, Grouping, Ints, Links, Note, Samples, Scan, Strings
from .progress import Progress
from .settings import Settings

GROUP_COLUMN = "group"


def find_groups(
    samples: Samples,
    found: Scan,
    options: Settings,
    progress: Progress,
    vectors: Descriptors | None = None,
    folder: Path | None = None,
) -> Grouping:
    """Groups from all sources; unknown samples become singletons, and that is said.

    Args:
        vectors: descriptors of the samples: the images as a witness for what the names say, and for candidates of near
            copies; None = names alone.
        folder: where the measurements of near copies are kept.

    Raises:
        InputError: `unknown="refuse"` and some samples are in no known group.
    """
    grouping = known_groups(samples, found, options, progress, vectors, folder)
    notes = list(grouping.notes)
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


def known_groups(
    samples: Samples,
    found: Scan,
    options: Settings,
    progress: Progress,
    vectors: Descriptors | None = None,
    folder: Path | None = None,
) -> Grouping:
    """Groups from what is declared, names, copies, near copies and reviewers; -1 where none of them says anything."""
    progress(0, 0, "groups")
    values, rule, said = declared(samples, options)
    links, notes = metadata(values, rule), [*_declared_notes(values, rule), *said]
    given = values if rule else np.full(len(samples), "", dtype="<U1")
    images = None if vectors is None else witness(vectors, samples.labels)
    by_name = infer(samples.names, samples.labels, samples.classes, images=images)
    if not rule:
        proposed, name_evidence, notes = inferred(samples, by_name, options.names)
        if options.names:
            values, links = proposed, name_evidence
    elif options.pattern is None:
        notes += [*against_paths(values, samples.names, rule), *against_names(values, by_name, samples.names, rule)]
    copies = [identical_bytes(found), identical_pixels(found)]
    parts = [links, *copies]
    if options.near_copies == "on" or (options.near_copies == "auto" and not rule):
        near = near_copies(
            samples,
            found,
            () if vectors is None else (vectors,),
            unrelated=partial(cannot_be_mates, samples, given, options.trust_split),
            threshold=options.near_threshold,
            folder=folder,
            progress=progress,
        )
        parts.append(near.links)
        notes += near.notes
    reviewed = review(samples.ids, [] if options.verdicts is None else read_verdicts(Path(options.verdicts)))
    grouping = merge(len(samples), [reviewed.links, *parts], values != "", reviewed.notes, apart=reviewed.apart)
    notes += [*_copy_notes(samples, copies), *_conflict_notes(values, grouping), *grouping.notes]
    return Grouping(grouping.codes, grouping.links, tuple(notes))


def cannot_be_mates(samples: Samples, given: Strings, trusted: bool, a: Ints, b: Ints) -> Bools:
    """bool (m,): pairs that different groups were given for, or that cross a split declared trustworthy.

    Raises:
        InputError: a split is declared trustworthy and there is none.
    """
    apart = (given[a] != given[b]) & (given[a] != "") & (given[b] != "")
    if not trusted:
        return np.asarray(apart, bool)
    split = samples.split
    if len(set(split.tolist()) - {""}) < 2:
        raise InputError("trust_split was asked for, but the corpus has no split", "an existing split")
    return np.asarray(apart | ((split[a] != split[b]) & (split[a] != "") & (split[b] != "")), bool)


def declared(samples: Samples, options: Settings) -> tuple[Strings, str, list[Note]]:
    """The group each sample was declared to be in ("" = not declared), the rule in words, and what to say about it."""
    ways = [name for name in ("groups", "group_field", "pattern") if getattr(options, name) is not None]
    if len(ways) > 1:
        raise InputError(f"{' and '.join(ways)} were given together", "one of groups, group_field, pattern")
    if options.groups is not None:
        from .folder import read_groups

        return read_groups(Path(options.groups), samples), f"file {Path(options.groups).name}", []
    if options.group_field is not None:
        return _columns(samples, options.group_field)
    if options.pattern is not None:
        from .grouping._user_pattern import pattern_groups

        return pattern_groups(samples.names, options.pattern), f"pattern {options.pattern}", []
    if GROUP_COLUMN in samples.metadata:
        return samples.metadata[GROUP_COLUMN], f"column {GROUP_COLUMN}", []
    return np.full(len(samples), "", dtype="<U1"), "", []


def _columns(samples: Samples, fields: str) -> tuple[Strings, str, list[Note]]:
    """The group by one column, or by several from coarse to fine, separated by commas; files may carry them."""
    columns = {}
    for name in (f.strip() for f in fields.split(",")):
        if name in samples.metadata or not is_file_field(name):
            columns[name] = samples.column(name)
        elif name == SESSION:
            return _sessions(samples)
        else:
            columns[name] = file_field(samples.paths, name)
    given = levels(columns)
    return given.values[given.group], given.rule, list(given.notes)


def _sessions(samples: Samples) -> tuple[Strings, str, list[Note]]:
    """Sessions by times of acquisition; what says no time, or lies in no session, is not declared."""
    links, rule = acquisition(times(samples.paths), file_field(samples.paths, "exif:BodySerialNumber"))
    values = np.full(len(samples), "", dtype=object)
    values[links.b] = values[links.a] = [samples.ids[i] for i in links.a]
    return values.astype(np.str_), rule, [] if len(links) else [Note("warning", "sessions", rule)]


def inferred(samples: Samples, rule: NameRule, used: bool) -> tuple[Strings, Links, list[Note]]:
    """Groups that the file names hold: (the id of the first member of each sample's group, links, what to say)."""
    if rule.abstained:
        text = f"no groups were read from the file names: {rule.reason}"
        return np.full(len(samples), "", dtype="<U1"), name_links(rule), [Note("info", "names", text)]
    first: dict[int, str] = {}
    for code, name in zip(rule.codes.tolist(), samples.ids, strict=True):
        first.setdefault(code, name)
    values = np.array([first[c] if c >= 0 else "" for c in rule.codes.tolist()], dtype=np.str_)
    found = f"{rule.rule}: {rule.groups} groups over {rule.matched:.0%} of the images"
    text = f"the file names seem to hold groups by {found}. They were not used: ask for names, or give a pattern"
    if used:
        text = (
            f"groups were inferred from the file names by {found}. Nobody confirmed this rule: look at the groups, and "
            "give groups, group_field or pattern if it is wrong"
        )
    losers = tuple(f"{r.rule} ({r.groups} groups): {r.why}" for r in rule.runners_up[:5])
    return values, name_links(rule), [Note("warning", "names", text, rule.groups, (*rule.evidence[:5], *losers))]


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
    text = "copies join groups that were declared apart"
    return [Note("problem", "conflict", text, len(joined), examples)]
