"""Which train samples expose each test sample, and by what evidence (the method's section 4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .exposure import exposure
from .model import TRAIN, Bools, Descriptors, Floats, Grouping, Ints, Links, SplitPlan, Strings

__all__ = ["MOST", "Exposing", "exposing"]

MOST = 5
"""Train samples listed for each exposed sample (our choice)."""


@dataclass(frozen=True, eq=False)
class Exposing:
    """Pairs of an exposed sample and a train sample of its group; those nearest along the links come first.

    Attributes:
        sample, train: int64 (m,), rows.
        level: (m,) str, the level of grouping, "" if there is but one.
        evidence: (m,) str, sources of the links on a shortest way from one to the other, joined by +; "" = the grouping
            holds no way of links (it was given as codes).
        through: int64 (m,), samples on that way between the two; 0 = linked directly, -1 = no way.
        weakest: float64 (m,), smallest score on that way, nan without one.
        similarity: float32 (m,), cosine of the two, nan without descriptors.
        total: all such pairs; `most` for each sample are listed.
    """

    sample: Ints
    train: Ints
    level: Strings
    evidence: Strings
    through: Ints
    weakest: Floats
    similarity: NDArray[np.float32]
    total: int

    def __len__(self) -> int:
        return len(self.sample)


def exposing(
    plan: SplitPlan,
    grouping: Grouping | ArrayLike | Mapping[str, Grouping | ArrayLike],
    descriptors: Descriptors | None = None,
    *,
    train: Sequence[str] = (TRAIN,),
    most: int = MOST,
) -> Exposing:
    """List for each exposed sample the train samples that expose it.

    Args:
        plan: any split.
        grouping: a Grouping, int (n,) codes, or level name -> either of them.
        descriptors: with them the cosine of each pair.
        train: the partitions that count as train.
        most: pairs listed for each sample and level, the fewest links away first, then by row.

    Raises:
        FieldError: the plan has none of the `train` partitions.
        InputError: lengths differ, or `most` is below 1.
    """
    if most < 1:
        raise InputError(f"most = {most}", "1 or more")
    if descriptors is not None and len(descriptors) != len(plan):
        raise InputError(f"{len(descriptors)} descriptors for {len(plan)} samples", "one descriptor a sample")
    levels = grouping if isinstance(grouping, Mapping) else {"": grouping}
    rows: list[tuple[int, int, str, str, int, float]] = []
    total = 0
    for level, groups in levels.items():
        whole = groups if isinstance(groups, Grouping) else Grouping(np.asarray(groups, np.int64), Links.of([], [], ""))
        found = exposure(plan, whole, train=train)
        total += int(found.mates_in_train[found.exposed].sum())
        in_train = np.isin(plan.partition, list(train))
        rows += [
            (a, b, level, e, t, w) for a, b, e, t, w in _pairs(whole, np.flatnonzero(found.exposed), in_train, most)
        ]
    sample, other, level_, evidence, through, weakest = zip(*rows, strict=True) if rows else ((),) * 6
    a, b = np.array(sample, np.int64), np.array(other, np.int64)
    cosine = np.full(len(a), np.nan, np.float32)
    if descriptors is not None:
        cosine = np.einsum("ij,ij->i", descriptors.values[a], descriptors.values[b]).astype(np.float32)
    words = (np.array(level_, np.str_), np.array(evidence, np.str_))
    return Exposing(a, b, *words, np.array(through, np.int64), np.array(weakest, np.float64), cosine, total)


def _pairs(grouping: Grouping, exposed: Ints, in_train: Bools, most: int) -> Iterator[tuple[int, int, str, int, float]]:
    """(sample, train sample, evidence, samples between, weakest score), at most `most` a sample."""
    links = grouping.links
    use = np.flatnonzero(links.accepted & (grouping.codes[links.a] == grouping.codes[links.b]))
    nearby = _neighbours(links.a[use], links.b[use], use)
    source, score = links.source.tolist(), links.score.tolist()
    members = _train_members(grouping.codes, in_train)
    for row in exposed.tolist():
        listed = list(_reached(row, nearby, in_train, most))
        for other, way in listed:
            evidence = "+".join(sorted({source[k] for hop in way for k in hop}))
            yield row, other, evidence, len(way) - 1, min(max(score[k] for k in hop) for hop in way)
        if len(listed) < most:
            known = {other for other, _ in listed}
            rest = (m for m in members[int(grouping.codes[row])] if m not in known)
            for _, other in zip(range(most - len(listed)), rest, strict=False):
                yield row, other, "", -1, float("nan")


def _neighbours(a: Ints, b: Ints, link: Ints) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
    """Row -> (linked row, all links between the two), in order of rows."""
    between: dict[tuple[int, int], list[int]] = {}
    for x, y, k in zip(a.tolist(), b.tolist(), link.tolist(), strict=True):
        between.setdefault((x, y), []).append(k)
    nearby: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for (x, y), links in between.items():
        nearby.setdefault(x, []).append((y, tuple(links)))
        nearby.setdefault(y, []).append((x, tuple(links)))
    for there in nearby.values():
        there.sort()
    return nearby


def _reached(
    row: int, nearby: Mapping[int, list[tuple[int, tuple[int, ...]]]], in_train: Bools, most: int
) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """The train samples fewest links away, each with the links of every step that leads there."""
    came: dict[int, list[tuple[int, ...]]] = {row: []}
    waiting, found = deque([row]), 0
    while waiting and found < most:
        here = waiting.popleft()
        if here != row and in_train[here]:
            found += 1
            yield here, came[here]
        for there, links in nearby.get(here, ()):
            if there not in came:
                came[there] = [*came[here], links]
                waiting.append(there)


def _train_members(codes: Ints, in_train: Bools) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for row in np.flatnonzero(in_train & (codes >= 0)).tolist():
        members.setdefault(int(codes[row]), []).append(row)
    return members
