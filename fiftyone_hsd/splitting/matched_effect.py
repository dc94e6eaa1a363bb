"""What a matched swap says, and the naive difference that it is to be read beside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import TEST, Bools, Exposure, Floats, Grouping, SplitPlan
from .matched import MatchedDesign

SAME = 1e-12


@dataclass(frozen=True)
class MatchedEffect:
    """The effect of own mates in train on the score of a test sample.

    Attributes:
        estimate: mean over pairs of the exposed less the unexposed score.
        low, high: t interval over pairs, at most [-1, 1] for scores in [0, 1]; nan for fewer than two pairs.
        pairs: number of pairs, the unit of randomisation.
        files: test samples.
    """

    estimate: float
    low: float
    high: float
    pairs: int
    files: int


@dataclass(frozen=True)
class NaiveDifference:
    """Exposed less unexposed test samples of one plan. Not an effect: the two sets are not exchangeable.

    Attributes:
        difference: nan if one set is empty.
        exposed, unexposed: test samples in each.
        singletons: share of the unexposed that have no mate anywhere.
        overlap: share of classes with samples in both sets.
    """

    difference: float
    exposed: int
    unexposed: int
    singletons: float
    overlap: float


def matched_effect(design: MatchedDesign, first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> MatchedEffect:
    """Estimate and interval from the scores of two models, one trained on each plan.

    Each pair counts once: its value is the mean over both runs of the exposed part's less the unexposed part's score.
    The pair is the unit of randomisation, so the interval is a t interval over pairs (our choice over the percentile
    bootstrap of pairs, which is too narrow for few of them). Where all pairs say the same a t interval has no width:
    then a share of pairs that this many would have missed in 95 % of cases (the rule of three) may say anything else
    that scores allow (our choice).

    Args:
        design: from `matched`.
        first, second: (n,) score of each sample (1 = right, 0 = wrong, or any number) by the model of plan 1 and 2;
            read at test samples only.
        level: of the interval.
    """
    values, files = pair_values(design, first, second)
    scores = np.r_[np.asarray(first, np.float64)[_tested(design)], np.asarray(second, np.float64)[_tested(design)]]
    # The largest difference of two scores: those of 0 and 1 span 1 whatever was seen.
    reach = max(1.0, float(scores.max()) - float(scores.min())) if len(scores) else 1.0
    n = len(values)
    low = high = float("nan")
    if n > 1:
        from scipy.stats import t

        mean, spread = float(values.mean()), float(values.std(ddof=1))
        half = float(t.ppf((1 + level) / 2, n - 1)) * spread / n**0.5
        low, high = mean - half, mean + half
        if spread <= SAME:
            missed = 1 - (1 - level) ** (1 / n)
            low, high = mean - missed * (mean + reach), mean + missed * (reach - mean)
        low, high = max(low, -reach), min(high, reach)
    return MatchedEffect(float(values.mean()), low, high, n, files)


def _tested(design: MatchedDesign) -> Bools:
    return np.asarray((design.plans[0].partition == TEST) & (design.pair >= 0), bool)


def pair_values(design: MatchedDesign, first: ArrayLike, second: ArrayLike) -> tuple[Floats, int]:
    """((P,) exposed less unexposed score of each pair, number of test samples)."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != design.pair.shape or b.shape != design.pair.shape:
        raise InputError(f"scores {a.shape} and {b.shape}", f"{design.pair.shape}, one a sample of the corpus")
    test = _tested(design)
    pair, own = design.pair[test], design.own_first[test]
    if not np.isfinite(np.r_[a[test], b[test]]).all():
        raise InputError("a test sample has no finite score", "a score for every test sample of both runs")
    exposed, unexposed = np.where(own, a[test], b[test]), np.where(own, b[test], a[test])
    # Both groups of a pair have the same number of test files, so a mean over files is a mean over both groups.
    number = np.bincount(pair, minlength=design.pairs)
    return (np.bincount(pair, exposed) - np.bincount(pair, unexposed)) / number, int(test.sum())


def naive_difference(
    plan: SplitPlan, result: Exposure, groups: Grouping | ArrayLike, labels: ArrayLike, score: ArrayLike
) -> NaiveDifference:
    """The exposed less the unexposed mean score of the test samples, with what forbids to read it as an effect.

    Args:
        plan, result: a split, usually `random`, and its exposure.
        groups, labels: (n,), group codes and classes.
        score: (n,), read at test samples only.
    """
    codes = groups.codes if isinstance(groups, Grouping) else np.asarray(groups, np.int64)
    label, value, test = np.asarray(labels), np.asarray(score, np.float64), plan.partition == TEST
    yes, no = test & result.exposed, test & ~result.exposed
    _, inverse, size = np.unique(codes, return_inverse=True, return_counts=True)
    single = (codes < 0) | (size[inverse.ravel()] == 1)
    both = set(label[yes].tolist()) & set(label[no].tolist())
    classes = set(label[test].tolist())
    nan = float("nan")
    return NaiveDifference(
        float(value[yes].mean() - value[no].mean()) if yes.any() and no.any() else nan,
        int(yes.sum()),
        int(no.sum()),
        float(single[no].mean()) if no.any() else nan,
        len(both) / len(classes) if classes else nan,
    )
