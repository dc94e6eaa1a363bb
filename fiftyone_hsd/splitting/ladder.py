"""The ladder: five conditions from whole groups to single files (the method's section 3).

The class x partition counts are the same in all conditions and the sets of exposed test samples are nested: what
changes along the ladder is who shares a group with whom, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import SENTINEL, VAL, Floats, Grouping, Ints, Note, SplitPlan
from .checks import deviations, listed
from .intact import assign
from .release import deal_waves, exchange_cells, expected_pair_leak, merge_waves, permute_in_cells, wave_strata
from .table import Table, shares, source_codes, table

CONDITIONS = ("intact", "q25", "q50", "q75", "random")
SHUFFLE = "shuffle"
"""Name of the plain class-stratified shuffle of files, the true endpoint where `random` cannot release enough."""
RELEASED = 0.9
"""Expected relative pair leak below which the last condition is called maximal release."""
MAXIMAL_RELEASE = "maximal release"
"""Topic of the note that says so."""


def ladder(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    fractions: Mapping[str, float],
    *,
    seed: int,
    ids: Sequence[str] | None = None,
    source: ArrayLike | None = None,
    sentinel: float = 0.0,
    unknown: str = "refuse",
    names: Sequence[str] = (),
    conditions: int = 5,
    validation: str = "cross",
) -> list[SplitPlan]:
    """The plans intact, q25, q50, q75 and random, in order of release.

    Args:
        labels, groups, fractions, seed, ids, unknown, names: as `intact`.
        source: (n,) site or source of each sample; files then change places only within their source, where such a cell
            can take it.
        sentinel: share of groups that are in no partition in any condition, about .1 where it is used.
        conditions: number of conditions, 2 or more.
        validation: "cross": the files of `val` change places like all others; "intact": `val` keeps its whole groups.

    Returns:
        SplitPlans whose notes state the expected relative pair leak at the last condition, and call it maximal release
        where that is below .9; then `shuffle` is the true endpoint.

    Raises:
        InfeasibleError, InputError: as `intact`.
    """
    titles = condition_names(conditions)
    if validation not in ("cross", "intact"):
        raise InputError(f"validation = {validation!r}", "'cross' or 'intact'")
    corpus = table(labels, groups, ids, unknown)
    wanted = shares(fractions, sentinel)
    called = corpus.class_names(names)
    sources = source_codes(source, corpus)
    whole, proven = assign(corpus, wanted, seed, called, sources)
    parts = np.array(list(wanted), dtype=np.str_)
    a = whole[corpus.groups]
    kept = [SENTINEL, VAL] if validation == "intact" else [SENTINEL]
    wave, cells = released(corpus, wanted, whole, kept, sources, conditions - 1, seed)
    r = permute_in_cells(a, cells, np.random.default_rng([seed, 3]))
    notes = deviations(corpus, whole, wanted, called, proven=proven)
    notes += release_notes(corpus, _counted(cells, parts[a], a), a, called, titles[-1])
    return [
        SplitPlan.of(title, seed, corpus.back(parts[np.where(wave[corpus.groups] < k, r, a)]), ids, notes)
        for k, title in enumerate(titles)
    ]


def shuffle(labels: ArrayLike, plan: SplitPlan, *, ids: Sequence[str] | None = None, by: str = SHUFFLE) -> SplitPlan:
    """A plain class-stratified shuffle of single files with the class x partition counts of `plan`.

    Sentinel and unused files stay. It is reported beside a ladder whose last condition is a maximal release only.

    Args:
        labels: int (n,) or bool (n, C), as for the plan.
        plan: a condition of the ladder; its seed is used.
        ids: the ids the plan was drawn with.
        by: the name of the condition.
    """
    corpus = table(labels, np.arange(len(plan)), ids)
    parts, a = np.unique(plan.partition[corpus.order], return_inverse=True)
    free = ~np.isin(parts[a], [SENTINEL, "unused"])
    r = permute_in_cells(a, np.where(free, corpus.labels, -1), np.random.default_rng([plan.seed, 4]))
    return SplitPlan.of(by, plan.seed, corpus.back(parts[r]), ids, plan.notes)


def condition_names(count: int) -> tuple[str, ...]:
    """intact, qNN for the share of groups that is released, random."""
    if count < 2:
        raise InputError(f"{count} conditions", "2 or more: whole groups and single files")
    return ("intact", *(f"q{round(100 * k / (count - 1))}" for k in range(1, count - 1)), "random")


def released(
    corpus: Table,
    wanted: Mapping[str, float],
    whole: Ints,
    kept: Sequence[str],
    source: Ints | None,
    waves: int,
    seed: int,
) -> tuple[Ints, Ints]:
    """(int64 (G,) wave of each group, int64 (n,) cell of each file); groups in `kept` partitions are never released."""
    parts, f = np.array(list(wanted), dtype=np.str_), np.array(list(wanted.values()))
    free = ~np.isin(parts[whole], list(kept))
    open_share: Floats = np.where(np.isin(parts, list(kept)), 0.0, f)
    wave = deal_waves(corpus, wave_strata(corpus, whole, source, waves), free, waves, np.random.default_rng([seed, 2]))
    wave = merge_waves(corpus, wave, whole, waves, open_share)
    return wave, exchange_cells(corpus, wave, whole[corpus.groups], source, waves, open_share)


def _counted(cells: Ints, partition: np.ndarray, a: Ints) -> Ints:
    """Cells with one more for each kept partition that counts (all but the sentinel): nothing moves inside it."""
    stays = (cells < 0) & (partition != SENTINEL)
    return np.where(stays, cells.max(initial=0) + 1 + a, cells)


def release_notes(corpus: Table, cells: Ints, a: Ints, called: Sequence[str], last: str) -> list[Note]:
    """What the last condition can be expected to release."""
    leak, by_kind = expected_pair_leak(cells, a, corpus.groups, corpus.labels)
    if np.isnan(leak):
        return [Note("warning", "release", "no sample has a mate: the relative pair leak is not defined")]
    text = f"expected relative pair leak at `{last}`: {leak:.3f}"
    if leak >= RELEASED:
        return [Note("info", "release", text)]
    held = [corpus.kind_names(called)[k] for k in np.flatnonzero(by_kind < RELEASED)]
    text = (
        f"`{last}` is a maximal release only, {text}; the true endpoint is a plain class-stratified shuffle of files. "
        f"Classes that could not release: {listed(held) or 'none by itself, but pairs of mates of different classes'}"
    )
    return [Note("warning", MAXIMAL_RELEASE, text, len(held), tuple(held[:20]))]
