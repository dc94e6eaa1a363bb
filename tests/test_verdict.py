"""The verdict never says more than the numbers hold, and says something true in every degenerate case."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import Effect, Exposure, Grouping, Links, Samples, SplitPlan
from fiftyone_hsd.verdict import verdict

CODES = np.repeat(np.arange(10), 2)
LABELS = np.repeat([0, 1], 10)


def corpus(labels: np.ndarray = LABELS) -> Samples:
    ids = tuple(f"{i:04d}" for i in range(len(labels)))
    classes = ("a", "b") if labels.max() >= 0 else ()
    return Samples(ids, ids, labels, classes, np.full(len(labels), ""), {}, "")


def grouped(codes: np.ndarray = CODES) -> Grouping:
    return Grouping(codes, Links.of([], [], ""))


def inflation(estimate: float, low: float, high: float, model: str = "linear_probe", at: str = "random") -> Effect:
    numbers = (estimate, low, high, float("nan"))
    return Effect("inflation", model, at, None, "test", "", "balanced_accuracy", *numbers, 100, "")


def plan(condition: str, test: object = None, name: str = "test") -> SplitPlan:
    part = np.where(np.isin(CODES, (0, 5)) if test is None else test, name, "train")
    return SplitPlan.of(condition, 0, part)


def say(
    effects: list[Effect],
    plans: list[SplitPlan] | None = None,
    samples: Samples | None = None,
    grouping: Grouping | None = None,
) -> str:
    known = grouped() if grouping is None else grouping
    there = [plan("intact"), plan("random")] if plans is None else plans
    exposures: list[Exposure] = [exposure(p, known) for p in there]
    return verdict(corpus() if samples is None else samples, known, there, exposures, effects)


def test_an_interval_above_zero_is_a_claim() -> None:
    text = say([inflation(0.3, 0.1, 0.5)])
    assert "20 of 20 images share a group with another (10 groups of two or more)" in text
    assert "+0.300 (95 % interval +0.100 to +0.500): a random split of these images inflates the score" in text


@pytest.mark.parametrize(
    "numbers", [(0.3, -0.01, 0.6), (0.3, 0.0, 0.6), (0.3, np.nan, np.nan), (np.nan,) * 3, (-0.2, -0.4, -0.1)]
)
def test_anything_else_is_not(numbers: tuple[float, float, float]) -> None:
    text = say([inflation(*numbers)])
    assert "inflates" not in text
    assert re.search(r"no inflation can be claimed|scores lower here, no inflation", text)


def test_the_first_model_speaks_and_a_dissenter_is_named() -> None:
    first, second = inflation(0.3, 0.1, 0.5, "nearest_neighbour"), inflation(0.02, -0.1, 0.1)
    text = say([first, second])
    assert "nearest neighbour changes by +0.300" in text
    assert "linear probe changes by +0.020 (95 % interval -0.100 to +0.100), which does not support it" in text
    swapped = say([second, first])
    assert "no inflation can be claimed; nearest neighbour changes by" in swapped
    assert "support" not in swapped


def test_the_plain_shuffle_is_the_endpoint_where_it_had_to_be_drawn() -> None:
    text = say([inflation(0.01, -0.1, 0.1), inflation(0.4, 0.3, 0.5, at="shuffle")])
    assert "+0.400" in text


def test_no_labels() -> None:
    text = say([], [], corpus(np.full(20, -1)))
    assert text.endswith("Inflation was not evaluated: no labels.")


def test_no_intact_split() -> None:
    assert "No intact split of these groups exists" in say([], [])


def test_no_model() -> None:
    assert "no model was run" in say([])


def test_published_split_crosses() -> None:
    torn = np.zeros(20, bool)
    torn[[0, 2, 3]] = True
    text = say([], [plan("existing", torn), plan("intact")])
    assert "The published split crosses 1 group: 33.3% of its 3 test images have a mate in train." in text


def test_published_split_crosses_nothing() -> None:
    text = say([], [plan("existing", name="fold 2"), plan("intact")])
    assert "The published split (train, fold 2) crosses no known group." in text


def test_degenerate_groups_are_not_clean() -> None:
    alone = say([inflation(0.3, 0.1, 0.5)], grouping=grouped(np.arange(20)))
    assert alone.startswith("No dependence detectable: none of the 20 images")
    giant = say([], grouping=grouped(np.r_[np.zeros(15, int), np.arange(1, 6)]))
    assert giant.startswith("No dependence detectable: one group holds 15 of 20")
    same = say([], [plan("existing", np.arange(20) % 2 == 0)], grouping=grouped(LABELS))
    assert same.startswith("No dependence detectable: each class is one group")
    assert "100.0% of its 10 test images have a mate in train" in same
    for text in (alone, giant, same):
        assert "That is not a proof of independence." in text
        assert "inflates" not in text


def test_unknown_groups_are_singletons() -> None:
    assert say([], grouping=grouped(np.full(20, -1))).startswith("No dependence detectable: none of the 20")
