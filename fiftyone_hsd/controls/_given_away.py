"""Images whose class a control without the object gives away."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..model import AuditReport, Ints
from ._study import ALPHA

BACKGROUND = ("background_crop", "border_strip", "eight_pixels", "file_properties", "constant")
"""The controls that leave nothing of the object and predict whole images of the corpus."""


def given_away(report: AuditReport, control: str = "background_crop") -> Ints:
    """Rows of images whose class the control gives away: every run that tested the image named its class.

    Counted are the runs of intact splits (of random ones where no split is intact), of the readers that are above
    chance as the reading has it (p times the number of readers); without such a reader nothing is given away, since
    some images are always right by luck.

    Args:
        report: of `controls`.
        control: an experiment without the object.

    Raises:
        InputError: the report holds no runs of that control.
    """
    runs = [r for r in report.control_runs if r.config.option("control", "") == control]
    if not runs:
        there = sorted({str(r.config.option("control", "")) for r in report.control_runs})
        raise InputError(f"no runs of control {control!r}", ", ".join(there) or "none: run controls first")
    readers = len({r.config.model for r in runs})
    above = {
        (c.effect.model, c.effect.condition)
        for c in report.control_results
        if c.control == control and c.effect.what == "score" and c.effect.metric == "balanced_accuracy"
        if c.effect.seed is None and c.effect.p * readers <= ALPHA
    }
    tested, right = np.zeros(len(report.samples), np.int64), np.zeros(len(report.samples), np.int64)
    for run in runs:
        if (run.config.model, run.condition) in above:
            tested[run.rows] += 1
            right[run.rows] += run.predicted == report.samples.labels[run.rows]
    return np.flatnonzero((tested > 0) & (right == tested))
