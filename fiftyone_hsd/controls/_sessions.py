"""Splits by session, and by group with the same sizes."""

from __future__ import annotations

import numpy as np

from ..errors import InfeasibleError
from ..model import TEST, TRAIN, UNUSED, Ints, Note, SplitPlan, Strings
from ..splitting import intact
from ._study import Study

ACROSS, WITHIN = "across sessions", "within sessions"
HALVES = {TRAIN: 0.5, TEST: 0.5}


def session_column(study: Study) -> tuple[Strings | None, str]:
    """(the sessions, else the sources, and the column's name); None = neither was named.

    Raises:
        FieldError: the column does not exist.
    """
    field = study.settings.session_field or study.settings.source_field
    return (None, "") if field is None else (study.samples.column(field), field)


def whole_sessions(study: Study, column: Strings) -> Ints:
    """int64 (n,), a number for everything that must stay together: sessions, and groups that join some of them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    session = np.unique(column, return_inverse=True)[1].astype(np.int64)
    groups = study.grouping.n_groups
    size = groups + int(session.max(initial=0)) + 1
    links = (np.ones(len(session)), (study.grouping.codes, groups + session))
    found = connected_components(csr_array(links, shape=(size, size)), directed=False)[1]
    return np.asarray(found[study.grouping.codes], np.int64)


def session_plans(study: Study, control: str) -> tuple[list[SplitPlan], list[Note]]:
    """Two plans a seed, across and within sessions, half in train; none, and why, where there are no sessions."""
    topic = f"control: {control}"
    column, field = session_column(study)
    if column is None:
        text = f"{control.replace('_', ' ')}: no column was named as session_field or source_field"
        return [], [Note("not evaluated", topic, text)]
    rows = np.flatnonzero((study.samples.labels >= 0) & (column != ""))
    labels, ids = study.samples.labels[rows], [study.samples.ids[i] for i in rows]
    whole = whole_sessions(study, column)[rows]
    if len(np.unique(whole)) < 2:
        n = len(np.unique(column[rows]))
        why = "there is one session" if n < 2 else f"groups that lie in several of the {n} sessions join all of them"
        text = f"{control.replace('_', ' ')}: sessions of column {field} cannot be split: {why}"
        return [], [Note("not evaluated", topic, text)]
    plans: list[SplitPlan] = []
    try:
        for seed in range(study.settings.seeds):
            for name, codes in ((ACROSS, whole), (WITHIN, study.grouping.codes[rows])):
                plan = intact(labels, codes, HALVES, seed=seed, ids=ids, names=study.samples.classes)
                partition = np.full(len(study.samples), UNUSED, dtype="<U8")
                partition[rows] = plan.partition
                plans.append(SplitPlan.of(name, seed, partition, study.samples.ids))
    except InfeasibleError as error:
        text = f"{control.replace('_', ' ')}: sessions of column {field} cannot be split: {error}"
        return [], [Note("not evaluated", topic, text)]
    sizes = [f"{p.condition} {(p.partition == TRAIN).sum()}/{(p.partition == TEST).sum()}" for p in plans[:2]]
    text = f"{control.replace('_', ' ')}: train/test images of seed 0: {', '.join(sizes)}"
    return plans, [Note("info", topic, text)]
