"""Confident learning (Northcutt, Jiang and Chuang 2021), as cleanlab computes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..model import Bools, Floats
from .registering import need_cleanlab
from .undisturbed import undisturbed


def confident_learning(labels: NDArray[np.integer], probabilities: NDArray[np.floating]) -> tuple[Bools, Floats]:
    """Labels that the probabilities speak against.

    cleanlab's default settings (`prune_by_noise_rate`); classes without a sample are left out of its class list.

    Args:
        labels: int (m,), no -1.
        probabilities: (m, C), out of fold, no nan.

    Returns:
        (flagged, belief): bool (m,); float64 (m,), the probability of the given label.

    Raises:
        InputError: shapes that do not fit, or fewer than two classes.
        MissingExtraError: cleanlab is not installed.
    """
    need_cleanlab()
    given, belief = np.asarray(labels, np.int64), np.asarray(probabilities, np.float64)
    present, code = np.unique(given, return_inverse=True)
    if belief.ndim != 2 or len(belief) != len(given) or len(present) < 2 or present[-1] >= belief.shape[1]:
        raise InputError(
            f"{len(given)} labels of {len(present)} classes, probabilities {belief.shape}",
            "one row a label, one column a class, two classes or more",
        )
    share = belief[:, present]
    total = share.sum(axis=1, keepdims=True)
    share = np.where(total > 0, share / np.where(total > 0, total, 1), 1 / len(present))
    with undisturbed():
        from cleanlab.filter import find_label_issues

        flagged = find_label_issues(code, share, n_jobs=1)
    return np.asarray(flagged, bool), belief[np.arange(len(given)), given]
