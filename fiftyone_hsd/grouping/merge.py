"""One group id from all sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import Grouping, Links, Note


def merge(n: int, parts: Sequence[Links], attested: ArrayLike, notes: Iterable[Note] = ()) -> Grouping:
    """Groups = connected components of the accepted links.

    Args:
        n: number of samples.
        parts: the links of each source.
        attested: bool (n,), samples about which at least one source made a statement (a given column with a value,
            a name that matched the rule, ...). Searches for copies can link but cannot attest independence.
        notes: what the sources had to say.

    Returns:
        a Grouping whose code is -1 exactly for the samples that no source attested and no accepted link touches.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    known = np.array(attested, dtype=bool)
    if known.shape != (n,):
        raise InputError(f"attested has shape {known.shape}", f"({n},)")
    links = Links.concat(parts)
    if len(links) and links.b.max() >= n:
        raise InputError("a link names a row that does not exist", f"rows 0 to {n - 1}")
    a, b = links.a[links.accepted], links.b[links.accepted]
    if n:
        graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
        codes = connected_components(graph, directed=False)[1].astype(np.int64)
    else:
        codes = np.zeros(0, np.int64)
    known[a] = known[b] = True
    codes[~known] = -1
    return Grouping(codes, links, tuple(notes))


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
