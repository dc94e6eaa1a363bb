"""A suspicion is called likely only where the model knows enough to tell a wrong label from a right one."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.label_beliefs import EXPECTED, Labelled, bound
from fiftyone_hsd.model import Grouping, Links, Samples


def beliefs(n, sure, right, seed=0):
    """Logarithms of beliefs in three classes, and the true classes; the model is right in a share `right`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    said = np.where(rng.random(n) < right, truth, (truth + rng.integers(1, 3, n)) % 3)
    p = np.full((n, 3), (1 - sure) / 2)
    p[np.arange(n), said] = sure
    p *= rng.uniform(0.9, 1.1, p.shape)
    return np.log(p), truth


def called(p, given):
    return p[np.arange(len(given)), given] <= bound(p, given)


def test_a_good_model_finds_the_wrong_labels():
    p, truth = beliefs(2000, 0.9, 1.0)
    given = truth.copy()
    wrong = np.random.default_rng(1).permutation(2000)[:80]
    given[wrong] = (given[wrong] + 1) % 3
    found = called(p, given)
    assert found[wrong].all()
    assert found.mean() <= 2 * EXPECTED


@pytest.mark.parametrize("right", [0.4, 0.6, 0.8])
def test_a_model_that_is_often_wrong_calls_nothing(right):
    p, truth = beliefs(2000, 0.9, right)
    assert not called(p, truth).any()


def test_never_more_than_twice_the_expected_share():
    for seed in range(20):
        p = np.random.default_rng(seed).normal(size=(300, 4))
        given = np.random.default_rng(seed + 100).integers(0, 4, 300)
        assert called(p, given).mean() <= 2 * EXPECTED


def test_the_share_is_that_of_the_definition():
    """By counting: the largest belief up to which half would be wrong."""
    p, truth = beliefs(400, 0.7, 0.97, seed=3)
    mine = p[np.arange(400), truth]
    others = np.concatenate([p[np.arange(400), (truth + k) % 3] for k in (1, 2)])
    good = [t for t in mine if EXPECTED * (others <= t).mean() / (mine <= t).mean() >= 0.5]
    assert bound(p, truth) == (max(good) if good else float("-inf"))


def test_cells_shares_and_copies():
    labels = np.array([0, 0, 1, -1, 1, 1], np.int32)
    links = Links.of([0, 4], [2, 5], "bytes")
    samples = Samples(tuple("abcdef"), tuple("abcdef"), labels, ("x", "y"), np.full(6, ""), {}, "/")
    corpus = Labelled.of(samples, Grouping([0, 0, 0, 0, 1, 1], links))
    assert corpus.cell.tolist() == [0, 0, 1, -1, 2, 2]
    assert corpus.share[[0, 2, 4]].tolist() == [2 / 3, 1 / 3, 1.0]
    assert corpus.torn.tolist() == [True, False, True, False, False, False]
    mean = corpus.mean(np.arange(6.0), np.array([0, 1, 2, 4]))
    assert mean[[0, 1, 2, 4, 5]].tolist() == [0.5, 0.5, 2, 4, 4]
    assert np.isnan(mean[3])
