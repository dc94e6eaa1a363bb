"""All names of a corpus as distinct originals, without what tools put around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Ints
from ._fields import factorise
from ._wrappers import augmenter_counts, cores

DOUBLED = 0.05
"""Share of names that occur twice above which only the label can tell files apart; fewer are mistakes of a list."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Distinct cores, of which core each name is, and which cores take part."""

    names: Sequence[str]
    which: Ints
    cores: tuple[str, ...]
    kept: Ints
    labels: Ints | None
    wrapped: int
    generated: int
    doubled: bool


def read(names: Sequence[str], label: Ints | None) -> Corpus:
    bare, every, wrapped = cores(names)
    before = augmenter_counts(bare)
    generated = sum(b is not None for b in before)
    kinds = {b.rpartition("/")[2] for b in before if b is not None}
    if generated and len(kinds) >= 0.02 * generated and len(kinds) > 4:
        every = [e if b is None else b for e, b in zip(every, before, strict=True)]
        wrapped, generated, before = wrapped + generated, 0, [None] * len(every)
    if generated:
        every = [b if g is not None else e for b, e, g in zip(bare, every, before, strict=True)]
    every, derived = _derived(every, before)
    wrapped += derived
    doubled = label is not None and len(set(names)) < (1 - DOUBLED) * len(names)
    texts = every
    if doubled and label is not None:
        texts = [f"{e}\0{v}" for e, v in zip(every, label.tolist(), strict=True)]
    which, _ = factorise(texts)
    first = np.unique(which, return_index=True)[1]
    kept = np.array([i for i, row in enumerate(first) if before[row] is None], np.int64)
    of_core = None if label is None else label[first]
    return Corpus(names, which, tuple(every[i] for i in first), kept, of_core, wrapped, generated, doubled)


MOST_DERIVED = 50
"""Different endings, digits aside, that tools and people put behind names of originals in one corpus."""
LEAST_DERIVED = 0.2
"""Share of the names that must be another name with an ending before endings are taken off."""
_BOUNDARY = re.compile(r"[ _.-]+")


def _derived(paths: Sequence[str], generated: Sequence[str | None]) -> tuple[list[str], int]:
    """Names that are another whole name with an ending behind it (`cell7`, `cell7_flipped_horizontally`) as that name.

    Only endings that begin with a word: a number behind a number (`12`, `12_3`) may be anything.
    """
    known, endings = frozenset(paths), set()
    found = list(paths)
    for i, path in enumerate(paths):
        if generated[i] is not None:
            continue
        start = path.rfind("/") + 1
        for m in _BOUNDARY.finditer(path, start + 1):
            numbered = any(c.isdigit() for c in path[start : m.start()])
            if numbered and path[m.end() : m.end() + 1].isalpha() and path[: m.start()] in known:
                found[i] = path[: m.start()]
                endings.add("".join(c for c in path[m.start() :] if not c.isdigit()))
                break
    count = sum(a != b for a, b in zip(found, paths, strict=True))
    if count < LEAST_DERIVED * len(paths) or len(endings) > MOST_DERIVED:
        return list(paths), 0
    return found, count
