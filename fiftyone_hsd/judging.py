"""Pairs for people to judge, what their verdicts say about the links, and the groups after them.

Three kinds of pairs are mixed. Uncertain links come in order of uncertainty: judging them changes groups most. Random
accepted links estimate the precision of the links, random pairs that no link joins estimate what was missed; only these
two are random samples, so only they are used for estimates (our choice).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Literal

import numpy as np

from .grouping._chains import way
from .grouping.merge import merge
from .grouping.review import review
from .model import SAME, SKIPPED, Bools, Exposure, Grouping, Ints, Links, Note, Verdict

MOST = {"uncertain": 300, "link": 150, "non-link": 150}
"""Pairs of each kind in a queue."""

Kind = Literal["uncertain", "link", "non-link"]


@dataclass(frozen=True)
class Pair:
    """Two samples to be judged, in order of text, and why they are in the queue."""

    a: str
    b: str
    kind: Kind
    source: str
    rule: str
    score: float


@dataclass(frozen=True)
class Judged:
    """k of n random pairs that people called mates, with the exact 95 % interval (Clopper and Pearson); nan = none."""

    k: int
    n: int
    low: float
    high: float


def queue(ids: Sequence[str], grouping: Grouping, exposure: Exposure | None, *, seed: int = 0) -> tuple[Pair, ...]:
    """The pairs to judge: an uncertain one, a random link, an uncertain one, a random non-link, and so on.

    Args:
        ids: n ids.
        grouping: the groups with their links.
        exposure: of the published split; its unexposed images beside their nearest train images are where a leak may
            have been missed. None: random pairs of different groups.
        seed: of the random samples.
    """
    chance = np.random.default_rng(seed)
    links = grouping.links
    doubt = np.where(links.accepted, 1 - links.score, links.score)
    order = np.argsort(-doubt, kind="stable")
    uncertain = order[doubt[order] > 0][: MOST["uncertain"]]
    taken = np.flatnonzero(links.accepted)
    drawn = chance.permutation(taken)[: MOST["link"]]
    kinds = [
        [_of_link(ids, links, r, "uncertain") for r in uncertain.tolist()],
        [_of_link(ids, links, r, "link") for r in drawn.tolist()],
        [_pair(ids, a, b, "non-link", "", why, score) for a, b, why, score in _apart(grouping, exposure, chance)],
    ]
    first, second, third = kinds
    turns = zip_longest(first[::2], second, first[1::2], third)
    seen: dict[tuple[str, str], Pair] = {}
    for pair in chain.from_iterable(turns):
        if pair is not None:
            seen.setdefault((pair.a, pair.b), pair)
    return tuple(seen.values())


def _of_link(ids: Sequence[str], links: Links, row: int, kind: Kind) -> Pair:
    rule = str(links.rule[row]) + ("" if links.accepted[row] else " (turned down)")
    return _pair(ids, int(links.a[row]), int(links.b[row]), kind, str(links.source[row]), rule, float(links.score[row]))


def _pair(ids: Sequence[str], a: int, b: int, kind: Kind, source: str, rule: str, score: float) -> Pair:
    first, second = sorted((ids[a], ids[b]))
    return Pair(first, second, kind, source, rule, score)


def _apart(
    grouping: Grouping, exposure: Exposure | None, chance: np.random.Generator
) -> Iterable[tuple[int, int, str, float]]:
    """Random pairs of different groups: (row, row, why, similarity)."""
    n = len(grouping)
    if exposure is not None:
        rows = np.flatnonzero(exposure.evaluated & ~exposure.exposed & (exposure.nearest_train >= 0))
        for row in chance.permutation(rows)[: MOST["non-link"]].tolist():
            near = int(exposure.nearest_train[row])
            yield row, near, "unexposed, with its nearest train image", float(exposure.nearest_similarity[row])
    elif n > 1:
        for a, b in chance.integers(0, n, (4 * MOST["non-link"], 2))[: MOST["non-link"]].tolist():
            if a != b and (grouping.codes[a] != grouping.codes[b] or grouping.codes[a] < 0):
                yield a, b, "a random pair of different groups", float("nan")


def settled(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], str]:
    """Pair -> "same" or "different"; the last verdict of each author counts, pairs they disagree about are left out."""
    last: dict[tuple[str, str], dict[str, str]] = {}
    for v in sorted(verdicts, key=lambda v: v.time):
        last.setdefault((v.path_a, v.path_b), {})[v.author] = v.verdict
    said = {pair: set(by.values()) - {SKIPPED} for pair, by in last.items()}
    return {pair: next(iter(words)) for pair, words in said.items() if len(words) == 1}


def judged(pairs: Iterable[Pair], verdicts: Iterable[Verdict], kind: Kind) -> Judged:
    """How many of the random pairs of one kind were called mates."""
    from scipy.stats import binomtest

    said = settled(verdicts)
    words = [said[(p.a, p.b)] for p in pairs if p.kind == kind and (p.a, p.b) in said]
    k, n = words.count(SAME), len(words)
    if not n:
        return Judged(0, 0, float("nan"), float("nan"))
    interval = binomtest(k, n).proportion_ci(0.95, method="exact")
    return Judged(k, n, float(interval.low), float(interval.high))


def regrouped(ids: Sequence[str], grouping: Grouping, verdicts: Iterable[Verdict]) -> Grouping:
    """The groups after the verdicts: pairs called mates are joined, pairs called different are parted.

    A pair is parted by taking away the weakest link on the way between the two, again and again until there is none; of
    equally weak links the one next to the sample with fewer links goes (our choice). Verdicts are stronger than any
    detector, but a pair that other verdicts join stays together, and that is said.
    """
    found = review(ids, verdicts)
    links = Links.concat([grouping.links, found.links])
    notes = [*grouping.notes, *found.notes]
    accepted = links.accepted.copy()
    sure = np.r_[np.zeros(len(grouping.links), bool), np.ones(len(links) - len(grouping.links), bool)]
    torn = [(a, b) for a, b in found.apart.tolist() if not _part(a, b, links, accepted, sure)]
    if torn:
        examples = tuple(f"{ids[a]} | {ids[b]}" for a, b in torn[:5])
        text = "pairs called different are joined by other verdicts"
        notes.append(Note("problem", "review", text, len(torn), examples))
    kept = replace(links, accepted=accepted)
    return merge(len(grouping), [kept], np.ones(len(grouping), bool), notes)


def _part(a: int, b: int, links: Links, accepted: Bools, sure: Bools) -> bool:
    """Take links away until no way leads from a to b; False if only verdicts are left on it."""
    while steps := way(links, _component(a, links, accepted), a, b)[::-1]:
        weak = [r for r in steps if not sure[r]]
        if not weak:
            return False
        least = min(float(links.score[r]) for r in weak)
        ends = [r for r in weak if links.score[r] <= least]
        degree = {end: int((accepted & ((links.a == end) | (links.b == end))).sum()) for end in (a, b)}
        lonely = a if degree[a] <= degree[b] else b
        near = [r for r in ends if lonely in (int(links.a[r]), int(links.b[r]))]
        accepted[(near or ends)[0]] = False
    return True


def _component(a: int, links: Links, accepted: Bools) -> Ints:
    """Accepted links among the samples that a is joined with."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.flatnonzero(accepted)
    n = int(max(links.b[rows].max(initial=0), a)) + 1
    graph = coo_array((np.ones(len(rows), np.int8), (links.a[rows], links.b[rows])), shape=(n, n))
    codes = connected_components(graph, directed=False)[1]
    return np.asarray(rows[codes[links.a[rows]] == codes[a]], np.int64)
