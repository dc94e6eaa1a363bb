"""Session prevalence: does a model call more images of one session one class than there are (Dhar & Shamir 2022)?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..model import TEST, TRAIN, ControlResult, Effect, Floats, Ints, Note, SplitPlan, Strings
from ..progress import Progress
from ..stats import NAN
from ._experiment import vectors_of, whole_picture
from ._readers import read
from ._sessions import ACROSS, session_column, session_plans
from ._study import ALPHA, Outcome, Study

NAME = "session_prevalence"
DRAWS = 999


def session_prevalence(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Train on one half of the sessions and on the other; compare predicted class shares of each session with what its
    classes lead one to expect.

    Shift of a session: half the sum of absolute differences between its predicted class shares and those of all
    sessions at its own mix of classes; reported is the mean over images. p: groups change sessions within their class,
    predictions fixed. Read by the last of the preset's readers, on whole pictures.

    Raises:
        FieldError: the column does not exist.
    """
    plans, notes = session_plans(study, NAME)
    first = next((p for p in plans if p.condition == ACROSS and p.seed == 0), None)
    column, field = session_column(study)
    if first is None or column is None:
        return Outcome(notes=tuple(notes))
    other = {TRAIN: TEST, TEST: TRAIN}
    swapped = np.array([other.get(p, p) for p in first.partition.tolist()])
    both = [first, SplitPlan.of(ACROSS, 1, swapped, study.samples.ids)]
    model = study.models[-1]
    runs = read(study, vectors_of(study, whole_picture(), progress), (model,), (NAME, field), progress, plans=both)
    rows = np.concatenate([r.rows for r in runs])
    guess = np.concatenate([r.predicted for r in runs]).astype(np.int64)
    session = np.unique(column[rows], return_inverse=True)
    found = _test(study, rows, guess, session[1].astype(np.int64))
    results = [_whole(found, len(rows), model, field)]
    results += _shares(study, rows, guess, column[rows], (model, field))
    shift, p, expected = found
    facts = f"mean shift {shift:.3f}, {expected:.3f} expected by chance, p {p:.2g}, {len(session[0])} sessions"
    if p <= ALPHA:
        text = "the session moves the predicted class shares: a model reads sessions as classes"
        return Outcome(tuple(results), (*notes, Note("warning", f"control: {NAME}", f"{text}. {facts}")))
    text = f"no sign that the session moves the predicted class shares: {facts}"
    return Outcome(tuple(results), (*notes, Note("info", f"control: {NAME}", text)))


def _shift(table: Floats) -> float:
    """Mean shift over images; `table` (C, S, C) counts images by true class, session and predicted class."""
    by_class = table.sum(axis=1)
    usual = by_class / np.maximum(1, by_class.sum(axis=1, keepdims=True))
    expected = np.einsum("cs,cp->sp", table.sum(axis=2), usual)
    return float(np.abs(table.sum(axis=0) - expected).sum() / 2 / max(1.0, table.sum()))


def _test(study: Study, rows: Ints, guess: Ints, session: Ints) -> tuple[float, float, float]:
    """(mean shift, p, mean shift to be expected): whole groups change sessions within their class.

    A group that has images of several classes or sessions is taken apart into pieces, each of which moves.
    """
    c, s = len(study.samples.classes), int(session.max(initial=0)) + 1
    truth = study.samples.labels[rows].astype(np.int64)
    key = (study.units.codes[rows] * c + truth) * s + session
    pieces, at = np.unique(key, return_inverse=True)
    counts = np.zeros((len(pieces), c))
    np.add.at(counts, (at, guess), 1)
    piece_class, piece_session = pieces // s % c, pieces % s

    def table(sessions: Ints) -> Floats:
        made = np.zeros((c, s, c))
        np.add.at(made, (piece_class, sessions), counts)
        return made

    observed, rng, drawn = _shift(table(piece_session)), np.random.default_rng(9), np.empty(DRAWS)
    order = np.argsort(piece_class, kind="stable")
    for k in range(DRAWS):
        # a random order within each class
        mixed = order[np.lexsort((rng.random(len(order)), piece_class[order]))]
        moved = np.empty_like(piece_session)
        moved[order] = piece_session[mixed]
        drawn[k] = _shift(table(moved))
    p = float((1 + (drawn >= observed - 1e-12).sum()) / (1 + DRAWS))
    return observed, p, float(drawn.mean())


def _whole(found: tuple[float, float, float], n: int, model: str, field: str) -> ControlResult:
    how = f"mean over images; p: groups change sessions within their class, {DRAWS} times"
    effect = Effect("session_shift", model, ACROSS, None, TEST, "", "", found[0], NAN, NAN, found[1], n, how)
    return ControlResult(NAME, f"column {field}", found[2], effect)


def _shares(study: Study, rows: Ints, guess: Ints, column: Strings, names: tuple[str, str]) -> Iterable[ControlResult]:
    """Predicted beside true share of each class in each session; `names` are the model and the column."""
    truth, (model, field) = study.samples.labels[rows], names
    for name in np.unique(column).tolist():
        inside = column == name
        n = int(inside.sum())
        for c, called in enumerate(study.samples.classes):
            for what, values in (("predicted_share", guess), ("true_share", truth)):
                share = float((values[inside] == c).mean())
                where = f"session {name}"
                effect = Effect(what, model, where, None, TEST, called, "", share, NAN, NAN, NAN, n, "share of images")
                yield ControlResult(NAME, f"column {field}", NAN, effect)
