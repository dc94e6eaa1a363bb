"""Exact assignment of few groups by mixed-integer programming (HiGHS), with the heuristic result as bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model import Ints
from .aim import Aim

BINARIES = 250
"""Largest number of groups times partitions of one independent part that is solved exactly, groups of the same
content counted once."""
NODES = 200
"""Bound on the solver's nodes: a bound that gives the same answer on every machine."""
SECONDS = 60.0
"""Bound on the solver's time for one part; what it had found by then is thrown away, for the same reason."""


def exact(aim: Aim, codes: Ints, *, binaries: int = BINARIES, seconds: float = SECONDS) -> tuple[Ints, bool]:
    """A cheaper assignment of each independent part where there is one.

    Parts are sets of groups that share no class; the aim is a sum over them. Second stratifiers are left out.

    Returns:
        int64 (G,), never worse than `codes` by `aim.classes_only()`; True if it is proven optimal.
    """
    first = aim.classes_only()
    result = codes.copy()
    small = [r for r in parts(first) if len(np.unique(first.x[r], axis=0)) * first.partitions <= binaries]
    proven = sum(map(len, small)) == len(codes)
    for rows in small:
        part = _restricted(first, rows)
        cost = part.cost(result[rows])
        if cost <= lower_bound(part) + 1e-9:
            continue
        better, done = _solve(part, cost, seconds)
        proven &= done
        if better is not None:
            result[rows] = better
    # The parts do not know of each other: together they must still fill every partition.
    return (result, proven) if first.cost(result) < first.cost(codes) - 1e-10 else (codes, proven)


def parts(aim: Aim) -> Iterator[Ints]:
    """The rows of groups that are connected by common classes, part by part."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    group, column = np.nonzero(aim.has[:, : aim.classes])
    n = len(aim.has)
    graph = csr_array((np.ones(len(group)), (group, n + column)), shape=(n + aim.classes,) * 2)
    label = connected_components(graph, directed=False)[1][:n]
    order = np.argsort(label, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _restricted(aim: Aim, rows: Ints) -> Aim:
    """The aim of one part: its own classes, without the rule that no partition may be empty."""
    own = aim.has[rows][:, : aim.classes].any(axis=0)
    columns = np.r_[own, own, False]
    return Aim(
        aim.x[rows][:, own],
        aim.target[:, own],
        aim.has[rows][:, columns],
        aim.need[:, columns],
        aim.fine[:, columns],
        aim.unit[own],
    )


def lower_bound(aim: Aim) -> float:
    """A lower bound on the cost, of each class: whole files, the largest group whole, fewer groups than partitions."""
    # Over all partitions what is too much equals what is too little.
    whole_group = 2 * np.maximum(0, aim.x.max(axis=0) - aim.target.max(axis=0))
    files = aim.target / aim.unit
    fraction = np.sort(files - np.floor(files + 1e-9), axis=0)[::-1]
    up = np.arange(len(files))[:, None] < np.rint(fraction.sum(axis=0))
    whole_files = aim.unit * np.where(up, 1 - fraction, fraction).sum(axis=0)
    short = aim.need.sum(axis=0) - aim.has.sum(axis=0)
    price = np.sort(aim.fine / np.maximum(1, aim.need), axis=0)
    absent = sum(float(price[:k, h].sum()) for h, k in enumerate(short.tolist()) if k > 0 and aim.need[:, h].max() == 1)
    return float(np.maximum(whole_group, whole_files).sum()) + absent


def _solve(aim: Aim, cost: float, seconds: float) -> tuple[Ints | None, bool]:
    """(assignment below `cost` or None, whether the answer is final).

    Groups with the same amounts are one integer variable a partition: the solver does not try them in all orders.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, csr_array, eye_array, kron

    rows_x, first, kind, many = np.unique(aim.x, axis=0, return_index=True, return_inverse=True, return_counts=True)
    g, s, f, h = len(rows_x), aim.partitions, aim.x.shape[1], aim.has.shape[1]
    # Variables: x (G * S), groups of a kind in a partition; d (S * F) >= |excess|; m (S * H) >= missing share.
    amounts = csr_array(np.einsum("gf,st->sfgt", rows_x, np.eye(s)).reshape(s * f, g * s))
    groups = csr_array(np.einsum("gh,st->shgt", aim.has[first], np.eye(s)).reshape(s * h, g * s))
    once = kron(eye_array(g), csr_array(np.ones((1, s))))
    need = aim.need.ravel().astype(float)
    price = np.r_[np.zeros(g * s), np.ones(s * f), aim.fine.ravel()]
    rows: Any = block_array(
        [
            [once, None, None],
            [amounts, -eye_array(s * f), None],
            [amounts, eye_array(s * f), None],
            [groups, None, csr_array(np.diag(np.maximum(1, need)))],
            [
                csr_array(price[None, : g * s]),
                csr_array(price[None, g * s : g * s + s * f]),
                csr_array(price[None, g * s + s * f :]),
            ],
        ],
        format="csr",
    )
    target, inf = aim.target.ravel(), np.inf
    low = np.r_[many, np.full(s * f, -inf), target, need, -inf]
    high = np.r_[many, target, np.full(s * f, inf), np.full(s * h, inf), cost - 1e-7]
    found: Any = milp(
        price,
        integrality=np.r_[np.ones(g * s), np.zeros(s * (f + h))],
        bounds=Bounds(0, np.r_[np.repeat(many, s), np.full(s * (f + h), inf)]),
        constraints=LinearConstraint(rows, low, high),
        options={"node_limit": NODES, "time_limit": seconds, "presolve": True},
    )
    if found.status == 2:
        return None, True
    # Status 1 is a limit; without a proof the clock may have decided, unless the node limit was hit.
    if found.x is None or (found.status == 1 and (found.mip_node_count or 0) < NODES):
        return None, False
    codes = np.empty(len(aim.x), np.int64)
    for k, row in enumerate(np.rint(found.x[: g * s]).astype(np.int64).reshape(g, s)):
        codes[kind.ravel() == k] = np.repeat(np.arange(s), row)
    return codes, found.status == 0
