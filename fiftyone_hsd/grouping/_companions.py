"""The words and sources under which the numbers of a key start again: they belong to the key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Ints
from . import _words
from ._counters import combine
from ._fields import Column
from ._numbering import FEW_RETURN, Numbered, Relation, relation
from ._roles import PURE, Roles, called, numbers_of, pure
from ._witness import LEAST_PAIRS, across, mates

MOST_WORDS = 12
"""Different words about which the pictures are asked."""


@dataclass(frozen=True, eq=False)
class Keyed:
    """A key with the words that belong to it.

    Attributes:
        key: its columns; codes: int64 (m,), its groups.
        why: what was decided about each word, and whether surely.
        paired: words under which the same numbers are surely the same things: those tell views apart.
    """

    key: tuple[Column, ...]
    codes: Ints
    why: tuple[str, ...]
    sure: bool
    paired: frozenset[int]


def with_words(
    column: Column,
    part: Roles,
    sources: list[Column],
    later: tuple[Column, ...],
    labels: Ints | None,
    label_column: Column | None,
) -> Keyed:
    """The key `column` together with the words and sources under which its numbers start again."""
    key, codes, why, sure = [column], column.codes, [], True
    paired: set[int] = set()
    numbers = numbers_of(column)
    candidates = [w for w in part.words if w is not column] + sources
    if column.well or any(_row_of(c, column) for c in part.varying):
        candidates += [c for c in part.identifiers if c.at < column.at and c not in sources]
    if label_column is not None:
        candidates.append(label_column)
    running = next((r for c in later if (r := numbers_of(c)) is not None and len(np.unique(r)) > 0.6 * len(r)), None)
    rows = np.arange(len(codes))

    def at(values: Ints | None) -> Ints | None:
        return None if values is None else values[rows]

    for word in candidates:
        before = word.at < column.at
        like_class = id(word) in part.like_class or word.place < 0
        like_class |= labels is not None and word.kind == "word" and pure(word.codes, labels) >= PURE
        if not before and word.kind != "word":
            continue
        known = _by_its_word(column, word, part) if before else None
        if known is not None:
            why.append(f"{called(word)} {'belongs' if known[0] else 'does not belong'} to the key: {known[1]}")
            key += [word] * known[0]
            codes = combine(codes, word.codes) if known[0] else codes
            continue
        if column.kind == "date" and word in sources:
            key.append(word)
            codes = combine(codes, word.codes)
            continue
        # Under a word that belongs to the key already, the question is asked where that word is most frequent.
        case = Numbered(
            column.codes[rows], at(numbers), word.codes[rows], _rest(column, word, part)[rows], at(running), at(labels),
            before, word.folder and not column.folder, like_class, id(word) in part.split, column.folder, _seen(word),
        )  # fmt: skip
        found = relation(case)
        if not found.sure or (not before and not found.text.startswith(FIRM)):
            found = _pictured(column, word, part) or found
        # Behind a number stands what tells its views apart, unless two running counts prove otherwise.
        if not before and not found.text.startswith(FIRM):
            continue
        # Numbers given out by a source are only known inside it, even where a few happen to return.
        nested = word in sources and len(np.unique(combine(codes, word.codes))) <= 1.03 * len(np.unique(codes))
        if found.numbering == "own" or nested or (word.hint in _words.SOURCE and not found.sure):
            key.append(word)
            codes = combine(codes, word.codes)
            if found.numbering == "own":
                rows = rows[word.codes[rows] == np.bincount(word.codes[rows]).argmax()]
            why.append(f"{called(word)} belongs to the key: {found.text or 'numbers are only known inside it'}")
        elif found.numbering == "common":
            why.append(f"{called(word)} does not belong to the key: {found.text}")
            if (found.sure and not like_class) or _seen(word):
                paired.add(id(word))
        sure &= found.sure
    return Keyed(tuple(sorted(key, key=lambda c: (c.place, c.part))), codes, tuple(why), sure, frozenset(paired))


def _by_its_word(column: Column, word: Column, part: Roles) -> tuple[bool, str] | None:
    """(does it belong to the key, why) where the word beside a number already says so."""
    if word.kind in ("date", "time", "year") and column.hint in _words.LASTING:
        return False, f"`{column.hint}` names what lasts from day to day"
    if _row_of(word, column):
        return True, "a letter and a number name a well or core together"
    row = any(_row_of(c, column) for c in part.varying)
    if (column.well or row) and id(word) not in part.split and not _seen(word):
        return True, "wells are only known on their plate"
    person = column.hint in _words.PERSON or column.hint in _words.PERSON_LETTERS
    if person and word.distinct > 3 and word.hint not in _words.SOURCE:
        cells = int(combine(column.codes, word.codes).max()) + 1
        if cells >= 0.9 * column.distinct * word.distinct:
            return False, f"the same `{column.hint}` numbers occur with all {word.distinct} of its values"
    return None


FIRM = ("both counts rise together", "pictures", FEW_RETURN)
"""Reasons that are proof enough for a word behind the number."""


def _pictured(column: Column, word: Column, part: Roles) -> Relation | None:
    """Whether equal numbers under two words look like one thing, where the names leave it open; None = pictures do too.

    They are compared with files of one number under one word: half way between those and strangers divides the two.
    """
    if part.images is None or word.kind != "word" or word.distinct > MOST_WORDS or _seen(word) or word.place < 0:
        return None
    inside = mates(part.images, combine(column.codes, word.codes))
    beside = across(part.images, column.codes, word.codes)
    if min(inside.pairs, beside.pairs) < LEAST_PAIRS or inside.low <= 1:
        return None
    half = inside.ratio**0.5
    if beside.high < half:
        return Relation("own", f"pictures of equal numbers under two words are {beside} times as near as strangers, "
                        f"under one word {inside}")  # fmt: skip
    if beside.low > half:
        return Relation("common", f"pictures of equal numbers under two words are {beside} times as near as strangers")
    return None


def _row_of(word: Column, column: Column) -> bool:
    """Whether a single letter directly before a small number is the row of a plate or array (`B-09`)."""
    beside = word.depth == column.depth and (word.place, column.part) in (
        (column.place - 1, column.part),
        (column.place, word.part + 1),
    )
    if not beside or column.kind != "number" or column.numbers is None or column.hint:
        return False
    letters = 3 <= word.distinct <= 16 and all(len(v) == 1 and "a" <= v <= "p" for v in word.values)
    crossed = int(combine(word.codes, column.codes).max()) + 1 >= 0.4 * word.distinct * column.distinct
    return letters and column.distinct >= 3 and int(column.numbers.max()) <= 24 and crossed


def _seen(word: Column) -> bool:
    """Whether all values are words for what is seen of a thing."""
    return all(v in _words.VIEWS for v in word.values)


def _rest(column: Column, word: Column, part: Roles) -> Ints:
    """Codes of all of the name that neither is the key or the split nor follows from the word."""
    rest = np.zeros(len(column.codes), np.int64)
    for c in part.varying:
        if c is column or c is word or id(c) in part.split:
            continue
        if c.distinct > word.distinct or pure(word.codes, c.codes) < PURE:
            rest = combine(rest, c.codes)
    return rest
