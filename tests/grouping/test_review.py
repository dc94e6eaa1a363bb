"""Verdicts of reviewers as evidence."""

from __future__ import annotations

import pytest

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.grouping.review import read_verdicts, review, write_verdicts
from fiftyone_hsd.model import Verdict

IDS = ["a.png", "b.png", "c.png", "d\udc80\n,.png"]


def test_the_last_word_of_an_author_counts_and_skips_say_nothing():
    found = review(
        IDS,
        [
            Verdict("b.png", "a.png", "different", "ann", "2026-01-02T00:00:00+00:00"),
            Verdict("a.png", "b.png", "same", "ann", "2026-01-01T00:00:00+00:00"),
            Verdict("a.png", "b.png", "skipped", "bob", "2026-01-03T00:00:00+00:00"),
            Verdict(IDS[3], "c.png", "same", "bob", "2026-01-03T00:00:00+00:00"),
        ],
    )
    assert found.apart.tolist() == [[0, 1]]
    assert (found.links.a.tolist(), found.links.b.tolist()) == ([2], [3])
    assert found.links.rule[0] == "confirmed by bob on 2026-01-03T00:00:00+00:00"
    assert found.links.source[0] == "reviewer"
    assert found.notes == ()


def test_disagreement_is_listed_and_not_used():
    found = review(IDS, [Verdict("a.png", "b.png", v, who, "t") for v, who in (("same", "ann"), ("different", "bob"))])
    assert not len(found.links)
    assert not len(found.apart)
    assert found.notes[0].level == "problem"
    assert "ann: same" in found.notes[0].examples[0]


def test_verdicts_on_absent_samples_are_said():
    found = review(IDS, [Verdict("a.png", "z.png", "same", "ann", "t")])
    assert not len(found.links)
    assert found.notes[0].count == 1


def test_files_come_back_as_written(tmp_path):
    verdicts = [Verdict("a.png", IDS[3], "same", 'Ann "x", y', "t"), Verdict("b.png", "c.png", "skipped", "", "u")]
    write_verdicts(tmp_path / "v.csv", verdicts)
    assert read_verdicts(tmp_path / "v.csv") == verdicts


def test_a_wrong_file_is_refused(tmp_path):
    (tmp_path / "v.csv").write_text("path_a,path_b,verdict\na,b,same\n")
    with pytest.raises(InputError, match="author, time"):
        read_verdicts(tmp_path / "v.csv")
    (tmp_path / "v.csv").write_text("path_a,path_b,verdict,author,time\na,b,maybe,x,t\n")
    with pytest.raises(InputError, match="maybe"):
        read_verdicts(tmp_path / "v.csv")
