"""Thresholds for links: from pairs that cannot be mates, from a fit of the tail, and from copies made on purpose.

The split under audit is never its own null: a threshold set on its train x test pairs could not find a leak between
them. Who declares a split trustworthy is told that leaks across it cannot be found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError
from .model import Floats

SHARE_OF_COPIES = 0.95
"""Share of copies made on purpose that a threshold should find (our choice)."""
FALSE_SHARE = 0.01
"""Largest expected share of false links among the accepted ones (our choice)."""
NO_COPIES = 0.9
"""Smallest threshold where no copies could be made (our choice)."""
FEW = 20
"""Fewest scores from which a tail is fitted (our choice)."""
TAIL = 0.25
"""Share of the scores below the threshold that the tail is fitted to (our choice)."""


@dataclass(frozen=True)
class Calibration:
    """A threshold and what it costs.

    Attributes:
        threshold: smallest score that is accepted; inf = nothing is, since scores do not separate.
        null: where the scores of unrelated pairs come from: "declared", "presumed" (of different classes), "tail" of a
            fit, or "none".
        null_pairs, null_above: unrelated pairs measured, and those at or above the threshold.
        tested: pairs the threshold was applied to.
        accepted: pairs at or above it.
        expected_false, low, high: expected false links among them with a 95 % interval; nan = cannot be told.
        copies, copies_found: copies made on purpose, and the share of them found; nan = none were made.
        start: the threshold that copies alone ask for.
    """

    threshold: float
    null: str
    null_pairs: int
    null_above: int
    tested: int
    accepted: int
    expected_false: float
    low: float
    high: float
    copies: int
    copies_found: float
    start: float = float("nan")

    @property
    def words(self) -> str:
        """The threshold and what it costs, as a sentence."""
        if not np.isfinite(self.threshold):
            return (
                "refused: copies and pairs that only resemble each other cannot be told apart by their scores; a "
                f"threshold can be given by hand, and {self.start:.3f} would find {SHARE_OF_COPIES:.0%} of "
                f"{self.copies} copies made on purpose"
            )
        where = {
            "declared": f"{self.null_pairs} pairs that cannot be mates",
            "presumed": f"{self.null_pairs} pairs of different classes, taken for unrelated",
            "tail": f"the tail of the {self.null_pairs} pairs below it",
            "none": "copies alone: too few unrelated pairs come near to fit a tail",
        }[self.null]
        text = f"threshold {self.threshold:.3f} from {where}"
        if self.copies:
            text += f"; {self.copies_found:.0%} of {self.copies} copies made on purpose are found"
        if np.isfinite(self.expected_false):
            text += f"; expected false links {self.expected_false:.2g} (95 % {self.low:.2g} to {self.high:.2g})"
            text += f" among {self.accepted}"
        return text


def calibrate(
    scores: ArrayLike,
    *,
    copies: ArrayLike = (),
    unrelated: ArrayLike | None = None,
    presumed: ArrayLike | None = None,
) -> Calibration:
    """The threshold for the scores of candidate pairs.

    Args:
        scores: float (m,), in [-1, 1]; all candidates, -1 = looked at and without any resemblance.
        copies: float (k,), scores of pairs that were made on purpose from images of the corpus; -1 = not found.
        unrelated: bool (m,), candidates that cannot be mates, by declaration. They are never accepted.
        presumed: bool (m,), candidates that are taken for unrelated where nobody declared any (of different classes).
            They are the null too, but may be accepted: such a pair is then a conflict of labels.

    Returns:
        the smallest threshold that finds no more than `SHARE_OF_COPIES` of the copies and keeps the expected share of
        false links at `FALSE_SHARE` or below; the first part guards against resemblance (two photographs of one place
        are no copies), the second against chance.

    Raises:
        InputError: shapes differ.
    """
    score = np.asarray(scores, float)
    apart, other = (np.zeros(len(score), bool) if v is None else np.asarray(v, bool) for v in (unrelated, presumed))
    if apart.shape != score.shape or other.shape != score.shape:
        raise InputError(f"{apart.size} and {other.size} declarations for {score.size} scores", "one a score")
    made = np.asarray(copies, float)
    start = float(np.quantile(made[made > 0], 1 - SHARE_OF_COPIES)) if (made > 0).any() else NO_COPIES
    below = score[(score > -1) & (score < start)]
    kind, null = "none", np.zeros(len(score), bool)
    if apart.sum() >= FEW:
        kind, null = "declared", apart
    elif other.sum() >= FEW:
        kind, null = "presumed", other
    elif len(below) >= FEW:
        kind = "tail"
    tested = ~apart & ~null
    for level in np.unique(np.r_[start, score[score > start]]).tolist():
        accepted = int((score[tested] >= level).sum())
        above = int((score[null] >= level).sum())
        false = _tail(below, level, start) if kind == "tail" else _counted(above, int(null.sum()), int(tested.sum()))
        if np.isnan(false[0]) or false[0] <= max(FALSE_SHARE * accepted, 0.5):
            found = float((made >= level).mean()) if len(made) else float("nan")
            count = len(below) if kind == "tail" else int(null.sum())
            return Calibration(
                level, kind, count, above, int(tested.sum()), accepted, *false, copies=len(made), copies_found=found
            )
    nothing = Calibration(float("inf"), kind, int(null.sum()), 0, int(tested.sum()), 0, 0.0, 0.0, 0.0, len(made), 0.0)
    return replace(nothing, start=start)


def _counted(above: int, total: int, others: int) -> tuple[float, float, float]:
    """Expected false links among `others`, from the share of unrelated pairs above the threshold."""
    from scipy import stats

    if not total:
        return float("nan"), float("nan"), float("nan")
    exact = stats.binomtest(above, total).proportion_ci(0.95, "exact")
    return others * above / total, others * float(exact.low), others * float(exact.high)


def _tail(scores: Floats, level: float, start: float) -> tuple[float, float, float]:
    """Expected false links, from a fit to the scores below `start`."""
    below = np.arctanh(np.clip(scores, -0.999, 0.999))
    # Excesses over a high quantile of what lies below the threshold, as exponential: Fisher's z makes tails light. They
    # are cut at `start`; where they do not fall towards it there is no tail, and nothing separates.
    base = float(np.quantile(below, 1 - TAIL))
    excess = below[below > base] - base
    reach = float(np.arctanh(min(0.9999, level))) - base
    cut = float(np.arctanh(min(0.9999, start))) - base
    error = 1.96 * float(excess.std()) / np.sqrt(len(excess))
    middle, low, high = (
        _beyond(float(excess.mean()) + shift, cut, reach, len(excess)) for shift in (0.0, -error, error)
    )
    return middle, low, high


def _beyond(mean: float, cut: float, reach: float, count: int) -> float:
    """Expected excesses above `reach`, from `count` exponential ones below `cut` with this mean; inf = no tail."""
    from scipy.optimize import brentq

    if mean >= cut / 2:
        return float("inf")
    if mean <= 0:
        return 0.0
    scale = brentq(lambda s: s - cut / np.expm1(min(cut / s, 500.0)) - mean, 1e-3 * mean, 1e3 * cut)
    return float(count * np.exp(-reach / scale) / -np.expm1(-cut / scale))
