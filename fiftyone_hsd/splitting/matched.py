"""The matched swap: exposure randomised within pairs of like groups, everything else constant (the method's section 3).

Pairs (g, h) of groups of like class content each give a test part and a reserve of equal content. A coin puts exactly
one of the two reserves into train; the complementary plan swaps them. Nothing else of g or h is in any partition.
Test set, train size, class counts and number of groups are the same in both plans, so exposed and unexposed test
parts are exchangeable within the pairable population. The estimand is the effect of this many own mates against as
many unrelated files; it is never equated with the inflation of a random split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InfeasibleError, InputError
from ..model import TEST, TRAIN, UNUSED, Bools, Grouping, Ints, Note, SplitPlan
from .table import Table, table

WINDOW = 12
"""Groups next in size that are looked at for a partner."""


@dataclass(frozen=True, eq=False)
class MatchedDesign:
    """Two complementary plans and who is paired with whom.

    Attributes:
        plans: the plans `matched` and `matched-swapped`; same test set, the reserves of each pair swapped.
        pair: int64 (n,), number of the pair of each sample in a test part or reserve, -1 = none.
        own_first: bool (n,), for test samples of a pair: the own reserve is in train in the first plan (exposed there).
        used: share of all samples in train or test of either plan.
        notes: how much could be used, and why the rest is out.
    """

    plans: tuple[SplitPlan, SplitPlan]
    pair: Ints
    own_first: Bools
    used: float
    notes: tuple[Note, ...]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.pair.max(initial=-1)) + 1


def matched(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    *,
    seed: int,
    ids: Sequence[str] | None = None,
    share: float = 0.5,
    tolerance: float = 0.25,
    unknown: str = "refuse",
) -> MatchedDesign:
    """Draw the two plans of a matched swap.

    Args:
        labels, groups, ids, unknown: as `intact`.
        seed: of pairing ties, parts and coins.
        share: share of the groups of each majority class that may be paired; the others are whole in train.
        tolerance: two groups are alike if sum_c |m_gc - m_hc| is at most this share of m_g + m_h.

    Raises:
        InfeasibleError: no two groups can be paired, or no group would be left for train.
        InputError: `share` or `tolerance` outside 0 to 1.
    """
    if not 0 < share < 1 or not 0 <= tolerance <= 1:
        raise InputError(f"share = {share}, tolerance = {tolerance}", "0 < share < 1, 0 <= tolerance <= 1")
    corpus = table(labels, groups, ids, unknown)
    rng = np.random.default_rng([seed, 5])
    content = np.zeros((len(corpus.sizes), len(corpus.kinds)), np.int64)
    np.add.at(content, (corpus.groups, corpus.labels), 1)
    pairs, reason = pair_groups(corpus, content, share, tolerance, rng)
    if not len(pairs):
        raise InfeasibleError(
            "no two groups can be paired" + "".join(f"; {v} groups: {k}" for k, v in _counted(reason).items()),
            "two groups of one class, each with two files of it or more",
            "raise `tolerance`, or use the sentinel readout of the ladder instead",
        )
    part, pair, own = _deal(corpus, content, pairs, reason, rng)
    if not (reason == BASE).any():
        raise InfeasibleError("every group is in a pair: none is left for train", "a smaller `share`")
    names = np.array([TRAIN, TEST, UNUSED])
    first = np.where(part == _RESERVE, np.where(own, 0, 2), part)
    second = np.where(part == _RESERVE, np.where(own, 2, 0), part)
    used = float((part != _OUT).mean())
    notes = _notes(corpus, pairs, reason, part, used)
    own_first = np.zeros(len(part), bool)
    own_first[part == _TEST] = own[part == _TEST]
    plans = tuple(
        SplitPlan.of(title, seed, corpus.back(names[codes]), ids, notes)
        for title, codes in (("matched", first), ("matched-swapped", second))
    )
    return MatchedDesign((plans[0], plans[1]), corpus.back(pair), corpus.back(own_first), used, tuple(notes))


_BASE, _TEST, _OUT, _RESERVE = 0, 1, 2, 3
BASE, PAIRED = "whole in train", "paired"
SMALL = "fewer than two files of any one class"
ALONE = "no partner of like size and classes within the tolerance"


def pair_groups(
    corpus: Table, content: Ints, share: float, tolerance: float, rng: np.random.Generator
) -> tuple[Ints, np.ndarray]:
    """(int64 (P, 2) paired groups, (G,) str what became of each group).

    Groups are drawn within their majority class, ordered by size, and each takes the most alike of the next ones.
    """
    size, majority = corpus.sizes, corpus.majority
    reason = np.full(len(size), BASE, dtype=f"<U{len(ALONE) + 8}")
    pairs: list[tuple[int, int]] = []
    for c in range(len(corpus.classes)):
        members = np.flatnonzero(majority == c)
        fit = members[content[members].max(axis=1) >= 2]
        # Groups too small to be halved can still teach: they stay whole in train, and are counted.
        reason[np.setdiff1d(members, fit)] = SMALL
        limit = min(len(fit), int(share * len(members) + 1e-9)) // 2
        chosen = rng.permutation(fit)[: 2 * limit]
        chosen = chosen[np.argsort(-size[chosen], kind="stable")].tolist()
        while len(chosen) > 1:
            g = chosen.pop(0)
            near = np.array(chosen[:WINDOW])
            apart = np.abs(content[near] - content[g]).sum(axis=1) / (size[near] + size[g])
            possible = np.minimum(content[near], content[g]).max(axis=1) >= 2
            apart[~possible] = np.inf
            if apart.min() > tolerance:
                reason[g] = ALONE
                continue
            h = int(near[apart.argmin()])
            chosen.remove(h)
            pairs.append((g, h))
            reason[[g, h]] = PAIRED
        reason[chosen] = ALONE
    return np.array(pairs, np.int64).reshape(-1, 2), reason


def _deal(
    corpus: Table, content: Ints, pairs: Ints, reason: np.ndarray, rng: np.random.Generator
) -> tuple[Ints, Ints, Bools]:
    """Part, pair and coin of every file: half of what both groups have of a class to test, as much to reserve."""
    part = np.where(np.isin(reason, [PAIRED]), _OUT, _BASE)[corpus.groups]
    pair, own = np.full(len(part), -1, np.int64), np.zeros(len(part), bool)
    order = np.lexsort((rng.random(len(part)), corpus.labels, corpus.groups))
    start = np.r_[0, np.cumsum(content.ravel())[:-1]].reshape(content.shape)
    coin = rng.random(len(pairs)) < 0.5
    for p, (g, h) in enumerate(pairs.tolist()):
        half = np.minimum(content[g], content[h]) // 2
        for group, mine in ((g, bool(coin[p])), (h, not coin[p])):
            for k in np.flatnonzero(half).tolist():
                rows = order[start[group, k] : start[group, k] + 2 * half[k]]
                part[rows[: half[k]]], part[rows[half[k] :]] = _TEST, _RESERVE
                pair[rows], own[rows] = p, mine
    return part, pair, own


def _counted(reason: np.ndarray) -> dict[str, int]:
    return {
        str(k): int(v) for k, v in zip(*np.unique(reason, return_counts=True), strict=True) if k not in (PAIRED, BASE)
    }


def _notes(corpus: Table, pairs: Ints, reason: np.ndarray, part: Ints, used: float) -> list[Note]:
    out = int((part == _OUT).sum())
    text = (
        f"{len(pairs)} pairs of groups; {used:.1%} of the files are in train or test; {out} files of paired groups are "
        "in no partition (more than both groups have of a class, or an odd one)"
    )
    notes = [Note("info", "matched swap", text, len(pairs))]
    for why, groups in _counted(reason).items():
        files = int(corpus.sizes[reason == why].sum())
        said = f"not pairable, whole in train: {groups} groups with {files} files have {why}"
        notes.append(Note("info", "matched swap", said, groups))
    return notes
