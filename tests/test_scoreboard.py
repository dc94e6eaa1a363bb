"""What is read out, and on how many groups it rests."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.metrics import score, totals
from fiftyone_hsd.model import Grouping, Links, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.scoreboard import readout, scoreboards


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["train", "test", "val", "val"], "test"),
        (["train", "val", "val", "fold"], "val"),
        (["train", "b", "a", "unused", "unused", "sentinel", "sentinel"], "a"),
        (["train", "unused"], ""),
    ],
)
def test_readout(names: list[str], read: str) -> None:
    assert readout(SplitPlan.of("existing", 0, np.array(names))) == read


def board(codes: np.ndarray) -> tuple[Samples, Grouping, list[SplitPlan], list[Run]]:
    labels = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    ids = tuple(f"{i}" for i in range(8))
    samples = Samples(ids, ids, labels, ("a", "b", "c"), np.full(8, ""), {}, "")
    parts = [["test", "test", "test", "train", "train", "train", "train", "val"]]
    parts.append(["train", "train", "train", "train", "test", "test", "val", "train"])
    plans = [SplitPlan.of("intact", s, np.array(p)) for s, p in enumerate(parts)]
    runs = []
    for p in plans:
        rows = np.flatnonzero(p.partition != "train")
        chances = np.eye(3, dtype=np.float32)[np.zeros(len(rows), int)]
        runs.append(Run(TrainConfig("m", p.seed), "intact", p.seed, rows, chances, {}, 0.0))
    return samples, Grouping(codes, Links.of([], [], "")), plans, runs


def test_seeds_are_added_up_before_the_metric() -> None:
    samples, grouping, plans, runs = board(np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    made = scoreboards(samples, grouping, plans, [exposure(p, grouping) for p in plans], runs, draws=9)[0]
    estimates, draws = made.values("intact", "accuracy", [0, 1])
    assert estimates.tolist() == pytest.approx([2 / 3, 1])
    cells = [made.read["intact", s] for s in (0, 1)]
    hits = sum(c.drawn.hits.sum(1) for c in cells)
    assert draws == pytest.approx(hits / sum(c.drawn.true.sum(1) for c in cells))
    assert float(score(totals(cells[0].predictions), "accuracy")) == estimates[0]


def test_support_and_seeds_of_a_class() -> None:
    samples, grouping, plans, runs = board(np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    made = scoreboards(samples, grouping, plans, [exposure(p, grouping) for p in plans], runs, draws=9)[0]
    assert made.testing(0, "intact") == [0, 1]
    assert made.testing(1, "intact") == [0]
    assert made.testing(2, "intact") == []
    assert made.held("intact", [0, 1], 0) == (2, 1)
    assert made.held("intact", [], 2) == (0, 0)
    assert made.support("intact", [0, 1]).held == pytest.approx((2, 1))
    assert made.support("intact", [0, 1], of_class=0).df == pytest.approx(1)


def test_unknown_groups_are_refused() -> None:
    samples, grouping, plans, runs = board(np.array([0, 0, 1, 1, 2, 2, -1, 3]))
    with pytest.raises(InputError, match="unknown"):
        scoreboards(samples, grouping, plans, [exposure(p, grouping) for p in plans], runs)
