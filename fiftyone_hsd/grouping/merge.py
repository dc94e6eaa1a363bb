"""One group id from all sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import Bools, Grouping, Ints, Links, Note
from ._sets import Sets
from .near_copies import SOURCE as SIMILARITY

STRENGTH = ("reviewer", "given", "bytes", "pixels", "metadata", "name")
"""Sources from the strongest to the weakest; every other one, such as similarity, comes after them."""
GIANT_SHARE, GIANT_FEWEST = 0.2, 50
"""A group of more than this share of all samples, and more than this number, that hangs on similarity alone, is an
error to explain: links that would make one are turned down, the least certain first (our choice)."""


def merge(
    n: int, parts: Sequence[Links], attested: ArrayLike, notes: Iterable[Note] = (), *, apart: ArrayLike = ()
) -> Grouping:
    """Groups = connected components of the accepted links.

    Args:
        n: number of samples.
        parts: the links of each source.
        attested: bool (n,), samples about which at least one source made a statement (a given column with a value,
            a name that matched the rule, ...). Searches for copies can link but cannot attest independence.
        notes: what the sources had to say.
        apart: int (k, 2), pairs that a reviewer holds apart. Links are then taken from the strongest source and the
            highest score down, and one that would join such a pair is turned down.

    Returns:
        a Grouping whose code is -1 exactly for the samples that no source attested and no accepted link touches. Links
        that were turned down here stay in it with the reason.
    """
    known = np.array(attested, dtype=bool)
    if known.shape != (n,):
        raise InputError(f"attested has shape {known.shape}", f"({n},)")
    links = Links.concat(parts)
    if len(links) and links.b.max() >= n:
        raise InputError("a link names a row that does not exist", f"rows 0 to {n - 1}")
    held = np.asarray(apart, np.int64).reshape(-1, 2)
    links, said = _without_giants(n, links)
    links, more = _held_apart(n, links, held)
    codes = components(n, links.a[links.accepted], links.b[links.accepted])
    known[links.a[links.accepted]] = known[links.b[links.accepted]] = True
    codes[~known] = -1
    return Grouping(codes, links, (*notes, *said, *more))


def components(n: int, a: Ints, b: Ints) -> Ints:
    """int64 (n,), number of the connected component of each row."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not n:
        return np.zeros(0, np.int64)
    graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def joined_by_others(declared: ArrayLike, grouping: Grouping) -> list[tuple[int, list[str]]]:
    """Groups of the merge that hold samples of two or more declared groups.

    Args:
        declared: (n,) str, the group each sample was declared to be in; "" = not declared.
        grouping: the merged groups.

    Returns:
        [(merged code, declared names in order)]: conflicts to show, since other evidence joins what was declared apart.
    """
    names = np.asarray(declared, np.str_)
    rows = np.flatnonzero((names != "") & (grouping.codes >= 0))
    pairs = sorted(set(zip(grouping.codes[rows].tolist(), names[rows].tolist(), strict=True)))
    members: dict[int, list[str]] = {}
    for code, name in pairs:
        members.setdefault(code, []).append(name)
    return [(code, found) for code, found in members.items() if len(found) > 1]


def _without_giants(n: int, links: Links) -> tuple[Links, list[Note]]:
    """Similarity links that would chain much of the corpus into one group are turned down, the weakest first."""
    limit = max(GIANT_FEWEST, int(GIANT_SHARE * n))
    similar = links.accepted & (links.source == SIMILARITY)
    every = components(n, links.a[links.accepted], links.b[links.accepted])
    giants = np.flatnonzero(np.bincount(every, minlength=1) > limit)
    concerned = np.flatnonzero(similar & np.isin(every[links.a], giants)) if len(giants) else giants
    if not len(concerned):
        return links, []
    firm = links.accepted & ~similar
    start = components(n, links.a[firm], links.b[firm])
    sets = Sets(np.bincount(start).astype(np.int64))
    turned = []
    for row in concerned[np.argsort(-links.score[concerned], kind="stable")].tolist():
        one, two = sets.root(int(start[links.a[row]])), sets.root(int(start[links.b[row]]))
        if one == two:
            continue
        if sets.size[one] + sets.size[two] > limit:
            turned.append(row)
        else:
            sets.join(one, two)
    if not turned:
        return links, []
    text = (
        f"similarity would chain more than {limit} images into one group; that is no group but an accident or a "
        "corpus of one scene. The least certain links that held it together were turned down"
    )
    few = links.take(turned[:5])
    examples = tuple(f"rows {a} and {b}: {r}" for a, b, r in zip(few.a, few.b, few.rule, strict=True))
    note = Note("problem", "giant group", text, len(turned), examples)
    return _turned_down(links, turned, "turned down: it would make a giant group"), [note]


def _held_apart(n: int, links: Links, apart: Ints) -> tuple[Links, list[Note]]:
    """Links that would join what reviewers hold apart are turned down, the weakest first."""
    if not len(apart):
        return links, []
    every = components(n, links.a[links.accepted], links.b[links.accepted])
    open_ = apart[every[apart[:, 0]] == every[apart[:, 1]]]
    if not len(open_):
        return links, []
    concerned = np.flatnonzero(links.accepted & np.isin(every[links.a], every[open_[:, 0]]))
    place = {name: k for k, name in enumerate(STRENGTH)}
    rank = np.array([place.get(s, len(STRENGTH)) for s in links.source[concerned].tolist()])
    order = concerned[np.lexsort((links.b[concerned], links.a[concerned], -links.score[concerned], rank))]
    sets = Sets(np.ones(n, np.int64))
    enemies: dict[int, set[int]] = {}
    for a, b in open_.tolist():
        enemies.setdefault(a, set()).add(b)
        enemies.setdefault(b, set()).add(a)
    turned: list[int] = []
    against: list[int] = []
    for row in order.tolist():
        a, b = sets.root(int(links.a[row])), sets.root(int(links.b[row]))
        if a == b:
            continue
        foes = any(sets.root(e) == b for e in enemies.get(a, ()))
        if foes and links.source[row] == "reviewer":
            against.append(row)
        if foes:
            turned.append(row)
            continue
        top, low = sets.join(a, b)
        enemies.setdefault(top, set()).update(enemies.pop(low, set()))
    text = "links were turned down because reviewers hold their samples apart"
    notes = [Note("info", "review", text, len(turned))]
    if against:
        text = "reviewers contradict themselves: some samples are the same as others that are held apart"
        notes.append(Note("problem", "review", text, len(against)))
    return _turned_down(links, turned, "turned down: reviewers hold these samples apart"), notes


def _turned_down(links: Links, rows: Sequence[int], reason: str) -> Links:
    if not len(rows):
        return links
    accepted: Bools = links.accepted.copy()
    accepted[list(rows)] = False
    gone = set(rows)
    rules = [f"{r} ({reason})" if k in gone else r for k, r in enumerate(links.rule.tolist())]
    return replace(links, accepted=accepted, rule=np.array(rules, np.str_))
