"""Whole groups go to one annotator, and groups with several labels are found."""

from __future__ import annotations

from collections import Counter

import pytest

from fiftyone_hsd.dataset import annotator_views, disagreeing, group_attribute
from fiftyone_hsd.errors import FieldError, InputError

pytestmark = pytest.mark.mongod


@pytest.fixture
def grouped(blood, fo):
    """Groups of 10, 6, 5, 5, 3 and 1 images under odd names, the rest in none."""
    names = [n for n, k in (("$a", 10), ("b.c", 6), ("d", 5), ("e", 5), ("f", 3), ("g", 1)) for _ in range(k)]
    blood.add_sample_field("hsd_group", fo.StringField)
    blood.limit(len(names)).set_values("hsd_group", names)
    return blood, names


def test_no_group_is_shared_out(grouped):
    found, names = grouped
    views = annotator_views(found, ["ann", "bob"])
    parts = {who: view.values("hsd_group") for who, view in views.items()}
    assert sorted(g for part in parts.values() for g in part) == sorted(names)
    assert not set(parts["ann"]) & set(parts["bob"])
    assert {who: len(part) for who, part in parts.items()} == {"ann": 15, "bob": 15}
    assert group_attribute()["hsd_group"]["read_only"] is True


def test_groups_with_several_labels_are_listed(grouped):
    found, names = grouped
    labels = ["x"] * len(names)
    labels[0] = labels[1] = "y"
    labels[-2] = "z"
    found.limit(len(names)).set_values("ground_truth.label", labels)
    result = disagreeing(found, "ground_truth")
    assert [(d.group, d.labels) for d in result] == [("$a", {"x": 8, "y": 2}), ("f", {"x": 2, "z": 1})]
    found.limit(len(names)).set_values("ground_truth.label", ["x"] * len(names))
    assert disagreeing(found, "ground_truth") == []
    assert Counter(found.limit(3).values("hsd_group")) == {"$a": 3}


def test_what_cannot_be_asked(grouped, fo):
    found, _ = grouped
    with pytest.raises(InputError, match="each once"):
        annotator_views(found, ["ann", "ann"])
    with pytest.raises(FieldError, match="no field 'nothing'"):
        disagreeing(found, "nothing")
    empty = fo.Dataset()
    with pytest.raises(FieldError, match="hsd_group"):
        annotator_views(empty, ["ann"])
    empty.delete()
