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
