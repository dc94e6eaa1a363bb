"""The same value links; an empty value says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.errors import FieldError
from fiftyone_hsd.grouping.metadata import levels, metadata


def test_links_are_a_star_per_value():
    links = metadata(["b", "a", "", "b", "", "b", "a"], "column p")
    assert sorted(zip(links.a.tolist(), links.b.tolist(), strict=True)) == [(0, 3), (0, 5), (1, 6)]
    assert set(links.source) == {"given"}
    assert set(links.rule) == {"column p"}
    assert links.accepted.all()


def test_nothing_in_common_gives_no_links():
    assert len(metadata(["a", "b", ""], "column p")) == 0
    assert len(metadata([], "column p")) == 0


def test_the_group_is_the_coarsest_level_that_is_no_source():
    site, patient = ["A", "A", "B", "B"], ["p1", "p1", "p2", "p3"]
    given = levels({"site": site, "patient": patient, "slide": ["s1", "s2", "s3", "s4"]})
    assert given.names[given.group] == "patient"
    assert given.values[given.group].tolist() == patient
    assert given.notes == ()
    assert given.rule == "column patient (of site > patient > slide)"
    assert levels({"site": site}).group == 0


def test_a_count_that_starts_again_is_read_inside_the_level_above():
    patient = np.repeat(["p1", "p2", "p3"], 2)
    given = levels({"patient": patient, "slide": ["1", "2"] * 3})
    assert len(set(given.values[1].tolist())) == 6
    assert [n.level for n in given.notes] == ["info"]


def test_levels_that_are_not_nested_are_reported_with_examples():
    patient = [f"p{k // 4}" for k in range(80)]
    slide = [f"s{k // 2}" for k in range(80)]
    slide[40] = "s1"
    (note,) = levels({"patient": patient, "slide": slide}).notes
    assert (note.level, note.count) == ("problem", 1)
    assert note.examples == ("slide s1 in patient p0, p10",)


def test_no_column_is_an_error():
    with pytest.raises(FieldError):
        levels({})
