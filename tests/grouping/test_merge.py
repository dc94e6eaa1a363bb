"""Union of all evidence: unknown stays unknown, copies join what was declared apart, and that is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.grouping.merge import joined_by_others, merge
from fiftyone_hsd.grouping.metadata import metadata
from fiftyone_hsd.model import Links


def test_unknown_only_if_every_source_abstained():
    declared = ["p1", "p1", "", "", "", "p2"]
    grouping = merge(6, [metadata(declared, "column p"), Links.of([2], [3], "bytes")], [v != "" for v in declared])
    assert grouping.codes.tolist() == [0, 0, 1, 1, -1, 2]
    assert grouping.with_unknown_as_singletons().codes.tolist() == [0, 0, 1, 1, 2, 3]


def test_rejected_links_do_not_join():
    candidate = Links([0], [1], ["similarity"], [0.4], ["looked at"], [False])
    assert merge(2, [candidate], [True, True]).codes.tolist() == [0, 1]


def test_copies_that_join_declared_groups_are_listed():
    declared = ["p1", "p2", "p3"]
    grouping = merge(3, [metadata(declared, "column p"), Links.of([0], [2], "bytes")], [True] * 3)
    assert joined_by_others(declared, grouping) == [(0, ["p1", "p3"])]


def test_rows_out_of_range():
    with pytest.raises(InputError, match="does not exist"):
        merge(2, [Links.of([0], [5], "bytes")], [True, True])


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40))
def test_components_match_a_plain_search(pairs):
    pairs = [(a, b) for a, b in pairs if a != b]
    grouping = merge(20, [Links.of([a for a, _ in pairs], [b for _, b in pairs], "x")], np.ones(20, bool))
    member = {i: {i} for i in range(20)}
    for a, b in pairs:
        union = member[a] | member[b]
        for i in union:
            member[i] = union
    for i in range(20):
        assert set(np.flatnonzero(grouping.codes == grouping.codes[i]).tolist()) == member[i]
    assert grouping.sizes.sum() == 20


def chain_links(n, score=0.9, source="similarity"):
    return Links.of(np.arange(n - 1), np.arange(1, n), source, "near copy", score)


def test_reviewers_split_a_chain_at_its_weakest_link():
    links = Links.of([0, 1, 2], [1, 2, 3], "similarity", ["a", "b", "c"], [0.9, 0.5, 0.8])
    grouping = merge(4, [links], np.ones(4, bool), apart=[(0, 3)])
    assert grouping.codes.tolist() == [0, 0, 1, 1]
    assert grouping.links.accepted.tolist() == [True, False, True]
    assert "reviewers hold" in grouping.links.rule[1]


def test_reviewers_beat_bytes_and_given_but_not_themselves():
    parts = [Links.of([0], [1], "bytes"), Links.of([1], [2], "reviewer")]
    assert merge(3, parts, np.ones(3, bool), apart=[(0, 1)]).codes.tolist() == [0, 1, 1]
    torn = merge(3, [Links.of([0, 1], [1, 2], "reviewer")], np.ones(3, bool), apart=[(0, 2)])
    assert len(np.unique(torn.codes)) == 2
    assert any("contradict" in n.text for n in torn.notes)


@given(
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=40),
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=6),
)
def test_pairs_held_apart_are_apart_and_no_link_is_lost_needlessly(pairs, apart):
    pairs = [(a, b) for a, b in pairs if a != b]
    apart = [(a, b) for a, b in apart if a != b]
    grouping = merge(15, [Links.of([a for a, _ in pairs], [b for _, b in pairs], "x")], np.ones(15, bool), apart=apart)
    codes = grouping.codes
    assert all(codes[a] != codes[b] for a, b in apart)
    kept = grouping.links
    for a, b in zip(kept.a[~kept.accepted], kept.b[~kept.accepted], strict=True):
        together = {int(codes[a]), int(codes[b])}
        assert any({int(codes[x]), int(codes[y])} == together for x, y in apart)


def test_a_giant_chain_is_cut_and_explained():
    n = 400
    score = np.full(n - 1, 0.95)
    score[[99, 199, 299]] = 0.7
    grouping = merge(n, [chain_links(n, score)], np.ones(n, bool))
    assert grouping.sizes.max() <= 100
    note = next(n for n in grouping.notes if n.topic == "giant group")
    assert note.level == "problem"
    assert sorted(np.flatnonzero(~grouping.links.accepted).tolist())[:1] == [99] or not grouping.links.accepted[99]


def test_a_large_group_that_is_given_is_left_alone():
    grouping = merge(400, [chain_links(400, 1.0, "given")], np.ones(400, bool))
    assert grouping.n_groups == 1
    assert grouping.notes == ()
