from __future__ import annotations

import pytest

from fiftyone_hsd.report.blocks import Cell, Estimate, Kind
from fiftyone_hsd.report.wording import cosine, duration, listed, many, part, percent, short, shown, written

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain ü 中 🧬", "plain ü 中 🧬"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\udcff", "\\xff"),
        ("\u202e\u200b", "\\u202e\\u200b"),
        ("\x00\x7f", "\\x00\\x7f"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_nothing_is_invisible(text: str, seen: str) -> None:
    assert shown(text) == seen
    shown(text).encode("utf-8")


def test_short_keeps_both_ends() -> None:
    assert short("x" * 40) == "x" * 40
    cut = short("folder/" + "x" * 60 + "_7.png", 20)
    assert len(cut) == 20
    assert cut.startswith("folder")
    assert cut.endswith("_7.png")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0 %"), (1.0, "100.0 %"), (1e-6, "< 0.1 %"), (0.99999, "> 99.9 %"), (0.1234, "12.3 %"), (NAN, "–")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        (1234567, "count", "1,234,567"),
        (0.12345, "score", "0.123"),
        (-0.12345, "change", "−0.123"),
        (0.5, "change", "+0.500"),
        (None, "count", "–"),
        (True, "flag", "yes"),
        (12345.6, "number", "12,346"),
        (7.6312, "number", "7.63"),
        (Estimate(0.5, 0.4, 0.6), "score", "0.500 [0.400, 0.600]"),
        (Estimate(0.5, NAN, NAN), "score", "0.500"),
        (Estimate(NAN), "score", "not estimable"),
        (Estimate(0.5, 0.4, 0.6, kind="share"), "text", "50.0 % [40.0 %, 60.0 %]"),
        (3, "text", "3"),
    ],
)
def test_written(cell: Cell, kind: Kind, text: str) -> None:
    assert written(cell, kind) == text


def test_words() -> None:
    assert many(1, "class", "classes") == "1 class"
    assert many(2000, "image") == "2,000 images"
    assert part(1, 3) == "1 of 3 (33.3 %)"
    assert part(0, 0) == "0 of 0"
    assert listed([]) == "none"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh"), 3) == "a, b, c and 5 more"


def test_a_similarity_is_never_rounded_to_identity() -> None:
    assert cosine(0.98734) == "similarity 0.9873"
    assert cosine(0.99997) == "similarity > 0.9999"
    assert cosine(1.0) == "similarity 1.0000"


@pytest.mark.parametrize(("seconds", "words"), [(41.6, "42 s"), (185, "3 min 5 s"), (7800, "2 h 10 min")])
def test_times_are_written_for_people(seconds: float, words: str) -> None:
    assert duration(seconds) == words
