"""The intact split as a scikit-learn cross-validator. The only file of this folder that imports scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from ..errors import InputError
from ..model import Note, SplitPlan
from .folds import folds


class IntactGroupKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of whole groups, class-stratified; takes the place of StratifiedGroupKFold.

    Every class is in every fold where it has as many groups as there are folds and an assignment exists; where it is
    not, a UserWarning names the class and the reason. There is no shuffle: another random_state is another assignment.

    Args:
        n_splits: number of folds, 2 or more.
        random_state: int, RandomState or None (numpy's global state is then drawn from, as scikit-learn does).
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    # scikit-learn routes `groups` to a splitter that says so.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Number of folds."""
        return self.n_splits

    def plan(self, y: Any, groups: Any) -> SplitPlan:
        """The folds as one SplitPlan with its notes.

        Raises:
            InputError: y or groups missing.
            InfeasibleError: no whole-group folds exist.
        """
        if y is None or groups is None:
            raise InputError(f"{'y' if y is None else 'groups'} is None", "labels and groups, one a sample")
        label, group = np.asarray(y), np.asarray(groups)
        if label.ndim == 1:
            names, label = np.unique(label, return_inverse=True)
        else:
            names = np.arange(label.shape[1])
        code = np.unique(group, return_inverse=True)[1]
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            seed = check_random_state(seed).randint(2**31 - 1)
        return folds(label, code, self.n_splits, seed=int(seed), names=[str(n) for n in names])[0]

    def split(
        self,
        X: Any,  # noqa: ARG002
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """(train rows, test rows) of each fold; X gives nothing but its length."""
        plan = self.plan(y, groups)
        absent: list[Note] = [n for n in plan.notes if n.topic == "class absent"]
        for note in absent:
            warnings.warn(note.text, UserWarning, stacklevel=2)
        for fold in range(self.n_splits):
            inside = plan.partition == f"fold{fold}"
            yield np.flatnonzero(~inside), np.flatnonzero(inside)
