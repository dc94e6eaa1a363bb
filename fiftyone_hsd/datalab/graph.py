"""Our exact neighbour graph in the form that Datalab takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Descriptors
from ..similarity import neighbours

NEIGHBOURS = 10
"""What Datalab's own checks look for."""
NOISE = 1e-6
"""Cosine distances of float32 vectors below this are rounding: the vectors are the same."""
FARTHEST = 2.0


def knn_graph(descriptors: Descriptors, k: int = NEIGHBOURS) -> Any:
    """The k nearest neighbours of every sample by cosine distance, exactly.

    Distances that are rounding noise become explicit zeros. Datalab's near-duplicate radius is a share of the median
    nearest distance: where every image has a twin, that median is noise and, left as it is, no twin is found.

    Args:
        descriptors: n samples, two or more.
        k: neighbours of each, cut to n - 1.

    Returns:
        scipy.sparse.csr_matrix (n, n), float64, k explicit entries a row in rising order, none on the diagonal. A
        sample without a vector gets neighbours at the largest distance, 2.

    Raises:
        InputError: fewer than two samples, or k below 1.
    """
    from scipy.sparse import csr_matrix

    n = len(descriptors)
    if n < 2 or k < 1:
        raise InputError(f"{n} samples, k = {k}", "2 samples or more, k of 1 or more")
    k = min(k, n - 1)
    similarity, index = neighbours(descriptors.values, k)
    distance = np.clip(1 - similarity.astype(np.float64), 0, FARTHEST)
    distance[distance <= NOISE] = 0
    for row in np.flatnonzero((index < 0).any(axis=1)).tolist():
        there = index[row][index[row] >= 0]
        free = np.setdiff1d(np.arange(min(n, 2 * k + 2)), np.r_[there, row])[: k - len(there)]
        index[row] = np.r_[there, free]
        distance[row, len(there) :] = FARTHEST
    return csr_matrix((distance.ravel(), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
