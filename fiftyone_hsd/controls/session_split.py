"""Session split: train on some sessions, test on others, beside the same sizes within sessions (rows 4 and 9 of P2)."""

from __future__ import annotations

import math

from ..model import ControlResult, Effect, Note, SplitPlan
from ..progress import Progress
from ..stats import NAN, Interval
from ._experiment import crop_look, vectors_of, whole_picture
from ._readers import read
from ._scored import boards_of, difference, scored
from ._sessions import ACROSS, WITHIN, session_plans
from ._study import Look, Outcome, Study

NAME = "session_split"


def session_split(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Whole pictures and the background crop, half of the sessions in train, against half of the groups.

    Needs `session_field` (or `source_field`). Sessions are dealt whole, and with them every group that has an image in
    them; within sessions whole groups are dealt. Both halves hold about the same number of images of each class.

    Raises:
        FieldError: the column does not exist.
    """
    plans, notes = session_plans(study, NAME)
    if not plans:
        return Outcome(notes=tuple(notes))
    results: list[ControlResult] = []
    for how in (whole_picture(), crop_look(study)):
        found, note = _of(study, how, plans, progress)
        results += found
        notes.append(note)
    return Outcome(tuple(results), tuple(notes))


def _of(study: Study, how: Look, plans: list[SplitPlan], progress: Progress | None) -> tuple[list[ControlResult], Note]:
    variant = f"{how.control} {how.variant}"
    runs = read(study, vectors_of(study, how, progress), study.models, (NAME, variant), progress, plans=plans)
    results, gaps = [], []
    for board in boards_of(study, plans, runs):
        chance = 1 / max(1, len({int(y) for y in study.samples.labels if y >= 0}))
        for condition in (WITHIN, ACROSS):
            results.append(ControlResult(NAME, variant, chance, scored(board, condition)))
        gap = difference(board, WITHIN, ACROSS)
        n = board.n(ACROSS, board.seeds(ACROSS))
        method = "within minus across sessions, same sizes, other test images; group bootstrap"
        numbers = (gap.estimate, gap.low, gap.high, NAN)
        effect = Effect("session_gap", board.model, ACROSS, None, "test", "", "balanced_accuracy", *numbers, n, method)
        results.append(ControlResult(NAME, variant, NAN, effect))
        scores = [r.effect.estimate for r in results[-3:-1]]
        gaps.append((board.model, gap, scores))
    return results, _reading(how, gaps)


def _reading(how: Look, gaps: list[tuple[str, Interval, list[float]]]) -> Note:
    model, gap, (within, across) = max(gaps, key=lambda g: g[1].low if math.isfinite(g[1].low) else -math.inf)
    between = f" [{gap.low:+.3f}, {gap.high:+.3f}]" if math.isfinite(gap.low) else " (no interval)"
    facts = (
        f"{model.replace('_', ' ')}: {within:.3f} within sessions, {across:.3f} on sessions never seen, gap "
        f"{gap.estimate:+.3f}{between}"
    )
    if gap.low > 0:
        text = f"{how.left}: part of the score is knowledge of the session"
        return Note("warning", f"control: {NAME}", f"{text}. {facts}")
    return Note("info", f"control: {NAME}", f"{how.left}: no loss on sessions never seen is shown. {facts}")
