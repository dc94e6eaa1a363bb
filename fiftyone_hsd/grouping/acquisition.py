"""Sessions from times of acquisition: pauses that are far longer than the time between two pictures of one session."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..model import Floats, Ints, Links

LEAST_TIMES = 20
"""Fewer times do not show what a pause is."""
APART = 10.0
"""How many times longer the shortest pause is than the longest step inside a session, at least."""
LEAST_SHARE = 0.02
"""Smallest share of the steps that must lie on either side."""
SHORTEST_PAUSE = 60.0
"""Seconds below which nobody changes patient, place or plate."""


def acquisition(seconds: ArrayLike, devices: ArrayLike) -> tuple[Links, str]:
    """Links between pictures that one device took without a pause between them.

    The limit is the widest empty stretch in the logarithms of the steps between neighbours in time, if it spans a
    factor of 10 (our choice); without such a stretch there are no sessions to be seen.

    Args:
        seconds: float (n,), time of acquisition, NaN = unknown.
        devices: (n,) str, serial number or other name of the device; pictures of two devices are never linked.

    Returns:
        (links, the rule in words, or why there are none).
    """
    when = np.asarray(seconds, np.float64)
    device = np.unique(np.asarray(devices, np.str_), return_inverse=True)[1]
    known = np.flatnonzero(np.isfinite(when))
    order = known[np.lexsort((when[known], device[known]))]
    same = np.diff(device[order]) == 0
    steps = np.diff(when[order])
    limit = _limit(steps[same & (steps > 0)])
    nothing = Links.of([], [], "acquisition")
    if len(known) < LEAST_TIMES:
        return nothing, f"{len(known)} of {len(when)} pictures say when they were taken: too few"
    if not np.isfinite(limit):
        return nothing, "times of acquisition show no pauses that divide sessions"
    codes = np.full(len(when), -1, np.int64)
    codes[order] = np.cumsum(np.r_[0, ~same | (steps >= limit)])
    rule = f"no pause of {limit:.0f} s or more between pictures of one device"
    return Links.from_codes(_shared(codes), "acquisition", rule), rule


def _limit(steps: Floats) -> float:
    """Seconds that divide steps from pauses, infinity if there are not two kinds."""
    if len(steps) < LEAST_TIMES:
        return float("inf")
    logs = np.sort(np.log(steps))
    gaps = np.diff(logs)
    ends = int(np.ceil(LEAST_SHARE * len(logs)))
    gaps[: max(0, ends - 1)] = 0
    gaps[len(gaps) - ends + 1 :] = 0
    widest = int(np.argmax(gaps))
    limit = float(np.exp((logs[widest] + logs[widest + 1]) / 2))
    if gaps[widest] < np.log(APART) or np.exp(logs[widest + 1]) < SHORTEST_PAUSE:
        return float("inf")
    return limit


def _shared(codes: Ints) -> Ints:
    """Codes with -1 for sessions of one picture: alone they link nothing."""
    count = np.bincount(codes[codes >= 0], minlength=1)
    return np.where((codes >= 0) & (count[np.maximum(codes, 0)] > 1), codes, -1)
