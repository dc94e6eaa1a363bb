"""The estimate of the matched swap against effects that were put in."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import SplitPlan
from fiftyone_hsd.splitting.matched import matched
from fiftyone_hsd.splitting.matched_effect import matched_effect, naive_difference

EFFECT = 0.15


def simulate(seed, n_groups=60, effect=EFFECT):
    """Groups of lognormal size; each has its own difficulty, and large groups are easier. Returns design and scores."""
    rng = np.random.default_rng([seed, 77])
    size = np.maximum(1, np.round(rng.lognormal(2, 0.6, n_groups)).astype(int))
    groups = np.repeat(np.arange(n_groups), size)
    ease = np.clip(0.45 + 0.06 * np.log(size) + rng.normal(0, 0.1, n_groups), 0.05, 0.8)
    design = matched(groups % 3, groups, seed=seed, share=0.8, tolerance=0.4)
    scores = []
    for plan in design.plans:
        own = np.isin(groups, groups[plan.partition == "train"])
        scores.append((rng.random(len(groups)) < np.clip(ease[groups] + effect * own, 0, 1)).astype(float))
    return design, scores, groups, ease, rng


def test_the_interval_covers_the_truth():
    """A short form of the benchmark: nominal 95 %, 120 repeats."""
    found = [matched_effect(d, *s) for d, s, *_ in (simulate(seed) for seed in range(120))]
    assert sum(f.low <= EFFECT <= f.high for f in found) >= 108
    assert np.mean([f.estimate for f in found]) == pytest.approx(EFFECT, abs=0.01)


def test_without_an_effect_there_is_none():
    found = [matched_effect(d, *s) for d, s, *_ in (simulate(seed, effect=0.0) for seed in range(60))]
    assert np.mean([f.estimate for f in found]) == pytest.approx(0, abs=0.015)
    assert sum(f.low > 0 or f.high < 0 for f in found) <= 8


def test_the_naive_difference_is_biased_where_large_groups_are_easier():
    differences = []
    for seed in range(30):
        *_, groups, ease, rng = simulate(seed)
        partition = np.where(rng.random(len(groups)) < 0.7, "train", "test")
        plan = SplitPlan.of("random", seed, partition)
        result = exposure(plan, groups)
        score = (rng.random(len(groups)) < ease[groups] + EFFECT * result.exposed).astype(float)
        naive = naive_difference(plan, result, groups, groups % 3, score)
        assert naive.exposed + naive.unexposed == (partition == "test").sum()
        if naive.unexposed:
            assert 0 <= naive.singletons <= 1
            differences.append(naive.difference)
    assert np.mean(differences) > EFFECT + 0.03


def test_by_hand():
    design = matched(np.zeros(12, int), np.repeat(np.arange(3), 4), seed=0, share=0.7)
    test = design.plans[0].partition == "test"
    first = np.where(design.own_first, 1.0, 0.25)
    second = np.where(design.own_first, 0.5, 0.75)
    found = matched_effect(design, first, second)
    # Exposed: 1 (own first) and .75; unexposed: .5 and .25. Half the files each way.
    assert found.estimate == pytest.approx((1 + 0.75) / 2 - (0.5 + 0.25) / 2)
    assert (found.pairs, found.files) == (1, int(test.sum()))
    assert np.isnan(found.low)


def test_scores_must_fit():
    design, scores, *_ = simulate(0)
    with pytest.raises(InputError):
        matched_effect(design, scores[0][:-1], scores[1])
    with pytest.raises(InputError):
        matched_effect(design, np.full_like(scores[0], np.nan), scores[1])


def test_pairs_that_all_say_the_same_still_leave_a_doubt():
    """Three pairs of three: what 1 - .05^(1/3) = 63 % of all pairs would do is not known."""
    codes = np.repeat(np.arange(8), 4)
    design = matched(np.zeros(32, int), codes, seed=0, share=0.75)
    own = design.own_first.astype(float)
    found = matched_effect(design, own, 1 - own)
    assert (found.pairs, found.estimate) == (3, 1.0)
    assert (found.low, found.high) == (pytest.approx(1 - 2 * (1 - 0.05 ** (1 / 3))), 1.0)
    same = matched_effect(design, np.ones(32), np.ones(32))
    assert (same.low, same.high) == (pytest.approx(-(1 - 0.05 ** (1 / 3))), pytest.approx(1 - 0.05 ** (1 / 3)))
