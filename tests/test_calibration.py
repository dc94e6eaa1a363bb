"""Thresholds: expected false links against what really happens, and refusal where nothing separates."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.calibration import calibrate
from fiftyone_hsd.errors import InputError


def draw(seed, low=0.3, high=0.97):
    """(scores, truth, declared, made): 4000 strangers around `low`, 1000 of them declared, 400 copies around `high`."""
    rng = np.random.default_rng(seed)
    strangers = np.tanh(rng.normal(np.arctanh(low), 0.25, 4000))
    copies = np.tanh(rng.normal(np.arctanh(high), 0.25, 400))
    truth = np.r_[np.zeros(4000, bool), np.ones(400, bool)]
    declared = np.zeros(4400, bool)
    declared[:1000] = True
    return np.r_[strangers, copies], truth, declared, np.tanh(rng.normal(np.arctanh(high), 0.25, 200))


@pytest.mark.parametrize("known", ["declared", "presumed", "tail"])
def test_copies_are_found_and_strangers_are_not(known):
    false = expected = 0.0
    for seed in range(20):
        scores, truth, declared, made = draw(seed)
        how = {"declared": {"unrelated": declared}, "presumed": {"presumed": declared}, "tail": {}}[known]
        found = calibrate(scores, copies=made, **how)
        accepted = scores >= found.threshold
        assert accepted[truth].mean() > 0.85
        false += (accepted & ~truth & ~(declared & (known != "tail"))).sum()
        expected += found.expected_false
        assert found.null == known
    assert false <= 0.01 * 20 * 400
    assert expected <= 0.01 * 20 * 400 + 10


def test_a_declared_null_is_counted():
    scores = np.r_[np.full(100, 0.96), np.linspace(0, 0.9, 100)]
    unrelated = np.r_[np.zeros(100, bool), np.ones(100, bool)]
    found = calibrate(scores, copies=[0.5] * 40, unrelated=unrelated)
    # expected false links: at most 1 % of 100 accepted, so at most one of the 100 declared pairs may lie above
    assert (scores[unrelated] >= found.threshold).sum() <= 1
    assert found.null_pairs == 100
    assert found.accepted == 100
    assert calibrate(scores, copies=[0.5] * 40, presumed=unrelated).threshold == found.threshold
    assert found.low <= found.expected_false <= found.high


def test_no_separation_is_refused_in_words():
    rng = np.random.default_rng(0)
    scores = np.tanh(rng.normal(1.5, 0.4, 3000))  # one heap: resemblance without copies
    found = calibrate(scores, copies=np.tanh(rng.normal(1.6, 0.3, 200)))
    assert found.threshold == np.inf
    assert "refused" in found.words


def test_few_scores_say_that_nothing_can_be_told():
    found = calibrate([0.99, 0.98], copies=[0.97] * 40)
    assert found.null == "none"
    assert np.isnan(found.expected_false)
    assert found.accepted == 2
    assert "too few" in found.words


def test_pairs_without_resemblance_count_as_tested():
    scores = np.r_[np.full(50, 0.95), np.full(10_000, -1.0)]
    unrelated = np.r_[np.zeros(50, bool), np.arange(10_000) % 2 == 0]
    found = calibrate(scores, copies=[0.9] * 40, unrelated=unrelated)
    assert (found.null_pairs, found.tested, found.expected_false) == (5000, 5050, 0.0)
    assert found.high < 4  # 3.7 of 5000 is the exact upper bound of 0 events


def test_declarations_must_fit():
    with pytest.raises(InputError, match="declarations"):
        calibrate([0.5, 0.6], unrelated=[True])
