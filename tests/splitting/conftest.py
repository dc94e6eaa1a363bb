"""Corpora for the splitters: random ones, and the odd ones that the method names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

THREE = {"train": 0.7, "val": 0.15, "test": 0.15}


@dataclass(frozen=True, eq=False)
class Corpus:
    """Labels, groups and sources of n samples, and ids in another order than the rows."""

    labels: np.ndarray
    groups: np.ndarray
    source: np.ndarray
    ids: list[str]


def corpus(groups: np.ndarray, labels: np.ndarray, seed: int, sources: int = 3) -> Corpus:
    rng = np.random.default_rng([seed, 9])
    n = len(groups)
    order = rng.permutation(n)
    names = [f"s{i:05d}" for i in rng.permutation(n)]
    return Corpus(labels[order], groups[order] * 7 + 3, (groups % sources)[order], names)


def draw(seed: int) -> Corpus:
    """Up to 60 groups of lognormal size, up to 6 classes, pure or mixed."""
    rng = np.random.default_rng(seed)
    n_groups, n_classes = int(rng.integers(8, 60)), int(rng.integers(2, 7))
    sizes = np.maximum(1, np.round(rng.lognormal(1.2, 0.9, n_groups)).astype(int))
    share = rng.dirichlet(np.ones(n_classes))
    groups = np.repeat(np.arange(n_groups), sizes)
    # Every class has two groups or more, so that some split of whole groups exists.
    majority = np.r_[np.repeat(np.arange(n_classes), 2), rng.choice(n_classes, n_groups, p=share)][:n_groups]
    mixed = rng.random(len(groups)) < rng.choice([0.0, 0.3])
    return corpus(groups, np.where(mixed, rng.choice(n_classes, len(groups), p=share), majority[groups]), seed)


def _odd() -> dict[str, Corpus]:
    of = np.arange
    giant = np.r_[np.zeros(80, int), np.repeat(1 + of(30), 4)]
    rare = np.r_[np.repeat(of(30), 5), 30, 30, np.repeat(of(31, 33), 3), np.repeat(of(33, 36), 2)]
    rare_labels = np.r_[np.repeat(of(30) % 2, 5), 2, 2, np.full(6, 3), np.full(6, 4)]
    return {
        "giant group": corpus(giant, np.r_[of(80) % 2, np.repeat(of(30) % 2, 4)], 1),
        "singletons only": corpus(of(90), of(90) % 3, 2),
        "mixed-class groups": corpus(np.repeat(of(24), 6), np.tile(of(4), 36), 3),
        "rare classes of 1, 2, 3 groups": corpus(rare, rare_labels, 4),
        "one class": corpus(np.repeat(of(12), 5), np.zeros(60, int), 5),
        "one source a class": corpus(np.repeat(of(24), 5), np.repeat(of(24) % 3, 5), 6),
        "many sources": corpus(np.repeat(of(80), 4), np.repeat(of(80) % 2, 4), 7, sources=40),
    }


ODD = _odd()


@pytest.fixture
def draw_corpus() -> Callable[[int], Corpus]:
    return draw


@pytest.fixture(params=sorted(ODD))
def odd_corpus(request: pytest.FixtureRequest) -> Corpus:
    return ODD[request.param]


@pytest.fixture
def odd_corpora() -> dict[str, Corpus]:
    return ODD


@pytest.fixture
def three() -> dict[str, float]:
    return dict(THREE)
