"""A user's expression names the group, and cannot hang."""

from __future__ import annotations

import pytest

from fiftyone_hsd.errors import PatternError
from fiftyone_hsd.grouping._user_pattern import pattern_groups

NAMES = ["train/p1_s1_a.png", "test/p1_s2_b.png", "test/p12_s1.png", "other.png"]


def test_named_groups():
    assert pattern_groups(NAMES, r"(?P<group>p\d+)_").tolist() == ["p1", "p1", "p12", ""]
    assert pattern_groups(NAMES, r"(?P<patient>p\d+)_(?P<slide>s\d)").tolist() == ["p1/s1", "p1/s2", "p12/s1", ""]


@pytest.mark.parametrize(("text", "words"), [("(", "does not compile"), (r"p\d+", "no named group")])
def test_wrong_patterns_are_explained(text, words):
    with pytest.raises(PatternError, match=words):
        pattern_groups(NAMES, text)


@pytest.mark.parametrize("wrong", [5, ["x"], {"a": 1}])
def test_what_is_no_text_is_refused(wrong):
    with pytest.raises(PatternError, match="is no text"):
        pattern_groups(NAMES, wrong)


def test_a_catastrophic_pattern_is_stopped():
    with pytest.raises(PatternError, match=r"took more than 0\.2 s"):
        pattern_groups(["a" * 60 + "!"], r"(?P<group>(a|a|a)+)+$", seconds=0.2)
