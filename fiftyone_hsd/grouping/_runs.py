"""Runs of consecutive numbers as groups: shots of one thing taken one after another, with a gap before the next thing.

A part of a longer count that somebody selected at random has runs too, but their lengths follow a geometric law: many
are single files. Runs are taken for groups only if far too few of them are single. Our own test and limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Ints
from ._counters import combine
from ._fields import Column
from ._roles import Roles, called, numbers_of, pure

LEAST_RUNS = 20
"""Fewer runs do not show a law of their lengths."""
RARELY = 1e-5
"""Probability below which so few single files among the runs are no chance."""
LONG = 100
"""Mean length of runs from which on they are parts of a selection rather than shots of one thing."""
LEAST_CONTEXT = 10
"""Files that a word must hold on average before a count is followed inside it."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Groups made of runs.

    Attributes:
        column: the count.
        codes: int64 (m,), runs numbered in order of word and number.
        texts: m texts that name the run of each file.
        evidence: what speaks for it.
    """

    column: Column
    codes: Ints
    texts: tuple[str, ...]
    evidence: tuple[str, ...]


def runs(part: Roles, labels: Ints | None) -> Runs | None:
    """The runs of the last count of a family that is different in nearly every file, None where they show nothing."""
    counts = [c for c in part.identifiers if c.kind == "number" and not c.folder]
    for column in reversed(counts):
        numbers = numbers_of(column)
        if numbers is None:
            continue
        context = _context(part, column)
        if len(np.unique(combine(context, column.codes))) < 0.98 * len(numbers):
            continue
        codes, text = _divided(context, numbers)
        if not text or (labels is not None and pure(codes, labels) < 0.95):
            continue
        low = np.full(int(codes.max()) + 1, np.iinfo(np.int64).max)
        high = np.full(len(low), -1)
        np.minimum.at(low, codes, numbers)
        np.maximum.at(high, codes, numbers)
        texts = tuple(f"{k}/{low[c]}-{high[c]}" for k, c in zip(context.tolist(), codes.tolist(), strict=True))
        return Runs(column, codes, texts, (f"{called(column)} comes in runs: {text}",))
    return None


def _context(part: Roles, column: Column) -> Ints:
    """Codes of the words and folders under which the count stands; what holds few files each is left out."""
    context = np.zeros(len(column.codes), np.int64)
    for c in part.varying:
        if c is column or c.kind == "opaque" or id(c) in part.split:
            continue
        finer = combine(context, c.codes)
        if int(finer.max()) + 1 <= len(finer) / LEAST_CONTEXT:
            context = finer
    return context


def _divided(context: Ints, numbers: Ints) -> tuple[Ints, str]:
    """(code of the run of each file, why runs are things), the text "" where chance makes such runs."""
    order = np.lexsort((numbers, context))
    starts = np.r_[True, (np.diff(context[order]) != 0) | (np.diff(numbers[order]) > 1)]
    codes = np.empty(len(order), np.int64)
    codes[order] = np.cumsum(starts) - 1
    length = np.bincount(codes)
    mean = len(order) / len(length)
    if len(length) < LEAST_RUNS or not 1.5 <= mean <= LONG:
        return codes, ""
    # P(length = 1) of a geometric law with this mean.
    single, chance = float((length == 1).mean()), 1 / mean
    if single > 0.5 * chance or _at_most(int((length == 1).sum()), len(length), chance) > RARELY:
        return codes, ""
    text = f"{len(length)} runs of {mean:.1f} files on average, {single:.0%} of them single, {chance:.0%} by chance"
    return codes, text


def _at_most(seen: int, n: int, share: float) -> float:
    """P(at most `seen` of n) under a binomial law."""
    from scipy.special import bdtr

    return float(bdtr(seen, n, share))
