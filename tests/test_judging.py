"""Verdicts join and part groups, estimates rest on random pairs only, and one author never overwrites another."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fiftyone_hsd.judging import judged, queue, regrouped, settled
from fiftyone_hsd.model import DIFFERENT, SAME, SKIPPED, Exposure, Grouping, Links, Verdict

IDS = tuple("abcdefgh")


def said(a, b, verdict, author="ann", time="2026-01-01T00:00:00+00:00"):
    return Verdict(a, b, verdict, author, time)


def groups(found):
    members = {}
    for name, code in zip(IDS, found.codes.tolist(), strict=True):
        members.setdefault(code, []).append(name)
    return sorted("".join(m) for m in members.values())


@pytest.fixture
def chained():
    """a-b-c-d with a weak middle, e-f certain, g and h alone; g-h was turned down."""
    links = Links(
        np.array([0, 1, 2, 4, 6]),
        np.array([1, 2, 3, 5, 7]),
        np.array(["pixels"] * 5),
        np.array([1.0, 0.6, 0.9, 1.0, 0.4]),
        np.array(["copies"] * 5),
        np.array([True, True, True, True, False]),
    )
    return Grouping(np.array([0, 0, 0, 0, 1, 1, 2, 3]), links)


def test_mates_are_joined_and_others_parted_at_the_weakest_link(chained):
    assert groups(regrouped(IDS, chained, [])) == ["abcd", "ef", "g", "h"]
    assert groups(regrouped(IDS, chained, [said("g", "h", SAME)])) == ["abcd", "ef", "gh"]
    assert groups(regrouped(IDS, chained, [said("d", "a", DIFFERENT)])) == ["ab", "cd", "ef", "g", "h"]
    assert groups(regrouped(IDS, chained, [said("e", "f", DIFFERENT)])) == ["abcd", "e", "f", "g", "h"]
    both = [said("a", "d", DIFFERENT), said("b", "g", SAME)]
    assert groups(regrouped(IDS, chained, both)) == ["abg", "cd", "ef", "h"]


def test_what_verdicts_join_is_not_parted_silently(chained):
    found = regrouped(IDS, chained, [said("g", "h", SAME), said("h", "e", SAME), said("g", "e", DIFFERENT)])
    assert any(n.topic == "review" and n.level == "problem" for n in found.notes)
    assert "efgh" in groups(found)


def test_skipped_and_disputed_pairs_change_nothing(chained):
    assert groups(regrouped(IDS, chained, [said("a", "b", SKIPPED)])) == groups(chained)
    torn = [said("g", "h", SAME), said("g", "h", DIFFERENT, "bob")]
    assert groups(regrouped(IDS, chained, torn)) == groups(chained)
    assert settled(torn) == {}
    changed = [*torn, said("h", "g", SAME, "bob", "2026-01-02T00:00:00+00:00")]
    assert settled(changed) == {("g", "h"): SAME}


def test_the_queue_asks_the_most_uncertain_first_and_mixes_in_the_rest(chained):
    exposure = Exposure(
        "existing",
        0,
        np.zeros(8, bool),
        np.zeros(8, int),
        np.array([-1] * 6 + [0, 1]),
        np.array([np.nan] * 6 + [0.8, 0.7]),
        np.array([False] * 6 + [True, True]),
    )
    pairs = queue(IDS, chained, exposure)
    assert len({(p.a, p.b) for p in pairs}) == len(pairs)
    uncertain = [p.a + p.b for p in pairs if p.kind == "uncertain"]
    assert uncertain == [p for p in ("bc", "gh", "cd") if p in uncertain]
    assert pairs[0].kind == "uncertain"
    kinds = Counter(p.kind for p in pairs)
    assert kinds["non-link"] == 2
    assert {p.a + p.b for p in pairs if p.kind == "non-link"} == {"ag", "bh"}
    assert queue(IDS, chained, exposure) == pairs
    assert queue(IDS, chained, None, seed=1) != pairs


def test_precision_is_estimated_from_random_links_only(chained):
    pairs = queue(IDS, chained, None)
    random = [p for p in pairs if p.kind == "link"]
    verdicts = [said(p.a, p.b, SAME) for p in random[1:]] + [said(random[0].a, random[0].b, DIFFERENT)]
    verdicts += [said(p.a, p.b, DIFFERENT) for p in pairs if p.kind == "uncertain"]
    found = judged(pairs, verdicts, "link")
    assert (found.k, found.n) == (len(random) - 1, len(random))
    assert found.low < found.k / found.n < found.high
    empty = judged(pairs, [], "link")
    assert empty.n == 0
    assert np.isnan(empty.low)


def test_the_interval_is_the_exact_one():
    pairs = queue(IDS, Grouping(np.zeros(8, int), Links.of([0] * 7, range(1, 8), "bytes")), None)
    found = judged(pairs, [said(p.a, p.b, SAME) for p in pairs if p.kind == "link"], "link")
    # All of 7: the lower end solves p ** 7 = 0.025.
    assert (found.k, found.n, found.high) == (7, 7, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 7))


def test_a_corpus_without_links_asks_about_missed_pairs_only():
    alone = Grouping(np.arange(8), Links.of([], [], ""))
    assert {p.kind for p in queue(IDS, alone, None)} == {"non-link"}
    assert groups(regrouped(IDS, alone, [])) == list("abcdefgh")
