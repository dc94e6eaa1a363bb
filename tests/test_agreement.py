"""Agreement of two groupings: pairs counted by hand, B-cubed by its definition, ARI against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.agreement import agreement, disagreeing
from fiftyone_hsd.errors import InputError


def test_pairs_by_hand():
    # found {0,1,2} {3}, true {0,1} {2,3}: 3 found pairs, 2 true pairs, 1 in both
    result = agreement([7, 7, 7, 2], [0, 0, 1, 1])
    assert result.precision == pytest.approx(1 / 3)
    assert result.recall == pytest.approx(1 / 2)
    assert result.f1 == pytest.approx(0.4)
    assert result.n == 4


def test_b_cubed_by_its_definition():
    rng = np.random.default_rng(0)
    found, true = rng.integers(0, 6, 60), rng.integers(0, 4, 60)
    same_found, same_true = found[:, None] == found, true[:, None] == true
    both = (same_found & same_true).sum(1)
    result = agreement(found, true)
    assert result.b_cubed_precision == pytest.approx((both / same_found.sum(1)).mean())
    assert result.b_cubed_recall == pytest.approx((both / same_true.sum(1)).mean())


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_rand_is_that_of_scikit_learn(seed):
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(seed)
    found, true = rng.integers(0, 9, 200), rng.integers(0, 5, 200)
    assert agreement(found, true).adjusted_rand == pytest.approx(adjusted_rand_score(true, found))


def test_unknown_is_a_group_of_its_own():
    assert agreement([-1, -1, 3, 3], [0, 1, 2, 2]).f1 == 1
    assert agreement([-1, -1, -1], [0, 0, 0]).recall == 0


def test_equal_groupings_agree_whatever_their_numbers():
    result = agreement([5, 5, 0, 9], [1, 1, 2, 0])
    assert (result.f1, result.b_cubed_f1, result.adjusted_rand) == (1, 1, 1)


def test_without_pairs_precision_and_recall_are_one():
    result = agreement([0, 1, 2], [0, 1, 2])
    assert (result.precision, result.recall, result.adjusted_rand) == (1, 1, 1)
    assert agreement([], []).n == 0


def test_inputs_stay_as_they_are_and_must_fit():
    found = np.array([-1, 0, 0])
    agreement(found, [0, 1, 1])
    assert found.tolist() == [-1, 0, 0]
    with pytest.raises(InputError):
        agreement([0], [0, 1])


def test_pairs_that_disagree_are_named_one_a_group():
    true = np.array([0, 0, 0, 1, 1, 2, -1])
    found = np.array([5, 5, 7, 7, 8, 9, 9])
    assert disagreeing(true, found) == [(0, 2), (3, 4)]
    assert disagreeing(found, true) == [(2, 3), (5, 6)]
    assert disagreeing(true, true) == []
    assert disagreeing(true, found, most=1) == [(0, 2)]
