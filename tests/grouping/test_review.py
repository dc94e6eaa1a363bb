"""Verdicts of reviewers as evidence."""

from __future__ import annotations

from datetime import UTC, datetime

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
    verdicts = [
        Verdict("a.png", IDS[3], "same", 'Ann "x", y', "2026-01-01T00:00:00+00:00"),
        Verdict("b.png", "c.png", "skipped", "", "2026-01-01T00:00:00.123456+00:00"),
    ]
    write_verdicts(tmp_path / "v.csv", verdicts)
    assert read_verdicts(tmp_path / "v.csv") == verdicts


def test_a_wrong_file_is_refused(tmp_path):
    (tmp_path / "v.csv").write_text("path_a,path_b,verdict\na,b,same\n")
    with pytest.raises(InputError, match="author, time"):
        read_verdicts(tmp_path / "v.csv")
    (tmp_path / "v.csv").write_text("path_a,path_b,verdict,author,time\na,b,maybe,x,2026-01-01\n")
    with pytest.raises(InputError, match="maybe"):
        read_verdicts(tmp_path / "v.csv")


def test_times_are_kept_in_utc_an_empty_one_is_now_and_others_are_refused(tmp_path):
    file, head = tmp_path / "v.csv", "path_a,path_b,verdict,author,time\n"
    file.write_text(f"{head}a,b,same,x,2026-01-01T01:30+01:00\nc,d,same,x,2026-01-01\ne,f,same,x,2026\ng,h,same,x,\n")
    before = datetime.now(UTC).isoformat()
    times = [v.time for v in read_verdicts(file)]
    assert times[:3] == [f"2026-01-01T00:{minute}:00+00:00" for minute in ("30", "00", "00")]
    assert before <= times[3] <= datetime.now(UTC).isoformat()
    for wrong in ("30.11.2026 17:34", "yesterday", "0001-01-01T00:00+14:00"):
        file.write_text(f"{head}a,b,same,x,2026-01-01\nc,d,same,x,{wrong}\n")
        with pytest.raises(InputError, match=r"line 3: the time .*ISO 8601"):
            read_verdicts(file)
