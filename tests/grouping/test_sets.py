"""Sets that grow by votes: a few agreeing pairs do not chain two groups."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.grouping._sets import outvoted

INSIDE = [(i, j) for base in (0, 4) for i in range(base, base + 4) for j in range(i + 1, base + 4)]
ACROSS = [(0, 4), (1, 5), (2, 6), (3, 7)]


def judged(*votes):
    a, b = np.array(INSIDE + ACROSS).T
    score = np.array([0.98] * len(INSIDE) + [0.97] * 4)
    return outvoted(8, a, b, score, np.array([1] * len(INSIDE) + list(votes)))[len(INSIDE) :].tolist()


def test_the_majority_between_two_groups_decides():
    assert judged(1, -1, -1, -1) == [True, False, False, False]
    assert judged(1, 1, -1, -1) == [False] * 4
    assert judged(1, 0, 0, 0) == [False] * 4
    assert judged(1, 1, 1, 1) == [False] * 4


def test_pairs_inside_a_group_are_never_held():
    a, b = np.array([0, 1, 0]), np.array([1, 2, 2])
    assert not outvoted(3, a, b, np.array([0.9, 0.9, 0.1]), np.array([1, 1, -1])).any()
