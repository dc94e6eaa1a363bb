"""Cross-validation with whole groups: k folds, repeats, one source left out, train before test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InfeasibleError, InputError
from ..model import TEST, TRAIN, UNUSED, Grouping, Note, SplitPlan
from .checks import listed
from .intact import intact
from .table import Table, shares, table


def folds(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    k: int,
    *,
    seed: int,
    repeats: int = 1,
    ids: Sequence[str] | None = None,
    unknown: str = "refuse",
    names: Sequence[str] = (),
) -> list[SplitPlan]:
    """`repeats` plans whose partitions are the folds fold0 to fold(k-1), whole groups, class-stratified.

    Args:
        k: folds, 2 or more.
        seed: of the first plan; the following repeats have the seeds after it.
        labels, groups, ids, unknown, names: as `intact`.

    Raises:
        InfeasibleError, InputError: as `intact`.
    """
    if k < 2 or repeats < 1:
        raise InputError(f"{k} folds, {repeats} repeats", "2 or more folds, 1 or more repeats")
    fractions = {f"fold{i}": 1 / k for i in range(k)}
    options = {"ids": ids, "unknown": unknown, "names": names}
    return [intact(labels, groups, fractions, seed=seed + r, **options) for r in range(repeats)]  # type: ignore[arg-type]


def fold_as_split(plan: SplitPlan, fold: str, *, ids: Sequence[str] | None = None) -> SplitPlan:
    """The plan in which one fold is `test` and the other folds are `train`."""
    there = np.unique(plan.partition).tolist()
    if fold not in there:
        raise InputError(f"there is no fold {fold!r}", ", ".join(there))
    part = np.where(plan.partition == fold, TEST, np.where(plan.partition == UNUSED, UNUSED, TRAIN))
    return SplitPlan.of(f"{plan.condition}:{fold}", plan.seed, part, ids, plan.notes)


def leave_one_source_out(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    source: ArrayLike,
    *,
    ids: Sequence[str] | None = None,
    unknown: str = "refuse",
    names: Sequence[str] = (),
) -> list[SplitPlan]:
    """One plan a source: that source is `test`, all others are `train`. The question is new sites, not new patients.

    A group that has files in the source and outside it would cross: its files outside are `unused`.

    Raises:
        InfeasibleError: there is one source only, or class and source are the same thing.
    """
    corpus = table(labels, groups, ids, unknown)
    column = np.asarray(source)
    if column.shape != corpus.order.shape:
        raise InputError(f"source has shape {column.shape}", f"({len(corpus.order)},)")
    sources, code = np.unique(column[corpus.order].astype(np.str_), return_inverse=True)
    called = corpus.class_names(names)
    table_of = np.zeros((len(sources), len(corpus.kinds)), np.int64)
    np.add.at(table_of, (code, corpus.labels), 1)
    if len(sources) < 2:
        raise InfeasibleError("all samples are of one source", "two sources or more", "ask about new groups instead")
    if ((table_of > 0).sum(axis=0) < 2).all():
        raise InfeasibleError(
            f"every class comes from one source only ({listed(called)})",
            "classes that two sources or more have",
            "class and source are the same thing here: no split identifies performance",
        )
    return [_without(s, name, corpus, code, called, ids) for s, name in enumerate(sources.tolist())]


def _without(
    s: int, name: str, corpus: Table, code: NDArray[np.int64], called: Sequence[str], ids: Sequence[str] | None
) -> SplitPlan:
    inside = code == s
    shared = np.isin(corpus.groups, np.unique(corpus.groups[inside])) & ~inside
    part = np.where(inside, TEST, np.where(shared, UNUSED, TRAIN))
    notes = [*_missing(part, corpus, called)]
    if shared.any():
        text = f"files of groups that are in {name} and in other sources too are left out of train"
        notes.append(Note("warning", "groups in several sources", text, int(shared.sum())))
    return SplitPlan.of(f"without {name}", 0, corpus.back(part), ids, notes)


def _missing(part: NDArray[np.str_], corpus: Table, called: Sequence[str]) -> list[Note]:
    """The classes of test that are not in train, and of train that are not in test."""
    notes = []
    for here, there, means in ((TEST, TRAIN, "no model can learn it"), (TRAIN, TEST, "nothing is said about it")):
        lacks = corpus.kinds[np.unique(corpus.labels[part == here])].any(axis=0) & ~(
            corpus.kinds[np.unique(corpus.labels[part == there])].any(axis=0)
        )
        for c in np.flatnonzero(lacks).tolist():
            text = f"class {called[c]} is in {here} but not in {there}: {means}"
            notes.append(Note("warning", "class absent", text, 1, (called[c],)))
    return notes


def time_forward(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    times: ArrayLike,
    fractions: Mapping[str, float],
    *,
    ids: Sequence[str] | None = None,
    unknown: str = "refuse",
    names: Sequence[str] = (),
) -> SplitPlan:
    """Partitions in order of time: every file of an earlier partition is older than every file of a later one.

    The cuts are placed where the shares of the samples come nearest to the fractions. A group that a cut goes through
    would cross: all its files are `unused`. There is no chance in it.

    Args:
        times: (n,) numbers or datetime64, one a sample, none missing.
        fractions: partition -> share, oldest first.
        labels, groups, ids, unknown, names: as `intact`.

    Raises:
        InfeasibleError: a partition would be empty (one date, or groups that span the whole time).
    """
    corpus = table(labels, groups, ids, unknown)
    wanted, when = shares(fractions), np.asarray(times)
    if when.shape != corpus.order.shape or bool((np.isnat(when) if when.dtype.kind == "M" else np.isnan(when)).any()):
        raise InputError(f"times {when.shape} {when.dtype}", f"{len(corpus.order)} times, none missing")
    dates, moment = np.unique(when[corpus.order], return_inverse=True)
    done = np.cumsum(np.bincount(moment)) / len(moment)
    # A cut after date d: the first dates up to d are older than it.
    cuts = np.array([int(np.abs(done - f).argmin()) for f in np.cumsum(list(wanted.values()))[:-1]], np.int64)
    segment = np.searchsorted(cuts, moment, side="left")
    first, last = np.full(len(corpus.sizes), len(wanted)), np.full(len(corpus.sizes), -1)
    np.minimum.at(first, corpus.groups, segment)
    np.maximum.at(last, corpus.groups, segment)
    through = (first != last)[corpus.groups]
    part = np.where(through, UNUSED, np.array(list(wanted), np.str_)[segment])
    empty = [name for name in wanted if not (part == name).any()]
    if empty:
        raise InfeasibleError(
            f"nothing is left for {', '.join(empty)}: {len(dates)} points in time, "
            f"{int((first != last).sum())} groups go through a cut",
            "groups that end before others begin",
            "split without regard to time, or use fewer partitions",
        )
    called = corpus.class_names(names)
    reached = {name: float((part == name).mean()) for name in wanted}
    text = "shares of the samples: " + ", ".join(f"{k} {v:.1%} for {wanted[k]:.1%}" for k, v in reached.items())
    notes = [Note("info", "fractions", text), *_missing(part, corpus, called)]
    if through.any():
        said = "files of groups that a cut in time goes through are unused"
        notes.append(Note("warning", "groups across time", said, int(through.sum())))
    return SplitPlan.of("time-forward", 0, corpus.back(part), ids, notes)
