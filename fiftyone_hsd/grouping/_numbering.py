"""Does a count start again with a word? The same number under two words is then two things.

All tests compare with what chance would give; the limits are our choice and stated beside each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..model import Ints
from ._counters import combine, distinct_rows

UNEVEN = 1.6
"""Ratio of how densely two words fill their ranges: counts of their own would be equally dense after any sampling."""
SOME_ROWS = 5000
"""Names looked at where all of them would say no more."""
FEW_RETURN = "few numbers return under another word"

Numbering = Literal["", "own", "common"]


@dataclass(frozen=True)
class Relation:
    """Whether a count starts again with every value of a word.

    Attributes:
        numbering: own = it starts again, the same number under two words is two things; common = one thing;
            "" = no number occurs under two words, so it does not matter.
        text: the reason.
        sure: False where the names leave both open.
    """

    numbering: Numbering
    text: str
    sure: bool = True


@dataclass(frozen=True, eq=False)
class Numbered:
    """A key and the word it may start again with.

    Attributes:
        key: int64 (m,), codes of the key.
        numbers: int64 (m,), the key's number in each name, None if it is none.
        word: int64 (m,), codes of the word (a directory, a word of the name, the label).
        rest: int64 (m,), codes of everything else in the name that the word does not fix.
        running: int64 (m,), a later number that is different in nearly every name, None without one.
        labels: int64 (m,), -1 = none; None without labels.
        before: whether the word stands before the key.
        apart: whether the word is a folder and the key stands in the file name.
        like_class: whether the word says no more than the label.
        split: whether the word is a part of a split.
        folders: whether the key is a folder, so that everything below starts again by itself.
        seen: whether all values of the word say what is seen of a thing (image, mask; axial, coronal).
    """

    key: Ints
    numbers: Ints | None
    word: Ints
    rest: Ints
    running: Ints | None
    labels: Ints | None
    before: bool
    apart: bool
    like_class: bool
    split: bool
    folders: bool
    seen: bool


def relation(case: Numbered) -> Relation:
    """Do equal keys under different words name one thing?"""
    pairs = distinct_rows(case.key, case.word)
    under = np.bincount(case.key[pairs])
    if not (under > 1).any():
        return Relation("", "")
    monotone = _monotone(case.numbers, case.word, case.running)
    if monotone is not None:
        return monotone
    if _same_rest(case):
        return Relation("common", "equal keys have the same rest of the name under another word, other keys have not")
    if not case.folders:
        clash = _clashing(case.key, case.word, case.rest, under)
        if clash is not None and clash < 0.1:
            return Relation("common", "the names stay different without it, so one numbering runs through all")
        if clash is None and (case.split or case.apart):
            return Relation("common", "nothing in the names needs it to tell them apart", False)
    if not case.like_class:
        mates = _labels_agree(case, pairs)
        if mates is not None:
            return mates
    single = len(pairs) > 0.98 * len(case.key)
    numbers = None if case.numbers is None else case.numbers[pairs]
    return _overlap(case, pairs, numbers, single)


def _labels_agree(case: Numbered, pairs: Ints) -> Relation | None:
    """Whether equal keys under two words have equal labels: views of one thing have, strangers only by chance."""
    if case.labels is None:
        return None
    rows = pairs[np.lexsort((case.word[pairs], case.key[pairs]))]
    rows = rows[case.labels[rows] >= 0]
    same = np.flatnonzero(np.diff(case.key[rows]) == 0)
    if len(same) < 30:
        return None
    one, two = case.labels[rows[same]], case.labels[rows[same + 1]]
    if case.numbers is not None and _in_blocks(case.numbers[rows], case.word[rows], case.labels[rows]):
        return None
    size = int(max(one.max(), two.max())) + 1
    chance = float((np.bincount(one, minlength=size) * np.bincount(two, minlength=size)).sum()) / len(same) ** 2
    seen = float((one == two).mean())
    spread = (chance * (1 - chance) / len(same)) ** 0.5
    if seen > chance + 4 * spread:
        text = f"{seen:.0%} of equal keys have equal labels under another word, {chance:.0%} by chance"
        return Relation("common", text)
    return None


def _same_rest(case: Numbered) -> bool:
    """Whether what else is in the name is the same under two words for one key, and another for the next key."""
    order = np.lexsort((case.rest, case.word, case.key))[:SOME_ROWS]
    cells: dict[int, dict[int, set[int]]] = {}
    for k, w, v in zip(case.key[order].tolist(), case.word[order].tolist(), case.rest[order].tolist(), strict=True):
        cells.setdefault(k, {}).setdefault(w, set()).add(v)
    pairs = [tuple(words.items())[:2] for words in list(cells.values())[:-1] if len(words) > 1]
    if len(pairs) < 20:
        return False
    same = [len(one & two) / len(one | two) for (_, one), (_, two) in pairs]
    other = [
        len(a[0][1] & b[1][1]) / len(a[0][1] | b[1][1]) for a, b in zip(pairs, [*pairs[1:], pairs[0]], strict=True)
    ]
    return float(np.mean(same)) >= 0.9 and float(np.mean(other)) <= 0.5


def _in_blocks(numbers: Ints, word: Ints, labels: Ints) -> bool:
    """Whether neighbours of a count have equal labels: equal numbers of two counts then agree without being one."""
    order = np.lexsort((numbers, word))
    beside = np.diff(word[order]) == 0
    share = np.bincount(labels) / len(labels)
    chance = float((share**2).sum())
    seen = float((np.diff(labels[order])[beside] == 0).mean()) if beside.any() else 0.0
    return seen > chance + 0.2 * (1 - chance)


def _monotone(numbers: Ints | None, word: Ints, running: Ints | None) -> Relation | None:
    if numbers is None or running is None:
        return None
    joint = np.argsort(running, kind="stable")
    apart = np.lexsort((running, word))
    falls = np.diff(numbers[joint]) < 0
    across = np.diff(word[joint]) != 0
    falls_joint = float(falls.mean())
    # Where the word changes from one name to the next: half of two counts fall, none of one.
    falls_across = float(falls[across].mean()) if across.any() else 0.0
    inside = np.diff(word[apart]) == 0
    falls_apart = float((np.diff(numbers[apart])[inside] < 0).mean()) if inside.any() else 1.0
    # Two counts that rise together inside each word but not over all words were made word by word.
    if (
        falls_apart <= 0.02
        and falls_across >= max(0.15, 5 * falls_apart)
        and _poisson_tail(int(falls[across].sum()), 0.02 * across.sum()) < 1e-3
    ):
        return Relation("own", f"both counts rise together inside each word ({falls_apart:.1%} falls), not from one "
                        f"to the other ({falls_across:.0%})")  # fmt: skip
    if falls_joint <= 0.02:
        return Relation("common", f"both counts rise together over all words ({falls_joint:.1%} falls)")
    return None


def _clashing(key: Ints, word: Ints, rest: Ints, under: Ints) -> float | None:
    """Share of the keys under two words that hold equal names under both; None where names could not clash anyway."""
    several = under[key] > 1
    name = combine(key[several], rest[several])
    if len(np.unique(rest[several])) > 0.5 * several.sum():
        return None  # the rest is different in nearly every name: nothing could clash
    rows = distinct_rows(name, word[several])
    twice = np.bincount(name[rows]) > 1
    owner = np.zeros(len(twice), np.int64)
    owner[name] = key[several]
    return len(np.unique(owner[twice])) / len(np.unique(key[several]))


def _overlap(case: Numbered, pairs: Ints, numbers: Ints | None, single: bool) -> Relation:
    """Equal numbers under two words against what two counts of their own would share by chance."""
    key, word, before, like_class = case.key[pairs], case.word[pairs], case.before, case.like_class or case.split
    under = np.bincount(key)
    seen = float((under * (under - 1) / 2).sum())
    if numbers is None:
        if len(under) >= 20 and (under == under.max()).mean() > 0.9 and before and like_class:
            return Relation("own", "the same keys occur under every class", False)
        return Relation("common", f"{int((under > 1).sum())} keys occur under several words")
    size = np.bincount(word)
    # Every second number or every tenth: the count has a pace.
    numbers = (numbers - numbers.min()) // max(1, int(np.gcd.reduce(numbers - numbers.min())))
    low, high = np.full(len(size), np.iinfo(np.int64).max), np.full(len(size), -1)
    np.minimum.at(low, word, numbers)
    np.maximum.at(high, word, numbers)
    dense = size / np.maximum(high - low + 1, 1)
    reach = np.maximum(np.minimum(high[:, None], high) - np.maximum(low[:, None], low) + 1, 0)
    upper = np.triu_indices(len(size), 1)
    expected = float((reach * dense[:, None] * dense)[upper].sum())
    possible = float(np.minimum(np.minimum(size[:, None], size), reach)[upper].sum())
    if not before and (text := _sparsely_shared(size, len(under), seen, expected)):
        return Relation("own", text)
    if seen < expected - 3 * expected**0.5 and seen <= 0.6 * expected:
        return Relation("common", f"only {seen:.0f} numbers return under another word, {expected:.0f} would by chance")
    if seen > expected + 3 * expected**0.5 and seen >= 1.4 * expected:
        return Relation("common", f"{seen:.0f} numbers return under another word, {expected:.0f} would by chance")
    if expected >= 0.9 * max(possible, 1):
        return _gapless(size, low, high, before, like_class, single and case.seen)
    if expected < 10:
        unlikely = _poisson_tail(int(seen), expected) < 0.01
        if unlikely or not before:
            return Relation("common", f"{seen:.0f} numbers return under another word, {expected:.1f} would by chance")
        return Relation("own", f"no more numbers return under another word ({seen:.0f}) than by chance", False)
    filled = dense[size >= 10]
    if len(filled) > 1 and filled.max() > UNEVEN * filled.min():
        return Relation("common", "the words fill one range of numbers, each as far as it is frequent")
    if before or like_class:
        return Relation("own", f"{seen:.0f} numbers return under another word, {expected:.0f} would by chance")
    return Relation("common", "the word stands behind the number", False)


def _sparsely_shared(size: Ints, keys: int, seen: float, expected: float) -> str:
    """Why a word behind a number has a count of its own, "" if it need not.

    One count whose views are missing at random shares s_i s_j / keys numbers between two words; counts of their own
    share s_i s_j / range. In a sparse range the two differ.
    """
    upper = np.triu_indices(len(size), 1)
    views = float(np.outer(size, size)[upper].sum()) / keys
    alone = 0.6 * expected <= seen <= 2.5 * expected and seen >= 5
    if not alone or 1 - _poisson_tail(int(seen) + 1, views) > 1e-3:
        return ""
    return f"{FEW_RETURN}: {seen:.0f} numbers, {expected:.0f} by chance, {views:.0f} if words were views of one thing"


def _poisson_tail(seen: int, expected: float) -> float:
    """P(at least `seen`) under a Poisson law."""
    from scipy.special import pdtrc  # scipy.stats would be slow to import

    return float(pdtrc(seen - 1, expected)) if seen > 0 else 1.0


def _gapless(size: Ints, low: Ints, high: Ints, before: bool, like_class: bool, single: bool) -> Relation:
    """Counts without gaps: folders of views (`t1/007`, `t2/007`) hold one file a number and end alike."""
    spare = 0 if before else 0.05 * size.max()
    alike = all(np.ptp(ends) <= spare for ends in (low, high, size))
    views = alike and (not before or (not like_class and size.max() >= 10 and len(size) <= 8 and single))
    if views or not (before or like_class):
        return Relation("common", "every word has the same numbers", False)
    return Relation("own", "each word has a gapless count of its own", False)
