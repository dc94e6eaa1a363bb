"""The same value links; an empty value says nothing."""

from __future__ import annotations

from fiftyone_hsd.grouping.metadata import metadata


def test_links_are_a_star_per_value():
    links = metadata(["b", "a", "", "b", "", "b", "a"], "column p")
    assert sorted(zip(links.a.tolist(), links.b.tolist(), strict=True)) == [(0, 3), (0, 5), (1, 6)]
    assert set(links.source) == {"given"}
    assert set(links.rule) == {"column p"}
    assert links.accepted.all()


def test_nothing_in_common_gives_no_links():
    assert len(metadata(["a", "b", ""], "column p")) == 0
    assert len(metadata([], "column p")) == 0
