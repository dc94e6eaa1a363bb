"""What a good assignment of groups to partitions is, as one number to make small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..model import SENTINEL, TEST, TRAIN, Floats, Ints
from .table import Table

SECOND = 0.05
"""Weight of size and source balance beside the class balance, while both are searched (our choice)."""
TIE = 1e-4
"""Weight of the size of partitions: it decides between assignments of equal class shares (our choice)."""
PENALTY = 10.0
"""Cost of a class that is absent from a partition; above any gain in shares."""
IMPORTANCE = {TRAIN: 4.0, TEST: 2.0, SENTINEL: 0.5}
"""Where a class with fewer groups than partitions goes first; every other partition has 1 (our choice)."""
TEST_GROUPS = 5
"""Groups of each class that test should hold, where the share of test allows it (method, section 3)."""


@dataclass(frozen=True, eq=False)
class Aim:
    """The cost of an assignment: sum |amounts - target| + penalties for groups that are missing.

    Attributes:
        x: float64 (G, F), weighted amounts: share of each class, share of all samples, then the second stratifiers.
        target: float64 (S, F), what each partition should hold.
        has: int64 (G, H), groups counted for the minimum numbers: class presence, class count, any.
        need: int64 (S, H), minimum numbers of groups.
        fine: float64 (S, H), cost of missing all of `need`.
        unit: float64 (C,), one file of each class, 1 / N_c; the C leading columns of x are counts / N_c.
    """

    x: Floats
    target: Floats
    has: Ints
    need: Ints
    fine: Floats
    unit: Floats

    @property
    def classes(self) -> int:
        """C."""
        return len(self.unit)

    @property
    def partitions(self) -> int:
        """S."""
        return len(self.target)

    def excess(self, codes: Ints) -> Floats:
        """(S, F), amounts of each partition less the target."""
        result = -self.target
        np.add.at(result, codes, self.x)
        return result

    def held(self, codes: Ints) -> Ints:
        """(S, H), groups in each partition."""
        result = np.zeros(self.need.shape, np.int64)
        np.add.at(result, codes, self.has)
        return result

    def missing(self, held: Ints) -> Floats:
        """(S, H) or as `held`, cost of the groups that are missing."""
        return np.asarray(self.fine * np.maximum(0, self.need - held) / np.maximum(1, self.need))

    def cost(self, codes: Ints) -> float:
        """The number to make small."""
        return float(np.abs(self.excess(codes)).sum() + self.missing(self.held(codes)).sum())

    def objective(self, codes: Ints) -> float:
        """The class part alone: sum over partitions and classes of |n_sc - f_s N_c| / N_c."""
        return float(np.abs(self.excess(codes)[:, : self.classes]).sum())

    def restricted(self, rows: Ints, codes: Ints) -> Aim:
        """The aim of the groups at `rows` while all others stay where `codes` has them."""
        others = np.ones(len(codes), bool)
        others[rows] = False
        fixed, held = np.zeros_like(self.target), np.zeros_like(self.need)
        np.add.at(fixed, codes[others], self.x[others])
        np.add.at(held, codes[others], self.has[others])
        need = np.maximum(0, self.need - held)
        fine = self.fine * need / np.maximum(1, self.need)
        return Aim(self.x[rows], self.target - fixed, self.has[rows], need, fine, self.unit)

    def first_only(self) -> Aim:
        """The same aim without the second stratifiers: what is left of them decides between equals only."""
        return self._cut(self.classes + 1)

    def classes_only(self) -> Aim:
        """The same aim with the class shares and the minimum numbers alone."""
        return self._cut(self.classes)

    def _cut(self, columns: int) -> Aim:
        return Aim(self.x[:, :columns], self.target[:, :columns], self.has, self.need, self.fine, self.unit)


def aim_of(corpus: Table, wanted: Mapping[str, float], source: Ints | None = None) -> Aim:
    """The aim of an intact split (method, section 3, step 2).

    Args:
        corpus: the groups x classes table.
        wanted: partition -> share.
        source: int64 (n,), a second stratifier: each (class, source) is spread like the fractions too.
    """
    f = np.array(list(wanted.values()))
    shares = corpus.counts / corpus.counts.sum(axis=0)
    second = [size_strata(corpus)]
    if source is not None:
        second.append(source_strata(corpus, source))
    x = np.hstack(
        [
            shares,
            TIE * corpus.sizes[:, None] / corpus.sizes.sum(),
            *(SECOND / b.shape[1] * b / b.sum(axis=0) for b in second),
        ]
    )
    has = (corpus.counts > 0).astype(np.int64)
    importance = np.array([IMPORTANCE.get(name, 1.0) for name in wanted])
    every, count = np.ones((len(f), has.shape[1]), np.int64), np.zeros((len(f), has.shape[1]), np.int64)
    if TEST in wanted:
        s = list(wanted).index(TEST)
        count[s] = np.minimum(TEST_GROUPS, np.floor(f[s] * corpus.groups_of_class + 1e-9))
    fine = PENALTY * np.hstack([np.ones_like(every) * importance[:, None], np.ones_like(count)])
    return Aim(
        x,
        f[:, None] * x.sum(axis=0),
        np.hstack([has, has, np.ones((len(has), 1), np.int64)]),
        np.hstack([every, count, np.ones((len(f), 1), np.int64)]),
        # An empty partition costs more than any number of absent classes.
        np.hstack([fine, np.full((len(f), 1), fine.sum() + PENALTY)]),
        1 / corpus.counts.sum(axis=0),
    )


def size_strata(corpus: Table) -> Floats:
    """(G, B), one column a size quartile of the groups of one majority class."""
    sizes = corpus.sizes
    quartile = np.searchsorted(np.quantile(sizes, [0.25, 0.5, 0.75]), sizes, side="left")
    stratum = np.unique(corpus.majority * 4 + quartile, return_inverse=True)[1]
    result = np.zeros((len(sizes), int(stratum.max()) + 1))
    result[np.arange(len(sizes)), stratum] = 1
    return result


def source_strata(corpus: Table, source: Ints) -> Floats:
    """(G, B), samples of each group in each (kind, source) that occurs."""
    code = np.unique(corpus.labels * (int(source.max()) + 1) + source, return_inverse=True)[1]
    result = np.zeros((len(corpus.sizes), int(code.max()) + 1))
    np.add.at(result, (corpus.groups, code), 1)
    return result
