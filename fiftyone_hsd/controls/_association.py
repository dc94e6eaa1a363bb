"""Cramer's V of class and session or source, over groups, with a permutation p."""

from __future__ import annotations

import numpy as np

from ..model import ControlResult, Effect, Ints, Note, Strings
from ..stats import NAN
from ._study import ALPHA, Study

DRAWS = 999


def pairs_of_groups(study: Study, column: Strings) -> tuple[Ints, Ints, Strings]:
    """(class, value) numbers of each group and value that occur together, and the names of the values.

    A group counts once for each class and value its images have; images without label or value do not count.
    """
    use = np.flatnonzero((study.samples.labels >= 0) & (column != ""))
    names, value = np.unique(column[use], return_inverse=True)
    rows = np.stack([study.grouping.codes[use], study.samples.labels[use].astype(np.int64), value.astype(np.int64)])
    different = np.unique(rows, axis=1)
    return different[1], different[2], names


def cramers_v(first: Ints, second: Ints) -> float:
    """Cramer's V of two columns of numbers, 0 to 1; nan where one of them has a single value.

    Not corrected for chance, so it is above 0 in small tables without any association: read it with its p.
    """
    width = int(second.max(initial=0)) + 1
    table = np.bincount(first * width + second, minlength=(int(first.max(initial=0)) + 1) * width).astype(float)
    table = table.reshape(-1, width)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return NAN
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi2 / table.sum() / (min(table.shape) - 1)))


def association_result(study: Study, control: str, field: str, what: str) -> tuple[list[ControlResult], list[Note]]:
    """V of class and a column, its p, and a reading; `what` names the column's values ("session").

    Raises:
        FieldError: the column does not exist.
    """
    classes, values, names = pairs_of_groups(study, study.samples.column(field))
    v, topic = cramers_v(classes, values), f"control: {control}"
    if not np.isfinite(v):
        return [], [Note("not evaluated", topic, f"{what} and class: column {field} has {len(names)} value(s)")]
    rng, drawn = np.random.default_rng(8), np.empty(DRAWS)
    for k in range(DRAWS):
        drawn[k] = cramers_v(classes, rng.permutation(values))
    p = float((1 + (drawn >= v - 1e-9).sum()) / (1 + DRAWS))
    how = f"Cramer's V over {len(classes)} groups, not corrected for chance; p: {what}s permuted between groups"
    effect = Effect("cramers_v", "", "", None, "", "", "", v, NAN, NAN, p, len(classes), how)
    result = ControlResult(control, f"{what} (column {field})", float(drawn.mean()), effect)
    facts = f"Cramer's V {v:.2f} over {len(classes)} groups and {len(names)} {what}s, p {p:.2g}"
    each = (np.array([len(np.unique(classes[values == k])) for k in range(len(names))]) == 1).all()
    if each:
        text = (
            f"every {what} holds one class only, so class and {what} are the same thing: no split identifies "
            f"performance on a new {what}. {facts}"
        )
        return [result], [Note("problem", topic, text)]
    if p <= ALPHA:
        return [result], [Note("warning", topic, f"class and {what} go together. {facts}")]
    return [result], [Note("info", topic, f"no sign that class and {what} go together: {facts}")]
