"""Whether what a control takes for background is blank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..model import Bools, Note, Samples

Pixels = NDArray[np.uint8]
DEVIATION = 12.0
"""Standard deviation of grey above which a crop is not blank: noise of a sensor or of JPEG stays below it (ours)."""
STEP, SHARE = 24.0, 0.03
"""A pixel whose grey changes by more than 24 levels to a neighbour is an edge; more than 3 % of them are not blank."""
COVERED = 0.05
"""Share of a crop covered by given boxes of objects above which it is no background."""
EXAMPLES = 8


def blankness(crop: Pixels) -> str:
    """ "" for a blank crop, else what is in it: its deviation of grey and its share of edges."""
    grey = crop.astype(np.float32).mean(axis=2)
    smooth = (grey - grey.mean()).std()
    steps = [np.abs(np.diff(grey, axis=a)).ravel() for a in (0, 1)]
    both = np.concatenate(steps)
    edges = float((both > STEP).mean()) if both.size else 0.0
    said = [f"deviation {smooth:.0f}"] if smooth > DEVIATION else []
    said += [f"edges {edges:.0%}"] if edges > SHARE else []
    return "not blank: " + ", ".join(said) if said else ""


def blank_note(samples: Samples, remarks: Mapping[int, str], left: str, control: str) -> Note:
    """How many crops are not blank, in which classes, and examples by name."""
    n = int((samples.labels >= 0).sum())
    if not remarks:
        return Note("info", f"control: {control}", f"{left}: blank in all {n} images (variance and edges of grey)")
    bad: Bools = np.zeros(len(samples), bool)
    bad[list(remarks)] = True
    by_class = []
    for c, name in enumerate(samples.classes):
        mine = samples.labels == c
        if (bad & mine).any():
            by_class.append(f"{name} {int((bad & mine).sum())} of {int(mine.sum())}")
    more = "" if len(by_class) <= 6 else f" and {len(by_class) - 6} more classes"
    text = (
        f"{left}: not blank in {len(remarks)} of {n} images ({', '.join(by_class[:6])}{more}). What is seen there "
        "may be part of the object; choose another place, or read the control as an upper bound"
    )
    step = max(1, len(remarks) // EXAMPLES)
    examples = tuple(f"{samples.ids[r]}: {remarks[r]}" for r in sorted(remarks)[::step][:EXAMPLES])
    return Note("warning", f"control: {control}", text, len(remarks), examples)
