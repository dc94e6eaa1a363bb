"""Acquisition order: were classes photographed one after another? The audit of Dhar & Shamir's third proposal."""

from __future__ import annotations

import math

import numpy as np

from ..model import ControlResult, Effect, Floats, Ints, Note
from ..progress import Progress, guarded
from ..stats import NAN
from ._association import association_result
from ._sequence import first_of_groups, sequence
from ._study import ALPHA, Outcome, Study

NAME = "acquisition_order"
DRAWS = 9999
SAME = 1e-9


def acquisition_order(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Runs of classes in the sequence of GROUPS by first acquisition, against groups in random order.

    R = 1 + sum 1[y_t != y_(t+1)], blocking index B = 1 - (R - 1) / E[R - 1] with E[R - 1] = n (1 - sum p_c^2): near 1
    if classes come one after another, near 0 if they are mixed, below 0 if they alternate. p: groups permuted, so
    repeated images of one patient count once. Groups of one time (dates without hours) have no order among themselves:
    R is then the mean over all orders of them (our choice). Where sessions are given, Cramer's V of class and session
    as well.

    Raises:
        FieldError: a column that was named does not exist.
    """
    guarded(progress)(0, 1, "acquisition order")
    results, notes = _order(study)
    if study.settings.session_field is not None:
        result, note = association_result(study, NAME, study.settings.session_field, "session")
        results, notes = [*results, *result], [*notes, *note]
    return Outcome(tuple(results), tuple(notes))


def _order(study: Study) -> tuple[list[ControlResult], list[Note]]:
    topic, found = f"control: {NAME}", sequence(study)
    if found.reason:
        return [], [Note("not evaluated", topic, f"acquisition order: {found.reason}; name a column as order_field")]
    place, classes, mixed = first_of_groups(found.rank, study.grouping.codes, study.samples.labels.astype(np.int64))
    n = len(classes)
    counts = np.bincount(classes)
    expected = n - float((counts.astype(float) ** 2).sum()) / n if n else 0.0
    if n < 3 or expected <= 0:
        return [], [Note("not evaluated", topic, f"acquisition order: {n} groups of {int((counts > 0).sum())} classes")]
    changes = float(_changes(place, classes[None])[0])
    index = 1 - changes / expected
    p, smallest = _permuted(place, classes, changes)
    tied = n - len(np.unique(place))
    same = f", mean over all orders of groups of one time ({len(np.unique(place))} times)" if tied else ""
    how = f"runs of {n} groups by {found.origin}, {changes + 1:.4g} runs{same}; p: groups permuted {DRAWS} times"
    effects = [
        Effect("blocking_index", "", "", None, "", "", "", index, NAN, NAN, p, n, how),
        Effect("runs", "", "", None, "", "", "", changes + 1, NAN, NAN, NAN, n, how),
    ]
    more = f"; {mixed} groups of several classes count as the class most of their images have" if mixed else ""
    more += f"; {n} groups have {len(np.unique(place))} times" if tied else ""
    facts = f"blocking index {index:.2f} over {n} groups by {found.origin}, p {p:.2g}{more}"
    chances = (0.0, expected + 1)
    results = [ControlResult(NAME, found.origin, c, e) for c, e in zip(chances, effects, strict=True)]
    return results, [_reading(topic, facts, p, smallest, study)]


def _reading(topic: str, facts: str, p: float, smallest: float, study: Study) -> Note:
    if smallest > ALPHA:
        why = "each class is one group" if study.per_image else f"these groups allow no p below {smallest:.2g}"
        return Note("not evaluated", topic, f"acquisition order: not testable, since {why}. {facts}")
    if p <= ALPHA:
        text = "classes were acquired in blocks, so that whatever drifts with time looks like a class"
        return Note("warning", topic, f"{text}. {facts}")
    return Note("info", topic, f"no sign that classes were acquired in blocks: {facts}")


def _permuted(place: Ints, classes: Ints, changes: float) -> tuple[float, float]:
    """(p for as few changes, smallest p that these groups allow)."""
    rng = np.random.default_rng(6)
    drawn: list[Floats] = []
    tied = place[-1] + 1 < len(place)
    block = max(1, (1 << 22) // (len(classes) * (int(classes.max()) + 1 if tied else 1)))
    for start in range(0, DRAWS, block):
        mixed = rng.permuted(np.broadcast_to(classes, (min(block, DRAWS - start), len(classes))), axis=1)
        drawn.append(_changes(place, mixed))
    null = np.concatenate(drawn)
    b = int((null <= changes + SAME).sum())
    counts = [c for c in np.bincount(classes).tolist() if c]
    # The fewest runs there can be: one block a class, in any order of the classes.
    ways = math.lgamma(len(classes) + 1) - sum(math.lgamma(c + 1) for c in counts) - math.lgamma(len(counts) + 1)
    smallest = max(1 / (1 + DRAWS), math.exp(-min(ways, 700.0)))
    if tied:  # how few there can be depends on the times as well: as few as any draw had
        smallest = max(smallest, (1 + int((null <= null.min() + SAME).sum())) / (1 + DRAWS))
    return (1 + b) / (1 + DRAWS), smallest


def _changes(place: Ints, classes: Ints) -> Floats:
    """Neighbours of different classes, mean over all orders of groups that share a place.

    Args:
        place: int64 (n,), from 0, ascending.
        classes: int64 (draws, n).
    """
    if place[-1] + 1 == len(place):
        return np.asarray((classes[:, 1:] != classes[:, :-1]).sum(axis=1), float)
    draws, width = len(classes), int(classes.max()) + 1
    cell = (np.arange(draws)[:, None] * (place[-1] + 1) + place) * width + classes
    count = np.bincount(cell.ravel(), minlength=draws * int(place[-1] + 1) * width).reshape(draws, -1, width)
    m = np.bincount(place).astype(float)
    # m - 1 neighbours inside a place; two of its groups are of one class with probability sum c (c - 1) / m (m - 1).
    inside = (m - 1).sum() - ((count * (count - 1.0)).sum(axis=2) / m).sum(axis=1)
    share = count / m[:, None]
    between = len(m) - 1 - (share[:, 1:] * share[:, :-1]).sum(axis=(1, 2))
    return np.asarray(inside + between, float)
