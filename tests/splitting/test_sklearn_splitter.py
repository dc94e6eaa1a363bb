"""The promise of a scikit-learn cross-validator, kept by whole groups."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, cross_val_score

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.splitting.sklearn_splitter import IntactGroupKFold


@pytest.fixture
def problem():
    groups = np.repeat([f"p{i}" for i in range(30)], 4)
    y = np.repeat(np.array(["a", "b", "c"])[np.arange(30) % 3], 4)
    return np.zeros((120, 1)), y, groups


def test_every_sample_is_tested_once_and_no_group_crosses(problem):
    x, y, groups = problem
    splits = list(IntactGroupKFold(5, random_state=0).split(x, y, groups))
    assert len(splits) == 5
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(120))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(120))
        assert not set(groups[train]) & set(groups[test])
        assert set(y[test]) == {"a", "b", "c"}


def test_it_goes_where_scikit_learn_takes_a_splitter(problem):
    x, y, groups = problem
    cv = IntactGroupKFold(3, random_state=1)
    assert cv.get_n_splits(x, y, groups) == 3
    assert len(cross_val_score(DummyClassifier(), x, y, groups=groups, cv=cv)) == 3
    grid = GridSearchCV(DummyClassifier(), {"strategy": ["prior", "uniform"]}, cv=cv)
    assert grid.fit(x, y, groups=groups).n_splits_ == 3
    assert "n_splits=3" in repr(cv)
    assert clone(DummyClassifier()) is not None


def test_the_seed_repeats_and_the_global_state_may_be_used(problem):
    x, y, groups = problem
    first, again = (list(IntactGroupKFold(3, random_state=4).split(x, y, groups)) for _ in range(2))
    other = list(IntactGroupKFold(3, random_state=5).split(x, y, groups))
    assert all((a[1] == b[1]).all() for a, b in zip(first, again, strict=True))
    assert any(len(a[1]) != len(b[1]) or (a[1] != b[1]).any() for a, b in zip(first, other, strict=True))
    assert len(list(IntactGroupKFold(3).split(x, y, groups))) == 3


def test_a_class_with_too_few_groups_is_named(problem):
    x, y, groups = problem
    y = np.where(groups == "p0", "rare", y)
    with pytest.warns(UserWarning, match="class rare is absent from .*it has 1 group for 5 partitions"):
        list(IntactGroupKFold(5, random_state=0).split(x, y, groups))


def test_groups_and_labels_are_needed(problem):
    x, y, _ = problem
    with pytest.raises(InputError, match="groups is None"):
        next(IntactGroupKFold().split(x, y))


@pytest.mark.parametrize("seed", range(6))
def test_never_worse_than_stratified_group_k_fold(seed):
    """Six of the problems of the benchmark, by the objective computed here."""
    rng = np.random.default_rng(seed)
    n_groups, n_classes = int(rng.integers(10, 30)), int(rng.integers(2, 4))
    sizes = np.maximum(1, np.round(rng.lognormal(3, 1.2, n_groups)).astype(int))
    groups, y = np.repeat(np.arange(n_groups), sizes), np.repeat(np.arange(n_groups) % n_classes, sizes)

    def objective(splits):
        total = np.bincount(y)
        return sum(np.abs(np.bincount(y[test], minlength=n_classes) - total / 3).dot(1 / total) for _, test in splits)

    peer = StratifiedGroupKFold(3, shuffle=True, random_state=seed).split(y, y, groups)
    assert objective(IntactGroupKFold(3, random_state=seed).split(y, y, groups)) <= objective(peer) + 1e-9
