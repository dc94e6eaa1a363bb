"""Source and site: which classes come from where, and what a model reaches on a source it has never seen."""

from __future__ import annotations

import numpy as np

from ..model import TEST, TRAIN, UNUSED, ControlResult, Effect, Note, Run, SplitPlan, Strings
from ..progress import Progress
from ..stats import NAN
from ._association import association_result
from ._experiment import full_runs, vectors_of, whole_picture
from ._readers import read
from ._scored import boards_of, pooled, scored
from ._study import INTACT, Outcome, Study

NAME = "source_table"


def source_table(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Images by class and source, Cramer's V over groups, and leave-one-source-out beside the intact split.

    Needs `source_field`. If every source holds one class only, no split identifies performance on a new source.

    Raises:
        FieldError: the column does not exist.
    """
    field = study.settings.source_field
    if field is None:
        note = Note("not evaluated", f"control: {NAME}", "source and site: no column was named as source_field")
        return Outcome(notes=(note,))
    column = study.samples.column(field)
    results, notes = association_result(study, NAME, field, "source")
    results = [*_counts(study, column, field), *results]
    plans = _one_out(study, column)
    if not plans:
        text = "leave one source out: no source leaves two classes in train and has one of them itself"
        return Outcome(tuple(results), (*notes, Note("not evaluated", f"control: {NAME}", text)))
    vectors = vectors_of(study, whole_picture(), progress)
    runs = read(study, vectors, study.models, (NAME, f"column {field}"), progress, plans=plans)
    scores, reading = _scores(study, plans, runs, field, progress)
    return Outcome((*results, *scores), (*notes, *reading))


def _counts(study: Study, column: Strings, field: str) -> list[ControlResult]:
    """Images of each class in each source."""
    rows = []
    for c, name in enumerate(study.samples.classes):
        for source in np.unique(column[column != ""]).tolist():
            n = int(((study.samples.labels == c) & (column == source)).sum())
            effect = Effect("images", "", f"source {source}", None, "", name, "", n, NAN, NAN, NAN, n, "count")
            rows.append(ControlResult(NAME, f"column {field}", NAN, effect))
    return rows


def _one_out(study: Study, column: Strings) -> list[SplitPlan]:
    """One plan a source that can be tested: train on all others. Groups that cross sources are left out of train."""
    labels, plans = study.samples.labels, []
    labelled = labels >= 0
    for source in np.unique(column[column != ""]).tolist():
        test = labelled & (column == source)
        mates = np.isin(study.grouping.codes, study.grouping.codes[test])
        train = labelled & (column != "") & ~test & ~mates
        known = np.unique(labels[train])
        if len(known) > 1 and np.isin(labels[test], known).any():
            partition = np.where(train, TRAIN, np.where(test & np.isin(labels, known), TEST, UNUSED))
            plans.append(SplitPlan.of(f"source {source}", 0, partition, study.samples.ids))
    return plans


def _scores(
    study: Study, plans: list[SplitPlan], runs: list[Run], field: str, progress: Progress | None
) -> tuple[list[ControlResult], list[Note]]:
    results, said = [], []
    inside = {b.model: b for b in boards_of(study, study.plans, full_runs(study, study.models, progress))}
    how = "one model trained on all other sources; group bootstrap, about this source"
    for board in boards_of(study, plans, runs):
        values = []
        for plan in plans:
            chance = 1 / max(1, int(board.read[plan.condition, 0].plain.present.sum()))
            effect = scored(board, plan.condition, "leave_one_source_out", how)
            results.append(ControlResult(NAME, f"column {field}", chance, effect))
            values.append(effect.estimate)
        own = pooled(inside[board.model], study.conditions[0])
        where = "intact" if study.conditions[0] == INTACT else "random"
        said.append(
            f"{board.model.replace('_', ' ')}: {np.mean(values):.3f} mean over {len(values)} sources never seen "
            f"({min(values):.3f} to {max(values):.3f}), {own.estimate:.3f} {where}"
        )
    text = f"balanced accuracy on a source that was left out beside new groups of known sources: {'; '.join(said)}"
    return results, [Note("info", f"control: {NAME}", text)]
