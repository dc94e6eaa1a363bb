"""Whether a key names things that several files show: what speaks for it and what against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..model import Ints
from . import _words
from ._companions import Keyed
from ._counters import Step, combine, shared, step
from ._fields import Column
from ._roles import Roles, called, numbers_of, pure

LEAST_GROUPS = 5
"""Fewer values are a condition or a source (modality, magnification, site), unless a word calls them things."""
LEAST_NAMED = 2
FEW_GROUPS, LARGE = 10, 50
"""Fewer groups of more files each are taken for sources unless a word names them or more than a count is inside."""
RARE = 0.05
"""Share of names in groups of two or more below which a field counts as different in every file."""
FAN_OUT = 4.0
"""Numbers of their own a source holds at least on average; a patient has fewer accession numbers."""
MOST_SOURCES = 200
FEW_VIEWS = 12
"""Most values of a word before the key that can tell views apart (modality, magnification, side)."""


@dataclass(frozen=True)
class Turned:
    """A candidate that lost: the rule in words, number of groups, and why."""

    rule: str
    groups: int
    why: str
    codes: Ints | None = None


def judge(column: Column, keyed: Keyed, part: Roles, labels: Ints | None) -> tuple[str, list[str], float]:
    """("", evidence, strength) for a key that stands, (why not, [], 0) for one that does not."""
    refused = _refused(column, keyed.codes, part, labels)
    if refused:
        return refused, [], 0.0
    key, codes = keyed.key, keyed.codes
    groups = int(codes.max()) + 1
    steps = steps_of(column, codes, part, key, keyed.paired)
    good = [s for s in steps if s.kind in ("views", "run", "coordinate")]
    bad = [s for s in steps if s.kind == "unexplained" or (s.kind == "time" and column.kind in ("date", "time"))]
    # A time of day that is the last thing to tell files apart is no count of views.
    bad += [s for s in steps[-1:] if s.kind == "time"]
    few = column.hint not in _words.ENTITY and groups < FEW_GROUPS and len(codes) > LARGE * groups and len(good) == 1
    if few and not any(c.hint in _words.SEQUENCE for c in part.identifiers):
        return "few large groups with nothing but a count inside: a source or a condition", [], 0.0
    doubt = 1.0
    if good and not bad:
        doubt *= 0.25 if any(s.kind == "coordinate" for s in good) or len(good) > 1 else 0.35
    values = list(_of_values(column, key))
    for share, _ in values:
        doubt *= share
    if doubt == 1.0:
        return "nothing in the rest of the name looks like views of one thing", [], 0.0
    evidence = [f"{groups} groups, {shared(codes):.0%} of the names in groups of two or more"]
    return "", [*evidence, *(s.text for s in good), *(text for _, text in values)], 1 - doubt


def _refused(column: Column, codes: Ints, part: Roles, labels: Ints | None) -> str:
    """Why a field cannot be the key whatever stands behind it, "" if it can."""
    if shared(codes) < RARE:
        return "it is different in (nearly) every file"
    if labels is not None and pure(labels, codes) >= 0.95:
        return "it only repeats the class"
    least = LEAST_NAMED if column.hint in _words.ENTITY else LEAST_GROUPS
    if min(int(codes.max()) + 1, column.distinct) < least:
        return f"fewer than {LEAST_GROUPS} groups: a condition or a source"
    if from_source(column):
        return f"`{column.hint}` is where files come from, not a group"
    if column.hint in _words.CLASS:
        return f"`{column.hint}` names a property, not a thing"
    if _by_chance(column, codes):
        return "it repeats no more often than random values would"
    if (size := _shards(column, codes, part)) > 0:
        return f"folders of {size} consecutive files each: packing, not groups"
    sitting = column.hint in _words.SITTING and not any(c.at < column.at for c in part.identifiers)
    if column.hint in _words.ATTRIBUTE - _words.ENTITY and not sitting:
        return f"`{column.hint}` tells files of one thing apart"
    return ""


def _of_values(column: Column, key: tuple[Column, ...]) -> Iterator[tuple[float, str]]:
    """(share of the doubt that is left, reason) for what the values of a key say by themselves."""
    if column.hint in _words.ENTITY:
        yield 0.4, f"`{column.hint}` names a thing"
    if column.kind == "opaque":
        yield 0.1, "long codes repeat, which chance cannot do"
    elif column.kind == "time" and (any(c.kind == "date" for c in key) or _dated(column)):
        yield 0.3, "one moment returns in several files"
    elif (holes := _holes(column)) < 0.5:
        yield 0.5, f"its numbers use {holes:.0%} of their range and still repeat: names of things, not a count"
    if any(c.hint in _words.SOURCE for c in key) and column.kind == "date":
        yield 0.5, "a date at a numbered place is a session"


def _dated(column: Column) -> bool:
    """Whether the values hold day and second together."""
    return all(sum(c.isdigit() for c in v) >= 14 for v in column.values[:50])


def steps_of(column: Column, codes: Ints, part: Roles, key: tuple[Column, ...], paired: frozenset[int]) -> list[Step]:
    """The columns behind the key, one by one, as divisions of its groups; then the paired words before it."""
    parent, steps = codes, []
    behind = [c for c in part.varying if c.at > column.at]
    position: Column | None = None
    for c in behind:
        if c in key or id(c) in part.split:
            continue
        # `tile_18_71`: the word before the first number of a position counts for the second as well.
        second = position is not None and c.kind == "number" and not c.hint and c.place == position.place + 1
        made = step(parent, c, called(c), second or c.hint in _words.COORDINATE, numbers_of(c))
        if made.kind == "unexplained" and c.hint in _words.SEQUENCE:
            made = replace(made, kind="run", text=f"`{c.hint}` numbers what was recorded of it")
        if made.kind == "unexplained" and c.hint in _words.ENTITY - _words.ATTRIBUTE:
            made = replace(made, kind="", text="")  # a finer thing by its word
        position = c if made.kind == "coordinate" and not second else None
        if made.kind and id(c) not in part.like_class:
            last_is_time = made.kind == "when" and c.kind == "time"
            steps.append(replace(made, kind="time") if last_is_time else made)
        parent = combine(parent, c.codes)
    for c in part.varying:
        if id(c) in paired and c not in key and c not in behind and c.distinct <= FEW_VIEWS:
            made = step(parent, c, called(c), False, None)
            if made.kind == "views":
                steps.append(made)
            parent = combine(parent, c.codes)
    return steps


def _by_chance(column: Column, codes: Ints) -> bool:
    """Whether values repeat as random draws from their range would: pairs expected n^2 / 2N, where N exceeds n."""
    n = len(codes)
    if column.kind == "number" and column.numbers is not None:
        wide = int(column.numbers.max() - column.numbers.min()) + 1
    elif column.kind == "code":
        some = column.values[:2000]
        wide = int(np.prod([float(len({v[i] for v in some if len(v) > i})) for i in range(min(map(len, some)))]))
    else:
        return False
    if wide <= n:
        return False
    count = np.bincount(codes)
    pairs = float((count * (count - 1) / 2).sum())
    return pairs < 3 * n * n / (2 * wide) and len(count) > 0.9 * wide * (1 - np.exp(-n / wide))


def _holes(column: Column) -> float:
    """Share of the range of numbers that occurs; 1 for anything else than a number."""
    if column.numbers is None or column.kind != "number":
        return 1.0
    low, high = int(column.numbers.min()), int(column.numbers.max())
    # Angles and every tenth frame leave equal gaps, which are no gaps.
    pace = int(np.gcd.reduce(column.numbers - low)) or 1
    return column.distinct / ((high - low) // pace + 1)


def _shards(column: Column, codes: Ints, part: Roles) -> int:
    """The common size of folders that cut one long count into equal pieces, 0 if they do not."""
    if not column.folder:
        return 0
    count = np.bincount(codes)
    usual = int(np.median(count))
    if usual < 100 or (count == usual).mean() < 0.8 * (1 - 1 / len(count)):
        return 0
    for c in part.varying:
        numbers = numbers_of(c)
        if not c.folder and numbers is not None and len(np.unique(numbers)) > 0.98 * len(numbers):
            return usual
    return 0


def crossed(column: Column, later: tuple[Column, ...]) -> str:
    """Why a key that stands only tells views of a later field apart, which returns under its values; "" otherwise."""
    if (of := next((c for c in later if _index_of(column, c)), None)) is not None:
        return f"every {called(of)} returns under each of its values: it counts versions of one thing"
    if (person := next((c for c in later if _person_across(column, c)), None)) is not None:
        return f"`{person.hint}` behind it names a living being that returns under its values"
    if column.kind == "date" and (lasting := next((c for c in later if _lasts(column, c)), None)):
        return f"{called(lasting)} returns on other days"
    return ""


def source(column: Column, codes: Ints, later: tuple[Column, ...]) -> str:
    """Why a key that stands is only the source of a finer one, "" if it is not."""
    groups = int(codes.max()) + 1
    if any(c.well for c in later):
        return "wells inside it are prepared one by one: a plate or a batch"
    for c in later:
        if c.kind in ("date", "time", "year") or (c.hint in _words.ATTRIBUTE and c.hint not in _words.ENTITY):
            continue
        below = combine(codes, c.codes)
        if shared(below) < 0.05:
            break
        fine = int(below.max()) + 1
        if fine < 1.02 * groups:
            continue
        if c.hint in _words.PERSON and column.hint not in _words.PERSON:
            return f"`{c.hint}` inside it names a living being"
        if column.hint in _words.ENTITY:
            return ""
        nested = fine <= 1.03 * c.distinct
        if nested and fine / groups >= FAN_OUT and groups <= MOST_SOURCES and not _restarts(codes, c):
            return f"it holds {fine / groups:.0f} of {called(c)} each, and none of them returns elsewhere: a source"
        return ""
    return ""


def _person_across(column: Column, person: Column) -> bool:
    """Whether a person's number, perhaps behind `s` or `p` alone (`a02_s01_e03`), returns under a field's values."""
    across = int(combine(column.codes, person.codes).max()) + 1
    if person.hint in _words.PERSON and column.hint not in _words.PERSON:
        return across >= 0.5 * column.distinct * person.distinct
    if column.hint == "s" and person.hint == "p" and person.distinct >= 2 * column.distinct:
        return True  # more people than settings
    letters = (
        len(column.hint) == 1 and person.hint in _words.PERSON_LETTERS and column.hint not in _words.PERSON_LETTERS
    )
    return letters and across >= 0.9 * column.distinct * person.distinct


def _lasts(day: Column, column: Column) -> bool:
    """Whether a field below a date names things that are seen on several days, each in several files."""
    if column.hint in _words.LASTING:
        return True
    if column.hint in _words.ATTRIBUTE | _words.COUNTER | _words.SOURCE or not column.hint:
        return False
    both = combine(day.codes, column.codes)
    return int(both.max()) + 1 >= 0.5 * day.distinct * column.distinct and shared(both) >= 0.5


def _index_of(column: Column, thing: Column) -> bool:
    """Whether a few small numbers are crossed in full with a later, longer list of numbered images or things."""
    if column.hint or column.kind != "number" or column.distinct > FEW_VIEWS or thing.kind != "number":
        return False
    counts = thing.hint in _words.COUNTER | _words.ENTITY and thing.hint not in _words.ATTRIBUTE
    cells = int(combine(column.codes, thing.codes).max()) + 1
    return counts and thing.distinct >= 5 * column.distinct and cells >= 0.98 * column.distinct * thing.distinct


def from_source(column: Column) -> bool:
    """Whether the word beside a number says where files come from; many parts inside a file name are things."""
    piece = column.hint == "part" and not column.folder and column.distinct > FEW_VIEWS
    return column.hint in _words.SOURCE and not piece


def _restarts(parent: Ints, column: Column) -> bool:
    return step(parent, column, "", False, None).kind == "views"
