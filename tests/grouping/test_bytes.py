"""Byte-identical files are linked; unreadable ones never are."""

from __future__ import annotations

from fiftyone_hsd.grouping.bytes import identical_bytes
from fiftyone_hsd.model import Scan


def found(content):
    n = len(content)
    return Scan(tuple(content), ("",) * n, ("",) * n, [1] * n, [1] * n)


def test_links_to_the_first_copy():
    links = identical_bytes(found(["x", "y", "x", "", "", "x"]))
    assert list(zip(links.a.tolist(), links.b.tolist(), strict=True)) == [(0, 2), (0, 5)]
    assert set(links.source) == {"bytes"}
    assert links.score.tolist() == [1, 1]


def test_distinct_files_have_no_link():
    assert len(identical_bytes(found(["x", "y", ""]))) == 0
