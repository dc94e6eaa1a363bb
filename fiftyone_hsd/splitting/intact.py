"""Class-stratified assignment of whole groups to partitions (the method's section 3, step 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InfeasibleError
from ..model import TEST, TRAIN, Floats, Ints, Note, SplitPlan
from .search import improve
from .table import Table, shares, table

SIZE_WEIGHT = 0.05
"""Weight of the size balance beside the class balance: it decides between splits of near-equal class balance."""


def intact(
    labels: ArrayLike,
    groups: ArrayLike,
    fractions: Mapping[str, float],
    *,
    seed: int,
    ids: Sequence[str] | None = None,
    sentinel: float = 0.0,
    unknown: str = "refuse",
    names: Sequence[str] = (),
) -> SplitPlan:
    """Assign whole groups to partitions so that every class has its share everywhere.

    Minimises sum over partitions s and classes c of |n_sc - f_s N_c| / N_c, then the same for the number of groups of
    each size quartile, by a greedy start (rarest class first) and a move and swap search.

    Args:
        labels: int (n,), no -1.
        groups: int (n,), no -1 unless unknown="singleton".
        fractions: partition -> share of the samples.
        seed: different seeds give different assignments.
        ids: n unique ids; with them the draw does not depend on the order of rows.
        sentinel: share of an extra partition `sentinel`.
        unknown: "refuse" or "singleton".
        names: class names for messages; by default the label numbers.

    Returns:
        a SplitPlan "intact" whose notes name every deviation.

    Raises:
        InfeasibleError: no class can be both in train and outside it, or there are fewer groups than partitions.
        InputError: the arguments do not fit each other.
    """
    corpus = table(labels, groups, ids, unknown)
    wanted = shares(fractions, sentinel)
    called = class_names(corpus, names)
    codes = assign(corpus, wanted, seed, called)
    parts = np.array(list(wanted), dtype=np.str_)
    notes = deviations(corpus, codes, wanted, called)
    return SplitPlan.of("intact", seed, corpus.back(parts[codes[corpus.groups]]), ids, notes)


def class_names(corpus: Table, names: Sequence[str]) -> list[str]:
    """What to call each class in messages."""
    return [names[c] if c < len(names) else f"class {c}" for c in corpus.classes.tolist()]


def assign(corpus: Table, wanted: Mapping[str, float], seed: int, called: Sequence[str]) -> Ints:
    """int64 (G,), the partition number (position in `wanted`) of each group."""
    check_feasible(corpus, wanted, called)
    rng = np.random.default_rng([seed, 1])
    f = np.array(list(wanted.values()))
    codes = _greedy(corpus, f, _preference(wanted), rng)
    features, weights = _features(corpus)
    return improve(codes, features, weights, f, corpus.counts, minimum_groups(corpus, wanted), rng)


def minimum_groups(corpus: Table, wanted: Mapping[str, float]) -> Ints:
    """int64 (S, C): groups of each class that a partition should hold: min(5, floor(f_s G_c)) in test, else 1 or 0."""
    f = np.array(list(wanted.values()))
    held = corpus.groups_of_class
    need = np.where(held >= len(f), 1, 0)[None, :].repeat(len(f), axis=0)
    for s, name in enumerate(wanted):
        if name == TEST:
            need[s] = np.maximum(need[s], np.minimum(5, np.floor(f[s] * held + 1e-9)))
    return need.astype(np.int64)


def check_feasible(corpus: Table, wanted: Mapping[str, float], called: Sequence[str]) -> None:
    """Raise InfeasibleError where whole groups cannot be in two partitions at all."""
    held = corpus.groups_of_class
    if len(corpus.counts) < len(wanted):
        raise InfeasibleError(
            f"there are {len(corpus.counts)} groups for {len(wanted)} partitions ({', '.join(wanted)})",
            "at least one whole group a partition",
            "use fewer partitions, or find out whether the groups are really that large",
        )
    if (held < 2).all():
        shown = ", ".join(called[:20]) + (f" and {len(called) - 20} more" if len(called) > 20 else "")
        raise InfeasibleError(
            f"every class is one single group ({shown}): no split of whole groups has a class on both sides",
            "classes with two or more groups (two or more patients, objects, sessions a class)",
            "class and group are the same thing here: no split tells whether the class or the group was learned; "
            "collect more groups a class, or ask the image-level question only",
        )


def deviations(corpus: Table, codes: Ints, wanted: Mapping[str, float], called: Sequence[str]) -> list[Note]:
    """What an assignment could not do, by class name."""
    parts, f = list(wanted), np.array(list(wanted.values()))
    n = partition_counts(corpus, codes, len(parts))
    held = corpus.groups_of_class
    notes = []
    for c in np.flatnonzero((n == 0).any(axis=0)).tolist():
        absent = ", ".join(parts[s] for s in np.flatnonzero(n[:, c] == 0))
        why = f"it has {held[c]} group{'s' if held[c] > 1 else ''} for {len(parts)} partitions"
        if held[c] >= len(parts):
            why = "its groups are shared with other classes in a way that allows no better assignment found"
        notes.append(
            Note("warning", "class absent", f"class {called[c]} is not in {absent}: {why}", int(n[:, c].sum()))
        )
    share = n.sum(axis=1) / n.sum()
    worst = int(np.abs(share - f).argmax())
    if abs(share[worst] - f[worst]) > max(0.01, 1 / n.sum()):
        largest = corpus.sizes.max() / n.sum()
        text = f"{parts[worst]} holds {share[worst]:.1%} of the images instead of {f[worst]:.1%}"
        text += f"; the largest group alone holds {largest:.1%}" if largest > f.min() else ""
        notes.append(Note("warning", "fractions", text))
    return notes


def partition_counts(corpus: Table, codes: Ints, parts: int) -> Ints:
    """int64 (S, C), samples of each class in each partition."""
    result = np.zeros((parts, corpus.counts.shape[1]), np.int64)
    np.add.at(result, codes, corpus.counts)
    return result


def class_share_error(corpus: Table, codes: Ints, f: Floats) -> float:
    """The objective: sum over s and c of |n_sc - f_s N_c| / N_c."""
    total = corpus.counts.sum(axis=0)
    return float((np.abs(partition_counts(corpus, codes, len(f)) - f[:, None] * total) / total).sum())


def _preference(wanted: Mapping[str, float]) -> Ints:
    """Partitions in the order in which a class with too few groups gets them: train, test, then the others."""
    names = list(wanted)
    return np.array(sorted(range(len(names)), key=lambda s: (names[s] != TRAIN, names[s] != TEST, s)), np.int64)


def _greedy(corpus: Table, f: Floats, preference: Ints, rng: np.random.Generator) -> Ints:
    """Rarest class first; each group, to the partition that lacks most of the class."""
    counts, held = corpus.counts, corpus.groups_of_class
    total = counts.sum(axis=0)
    codes = np.full(len(counts), -1, np.int64)
    placed = np.zeros((len(f), counts.shape[1]), np.int64)
    tie = rng.random(len(counts))
    favour = np.empty(len(f))
    favour[preference] = np.arange(len(f), 0, -1) * 1e-6
    for c in sorted(range(len(total)), key=lambda k: (held[k], total[k], k)):
        members = np.flatnonzero((codes < 0) & (counts[:, c] > 0))
        for g in members[np.lexsort((tie[members], -counts[members, c]))]:
            # The share that is missing, judged where the group would take it.
            deficit = (f * total[c] - placed[:, c]) / (f * total[c])
            noise = favour if held[c] < len(f) else rng.random(len(f)) * 1e-6
            s = int((deficit + noise).argmax())
            codes[g] = s
            placed[s] += counts[g]
    return codes


def _features(corpus: Table) -> tuple[Floats, Floats]:
    """(G, F) amounts that should be spread like the fractions, and their weights: classes, then size quartiles."""
    sizes = corpus.sizes
    classes = corpus.counts / corpus.counts.sum(axis=0)
    cuts = np.quantile(sizes, [0.25, 0.5, 0.75])
    quartile = np.searchsorted(cuts, sizes, side="left")
    stratum = np.unique(corpus.majority * 4 + quartile, return_inverse=True)[1]
    one_hot: NDArray[np.float64] = np.zeros((len(sizes), stratum.max() + 1))
    one_hot[np.arange(len(sizes)), stratum] = 1
    balance = one_hot / one_hot.sum(axis=0)
    weights = np.r_[np.ones(classes.shape[1]), np.full(balance.shape[1], SIZE_WEIGHT / balance.shape[1])]
    return np.hstack([classes, balance]), weights
