"""What a split of whole groups must fulfil, and in words why it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InfeasibleError, InputError
from ..model import TEST, TRAIN, UNUSED, Bools, Floats, Grouping, Ints, Note, SplitPlan
from .table import Table

VISIBLE = 0.01
"""Deviation of a share from the asked-for one that is a warning (our choice)."""


def check_feasible(corpus: Table, wanted: Mapping[str, float], called: Sequence[str]) -> None:
    """Raise InfeasibleError where whole groups cannot be in two partitions at all."""
    held, g = corpus.groups_of_class, len(corpus.counts)
    if (held < 2).all():
        if g == 1 and len(held) > 1:
            raise InfeasibleError(
                f"one single group holds all classes ({listed(called)}): no split of whole groups has two sides",
                "two or more groups",
                "find out whether the group is really that large",
            )
        one = "the only class is one single group" if len(held) == 1 else "every class is one single group"
        raise InfeasibleError(
            f"{one} ({listed(called)}): no split of whole groups has a class on both sides",
            "classes with two or more groups (two or more patients, objects, sessions a class)",
            "class and group are the same thing here: no split tells whether the class or the group was learned; "
            "collect more groups a class, or ask the image-level question only",
        )
    if g < len(wanted):
        raise InfeasibleError(
            f"there {'is 1 group' if g == 1 else f'are {g} groups'} for {len(wanted)} partitions ({', '.join(wanted)})",
            "at least one whole group a partition",
            "use fewer partitions, or find out whether the groups are really that large",
        )


def partition_counts(corpus: Table, codes: Ints, parts: int) -> Ints:
    """int64 (S, C), samples of each class in each partition."""
    result = np.zeros((parts, corpus.counts.shape[1]), np.int64)
    np.add.at(result, codes, corpus.counts)
    return result


def class_share_error(corpus: Table, codes: Ints, f: Floats) -> float:
    """The objective of the method, section 3: sum over s and c of |n_sc - f_s N_c| / N_c."""
    total = corpus.counts.sum(axis=0)
    return float((np.abs(partition_counts(corpus, codes, len(f)) - f[:, None] * total) / total).sum())


def deviations(
    corpus: Table, codes: Ints, wanted: Mapping[str, float], called: Sequence[str], *, proven: bool = False
) -> list[Note]:
    """What an assignment of groups did not reach: absent classes by name with the reason, shares that are off.

    Raises:
        InfeasibleError: a partition is empty.
    """
    parts, f = list(wanted), np.array(list(wanted.values()))
    size = np.bincount(codes, corpus.sizes, len(parts))
    if (size == 0).any():
        raise InfeasibleError(
            f"no assignment fills {', '.join(parts[s] for s in np.flatnonzero(size == 0).tolist())}",
            "at least one whole group a partition",
            "use fewer partitions",
        )
    n = partition_counts(corpus, codes, len(parts))
    absent = [_absent(c, n[:, c], corpus, parts, called, proven) for c in np.flatnonzero((n == 0).any(axis=0)).tolist()]
    return [*absent, *_giant(corpus, f, parts), _shares(n, size, f, parts, called)]


def _absent(c: int, n: Ints, corpus: Table, parts: Sequence[str], called: Sequence[str], proven: bool) -> Note:
    held = int(corpus.groups_of_class[c])
    there = [parts[s] for s in np.flatnonzero(n > 0).tolist()]
    gone = [parts[s] for s in np.flatnonzero(n == 0).tolist()]
    if held < len(parts):
        why = f"it has {held} group{'s' if held > 1 else ''} for {len(parts)} partitions"
    elif proven:
        why = "its groups are shared with other classes so that no assignment puts every class everywhere"
    else:
        why = "its groups are shared with other classes, and no assignment that puts it everywhere was found"
    instead = f"its groups are in {' and '.join(there)}, and nothing can be said about it in {' and '.join(gone)}"
    if TRAIN in gone:
        instead += "; no model can learn it from train"
    text = f"class {called[c]} is absent from {', '.join(gone)}: {why}; done instead: {instead}"
    return Note("warning", "class absent", text, int(n.sum()), (called[c],))


def _giant(corpus: Table, f: Floats, parts: Sequence[str]) -> list[Note]:
    largest = float(corpus.sizes.max() / corpus.sizes.sum())
    small = [parts[s] for s in np.flatnonzero(f < largest).tolist()]
    if not small or largest <= f.min() + VISIBLE:
        return []
    text = (
        f"the largest group alone holds {largest:.1%} of the samples, more than the share of {', '.join(small)}: "
        "find out whether it is one group"
    )
    return [Note("warning", "giant group", text, int(corpus.sizes.max()))]


def _shares(n: Ints, size: NDArray[Any], f: Floats, parts: Sequence[str], called: Sequence[str]) -> Note:
    """The deviation from the fractions, always said; a warning where it is visible."""
    total = n.sum(axis=0)
    off = size / size.sum() - f
    by_class = n / total - f[:, None]
    s = int(np.abs(off).argmax())
    t, c = divmod(int(np.abs(by_class).argmax()), by_class.shape[1])
    text = (
        f"of the samples {parts[s]} holds {size[s] / size.sum():.1%} for {f[s]:.1%} asked for, the largest deviation; "
        f"of a class, {parts[t]} holds {n[t, c] / total[c]:.1%} of {called[c]} for {f[t]:.1%}"
    )
    bad = (np.abs(by_class) > np.maximum(VISIBLE, 1 / total)).any(axis=0)
    warn = bool(bad.any()) or abs(off[s]) > max(VISIBLE, 1 / size.sum())
    names = tuple(called[k] for k in np.flatnonzero(bad).tolist())
    if warn and bad.any():
        text += f"; whole groups allow no better for {listed(names)} (or none was found)"
    return Note("warning" if warn else "info", "fractions", text, len(names), names[:20])


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names joined by commas, cut after `most`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def crossing_groups(partition: ArrayLike, groups: ArrayLike | Grouping) -> Ints:
    """int64, the codes of the groups with files in two or more partitions; `unused` and -1 do not count."""
    part, code = np.asarray(partition), np.asarray(groups.codes if isinstance(groups, Grouping) else groups)
    if part.shape != code.shape:
        raise InputError(f"{part.shape} partitions for {code.shape} group codes", "one each a sample")
    use = (part != UNUSED) & (code >= 0)
    number = np.unique(part[use], return_inverse=True)[1]
    pairs = np.unique(np.c_[code[use], number], axis=0)
    found, times = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(found[times > 1], np.int64)


def seed_overlap(plans: Sequence[SplitPlan], partition: str = TEST) -> float:
    """Mean over pairs of plans of |A and B| / |A or B|, A and B their samples in `partition`; nan for one plan."""
    inside: list[Bools] = [p.partition == partition for p in plans]
    pairs = [(a, b) for i, a in enumerate(inside) for b in inside[i + 1 :]]
    values = [float((a & b).sum() / (a | b).sum()) for a, b in pairs if (a | b).any()]
    return float(np.mean(values)) if values else float("nan")
