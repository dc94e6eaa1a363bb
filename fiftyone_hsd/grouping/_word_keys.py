"""Words as keys, where there are no numbers to name things."""

from __future__ import annotations

import numpy as np

from ..model import Ints
from . import _words
from ._counters import combine
from ._fields import Column
from ._roles import Roles, rule_of
from ._standing import LEAST_GROUPS, Turned, steps_of

MANY_WORDS = 20
"""Different words from which on a word can name a thing rather than a kind of things."""


def things_in_words(
    part: Roles, labels: Ints | None, turned: list[Turned]
) -> tuple[tuple[Column, ...], Ints, list[str], float] | None:
    """Words as keys (`daria_walk`, `KA.AN1.39`, `jon_smith_0001`).

    Words name kinds rather than things, unless many of them hold few files each, or each holds files of several classes
    and not many.
    """
    for key in _phrases(part):
        codes = key[0].codes
        for c in key[1:]:
            codes = combine(codes, c.codes)
        m, distinct = len(codes), int(codes.max()) + 1
        steps = steps_of(key[-1], codes, part, key, frozenset())
        views = all(s.kind in ("views", "coordinate") for s in steps)
        several = 0.0
        if labels is not None:
            several = float((np.bincount(np.unique(np.stack([codes, labels]), axis=1)[0]) > 1).mean())
        many = distinct >= MANY_WORDS and m <= 10 * distinct
        crossing = (
            several >= 0.8
            and not _one_each(codes, labels)
            and distinct >= LEAST_GROUPS
            and m <= 50 * distinct
            and not key[0].folder
        )
        if (recorded := _recordings(key, part)) is not None:
            return recorded
        if not views or m < 1.5 * distinct or not (many or crossing):
            turned.append(Turned(rule_of(key), distinct, "words name kinds, not things, unless few files share one"))
            continue
        text = f"its {distinct} values hold {m / distinct:.1f} files each" + (" of several classes" if crossing else "")
        return key, codes, [text, *(s.text for s in steps)], 0.6
    return None


def _one_each(codes: Ints, labels: Ints | None) -> bool:
    """Whether every class has one file of nearly every word: conditions under which each was taken."""
    if labels is None:
        return False
    cells = int(combine(codes, labels - labels.min()).max()) + 1
    full = (int(codes.max()) + 1) * len(np.unique(labels))
    return len(codes) <= 1.05 * cells and cells >= 0.8 * full


def _recordings(key: tuple[Column, ...], part: Roles) -> tuple[tuple[Column, ...], Ints, list[str], float] | None:
    """Folders of words that hold numbered frames: each is a recording, also where a word of it is the class."""
    below = [c for c in part.varying if c.at > key[-1].at and c.depth > key[-1].depth]
    if not key[-1].folder or not any(c.hint in _words.SEQUENCE for c in below):
        return None
    whole = tuple(c for c in part.varying if c.depth == key[-1].depth)
    codes = whole[0].codes
    for c in whole[1:]:
        codes = combine(codes, c.codes)
    folders = int(codes.max()) + 1
    if folders < MANY_WORDS or len(codes) < 2 * folders:
        return None
    return whole, codes, [f"{folders} folders of numbered frames"], 0.6


def _phrases(part: Roles) -> list[tuple[Column, ...]]:
    """Words that stand side by side, together."""
    found: list[tuple[Column, ...]] = []
    for c in part.words:
        if c.kind != "word" or id(c) in part.like_class or id(c) in part.split:
            continue
        if found and found[-1][-1].place == c.place - 1 and found[-1][-1].depth == c.depth:
            found[-1] = (*found[-1], c)
        else:
            found.append((c,))
    return found
