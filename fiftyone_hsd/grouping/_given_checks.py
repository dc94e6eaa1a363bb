"""A given key against the rest: what the paths say about the same files."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..model import Ints, Note, Strings
from ._rule import NameRule

EXAMPLES = 5
LONG = 4
"""Shortest value that is looked for in a path; shorter ones stand there by chance."""
NAMED = 0.5
"""Share of the files whose value occurs in some path, from which on values are taken for parts of paths."""
SURE = 0.5
"""Confidence of a name rule from which on it may contradict a given key."""
_PARTS = re.compile(r"[^\W_]+")


def against_paths(values: Strings, names: Sequence[str], column: str) -> list[Note]:
    """Values that are written in paths, but in those of other files.

    Args:
        values: (n,) str, "" = not given.
        names: n paths relative to the root.
        column: how to call the key.
    """
    wanted = {v.lower(): len(_PARTS.findall(v)) for v in set(values.tolist()) if _telling(v)}
    rows = [i for i, v in enumerate(values.tolist()) if v.lower() in wanted]
    if len(rows) < 2:
        return []
    sizes = sorted(set(wanted.values()))
    own, somewhere = np.zeros(len(rows), bool), set()
    for k, i in enumerate(rows):
        there = _phrases(names[i].lower(), sizes) & wanted.keys()
        own[k] = values[i].lower() in there
        somewhere |= there
    written = np.array([values[i].lower() in somewhere for i in rows])
    wrong = np.flatnonzero(~own)
    if written.mean() < NAMED or not len(wrong):
        return []
    examples = tuple(f"{names[rows[k]]}: {column} says {values[rows[k]]}" for k in wrong[:EXAMPLES])
    text = (
        f"{column} disagrees with the path in {len(wrong)} of {len(rows)} images: its value stands in the paths of "
        "other images, not in their own. Do not trust it before you know why"
    )
    return [Note("problem", "given key", text, len(wrong), examples)]


def _telling(value: str) -> bool:
    """Whether a value can be recognised in a path: long, with a digit, and not a bare year or small number."""
    return len(value) >= LONG and any(c.isdigit() for c in value) and (len(value) > LONG or not value.isdigit())


def _phrases(path: str, sizes: Sequence[int]) -> set[str]:
    """Stretches of so many parts of a path, with the separators between them."""
    parts = [(m.start(), m.end()) for m in _PARTS.finditer(path)]
    return {path[parts[i][0] : parts[i + s - 1][1]] for s in sizes if s for i in range(len(parts) - s + 1)}


def against_names(values: Strings, rule: NameRule, names: Sequence[str], column: str) -> list[Note]:
    """Whether given groups and the groups that the names seem to hold lie inside each other; files where they do not.

    Args:
        values: (n,) str, "" = not given.
        rule: what was inferred from the names.
        names: n paths relative to the root.
        column: how to call the key.
    """
    rows = np.flatnonzero((values != "") & (rule.codes >= 0))
    if rule.abstained or rule.confidence < SURE or len(rows) < 2:
        return []
    texts, given = np.unique(values[rows], return_inverse=True)
    named = np.unique(rule.codes[rows], return_inverse=True)[1]
    torn, joined = _minority(named, given), _minority(given, named)
    if not torn.any():
        return []
    if not joined.any():
        text = (
            f"{column} is finer than what the names seem to hold ({rule.rule}): {len(np.unique(named[torn]))} groups "
            f"of the names hold several of its values; if the names are right, those are not independent"
        )
        return [Note("warning", "given key", text, int(torn.sum()), _examples(torn, named, given, texts, rows, names))]
    count = int(min(torn.sum(), joined.sum()))
    text = (
        f"{column} disagrees with what the names seem to hold ({rule.rule}) in at least {count} of {len(rows)} images: "
        "neither grouping lies inside the other"
    )
    return [Note("problem", "given key", text, count, _examples(torn, named, given, texts, rows, names))]


def _minority(outer: Ints, inner: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(m,) True for the files whose `inner` is not the usual one of their `outer`."""
    width = int(inner.max()) + 1
    cells, where, count = np.unique(outer * width + inner, return_inverse=True, return_counts=True)
    order = np.lexsort((-count, cells // width))
    first = np.r_[True, np.diff((cells // width)[order]) != 0]
    usual = np.zeros(len(cells), bool)
    usual[order[first]] = True
    return ~usual[where]


def _examples(
    torn: np.ndarray[tuple[int], np.dtype[np.bool_]],
    named: Ints,
    given: Ints,
    texts: Strings,
    rows: Ints,
    names: Sequence[str],
) -> tuple[str, ...]:
    found = []
    for k in np.flatnonzero(torn)[:EXAMPLES]:
        mate = next(int(j) for j in np.flatnonzero(named == named[k]) if given[j] != given[k])
        one, two = (f"{names[rows[i]]} ({texts[given[i]]})" for i in (k, mate))
        found.append(f"{one} and {two} have one key in the name")
    return tuple(found)
