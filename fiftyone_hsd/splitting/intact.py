"""Class-stratified assignment of whole groups to partitions (the method's section 3, step 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..model import Grouping, Ints, SplitPlan
from .aim import aim_of
from .checks import check_feasible, deviations
from .exact import exact, lower_bound, parts
from .search import greedy, improve, kicked, neighbourhood, polish, turn
from .table import Table, shares, source_codes, table


def intact(
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
) -> SplitPlan:
    """Assign whole groups to partitions so that every class has its share everywhere.

    Minimises sum over partitions s and classes c of |n_sc - f_s N_c| / N_c, and as a second aim the same for the number
    of groups of each size quartile within a majority class: greedy start, move and swap search, then exact solving of
    what is small. Every class gets a group in every partition, and min(5, floor(f_s G_c)) groups in test, where it can.

    Args:
        labels: int (n,), no -1; or bool (n, C), several labels a sample.
        groups: int (n,) or a Grouping, no -1 unless unknown="singleton".
        fractions: partition -> share of the samples, any names.
        seed: different seeds give different assignments.
        ids: n unique ids; with them the draw does not depend on the order of rows.
        source: (n,) site or source of each sample: spread like the fractions too, as far as the classes allow it.
        sentinel: share of an extra partition `sentinel`.
        unknown: "refuse" or "singleton".
        names: class names for messages; by default the label numbers.

    Returns:
        a SplitPlan "intact" whose notes state the deviation and name every class that is absent somewhere.

    Raises:
        InfeasibleError: no class can be both in train and outside it, or there are fewer groups than partitions.
        InputError: the arguments do not fit each other.
    """
    corpus = table(labels, groups, ids, unknown)
    wanted = shares(fractions, sentinel)
    called = corpus.class_names(names)
    codes, proven = assign(corpus, wanted, seed, called, source_codes(source, corpus))
    parts = np.array(list(wanted), dtype=np.str_)
    notes = deviations(corpus, codes, wanted, called, proven=proven)
    return SplitPlan.of("intact", seed, corpus.back(parts[codes[corpus.groups]]), ids, notes)


def assign(
    corpus: Table, wanted: Mapping[str, float], seed: int, called: Sequence[str], source: Ints | None = None
) -> tuple[Ints, bool]:
    """int64 (G,), the partition number (position in `wanted`) of each group; True if no better one exists."""
    check_feasible(corpus, wanted, called)
    rng = np.random.default_rng([seed, 1])
    aim = aim_of(corpus, wanted, source)
    first = aim.first_only()
    codes = improve(aim, greedy(corpus, wanted, rng), rng)
    # Last the classes alone, from where sizes are balanced already.
    codes = improve(first, codes, rng)
    small = neighbourhood(codes, aim.partitions) is not None
    if not small:
        codes = polish(first, corpus.counts, codes, rng)
    elif aim.classes_only().cost(codes) > lower_bound(aim.classes_only()) + 1e-9:
        codes = kicked(first, codes, rng)
    codes, proven = exact(aim, codes)
    if small:
        codes = turn(first, list(parts(first)), codes)
    return improve(first, codes, rng), proven
