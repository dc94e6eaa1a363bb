"""Why two samples are in one group: the chain of links between them that is as strong as can be."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..model import Floats, Grouping, Ints, Links


@dataclass(frozen=True, eq=False)
class Strength:
    """How firmly groups hang together.

    Attributes:
        weakest: float64 (groups,), score of the weakest link that is needed to hold the group; 1 for single samples.
        weakest_link: int64 (groups,), its row in the grouping's links; -1 for single samples.
        diameter: int64 (groups,), most links between two members on the strongest tree.
    """

    weakest: Floats
    weakest_link: Ints
    diameter: Ints


def strongest_tree(grouping: Grouping) -> Links:
    """The n - (number of groups) links that hold all groups together with the highest scores."""
    return grouping.links.take(_tree_rows(grouping))


def strength(grouping: Grouping) -> Strength:
    """Weakest link and diameter of every group."""
    rows = _tree_rows(grouping)
    count = grouping.n_groups
    weakest, link = np.ones(count), np.full(count, -1, np.int64)
    code = grouping.codes[grouping.links.a[rows]]
    for row, group in zip(rows.tolist(), code.tolist(), strict=True):
        if link[group] < 0 or grouping.links.score[row] < weakest[group]:
            weakest[group], link[group] = grouping.links.score[row], row
    near = _neighbours(grouping.links.take(rows))
    diameter = np.zeros(count, np.int64)
    for start, group in zip(*np.unique(grouping.codes, return_index=True)[::-1], strict=True):
        if group >= 0 and int(start) in near:
            far = _reached(near, int(start))[0]
            diameter[group] = _reached(near, far)[1]
    return Strength(weakest, link, diameter)


def chain(grouping: Grouping, a: int, b: int) -> Links:
    """The accepted links from sample `a` to `b`, in order, on the strongest tree; none if their groups differ."""
    empty = grouping.links.take(np.zeros(0, np.int64))
    if a == b or grouping.codes[a] != grouping.codes[b] or grouping.codes[a] < 0:
        return empty
    inside = np.flatnonzero(grouping.codes == grouping.codes[a])
    mine = np.flatnonzero(grouping.links.accepted & np.isin(grouping.links.a, inside))
    tree = mine[_kruskal(len(grouping), grouping.links.take(mine))]
    return grouping.links.take(np.array(way(grouping.links, tree, a, b), np.int64))


def way(links: Links, rows: Ints, a: int, b: int) -> list[int]:
    """Those of some rows of links that lead from sample `a` to `b` in the fewest steps, in order; none if none do."""
    near: dict[int, list[tuple[int, int]]] = {}
    for row, i, j in zip(rows.tolist(), links.a[rows].tolist(), links.b[rows].tolist(), strict=True):
        near.setdefault(i, []).append((j, row))
        near.setdefault(j, []).append((i, row))
    came: dict[int, tuple[int, int]] = {a: (a, -1)}
    queue = deque([a])
    while queue and b not in came:
        here = queue.popleft()
        for there, row in near.get(here, ()):
            if there not in came:
                came[there] = (here, row)
                queue.append(there)
    path: list[int] = []
    while b in came and b != a:
        b, row = came[b]
        path.append(row)
    return path[::-1]


def _tree_rows(grouping: Grouping) -> Ints:
    links, codes = grouping.links, grouping.codes
    rows = np.flatnonzero(links.accepted & (codes[links.a] == codes[links.b]) & (codes[links.a] >= 0))
    return np.asarray(rows[_kruskal(len(grouping), grouping.links.take(rows))], np.int64)


def _kruskal(n: int, links: Links) -> Ints:
    """Rows of the links of a spanning forest with the highest scores."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    if not len(links):
        return np.zeros(0, np.int64)
    order = np.argsort(-links.score, kind="stable")
    # one entry a pair of samples, the best; weights are ranks, so that no weight is zero and ties have an order
    _, first = np.unique(links.a[order] * n + links.b[order], return_index=True)
    best = np.sort(first)
    rows = order[best]
    weight = np.arange(1.0, len(rows) + 1)
    graph = coo_array((weight, (links.a[rows], links.b[rows])), shape=(n, n)).tocsr()
    return np.asarray(rows[np.sort(minimum_spanning_tree(graph).data.astype(np.int64) - 1)], np.int64)


def _neighbours(tree: Links) -> dict[int, list[int]]:
    near: dict[int, list[int]] = {}
    for a, b in zip(tree.a.tolist(), tree.b.tolist(), strict=True):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    return near


def _reached(near: dict[int, list[int]], start: int) -> tuple[int, int]:
    """(farthest sample, links to it) from `start` on a tree."""
    seen = {start: 0}
    queue = deque([start])
    here = start
    while queue:
        here = queue.popleft()
        for there in near[here]:
            if there not in seen:
                seen[there] = seen[here] + 1
                queue.append(there)
    return here, seen[here]
