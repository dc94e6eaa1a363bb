"""The reference: whole pictures, read by the same models on the same splits."""

from __future__ import annotations

from ..progress import Progress
from ._experiment import full_runs, sheet, whole_picture
from ._study import Outcome, Study
from ._two_by_two import compared


def full_picture(study: Study, *, progress: Progress | None = None) -> Outcome:
    """What the readers of the preset reach on whole pictures: the right half of every 2x2."""
    how = whole_picture()
    runs = full_runs(study, study.models, progress)
    results, notes = compared(study, how, runs, [])
    return Outcome(tuple(results), tuple(notes), tuple(runs), (sheet(study, how, {}),))
