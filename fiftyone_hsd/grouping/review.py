"""Evidence: what reviewers said about pairs. It is stronger than any detector."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..model import DIFFERENT, SAME, SKIPPED, Ints, Links, Note, Verdict
from ..store import atomic

COLUMNS = ("path_a", "path_b", "verdict", "author", "time")


@dataclass(frozen=True, eq=False)
class Review:
    """Verdicts as the merge of sources takes them.

    Attributes:
        links: pairs that must be together (source `reviewer`).
        apart: int64 (k, 2), pairs that must not be together.
        notes: authors who disagree, verdicts about samples that are not here.
    """

    links: Links
    apart: Ints
    notes: tuple[Note, ...]


def review(ids: Sequence[str], verdicts: Iterable[Verdict]) -> Review:
    """What the verdicts say about these samples.

    The last verdict of each author on a pair counts; a skipped pair says nothing. Where authors disagree neither
    verdict is applied, and the pair is listed (our choice: a person has to settle it).
    """
    row = {name: i for i, name in enumerate(ids)}
    last: dict[tuple[str, str], dict[str, Verdict]] = {}
    for v in sorted(verdicts, key=lambda v: v.time):
        last.setdefault((v.path_a, v.path_b), {})[v.author] = v
    same: list[tuple[int, int, str]] = []
    apart: list[tuple[int, int]] = []
    torn: list[str] = []
    absent: list[str] = []
    for (a, b), by_author in last.items():
        said = {v.verdict for v in by_author.values()} - {SKIPPED}
        if not said:
            continue
        if a not in row or b not in row:
            absent.append(f"{a} | {b}")
        elif len(said) > 1:
            who = ", ".join(f"{v.author}: {v.verdict}" for v in by_author.values())
            torn.append(f"{a} | {b} ({who})")
        elif SAME in said:
            newest = max((v for v in by_author.values() if v.verdict == SAME), key=lambda v: v.time)
            same.append((row[a], row[b], f"confirmed by {newest.author} on {newest.time}"))
        elif DIFFERENT in said:
            apart.append((row[a], row[b]))
    notes = []
    if torn:
        text = "reviewers disagree about pairs; no verdict on them was used"
        notes.append(Note("problem", "review", text, len(torn), tuple(torn[:5])))
    if absent:
        text = "verdicts are about samples that are not here; they were kept and not used"
        notes.append(Note("warning", "review", text, len(absent), tuple(absent[:5])))
    links = Links.of([s[0] for s in same], [s[1] for s in same], "reviewer", [s[2] for s in same] or "")
    return Review(links, np.array(apart, np.int64).reshape(-1, 2), tuple(notes))


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a CSV file with the columns path_a,path_b,verdict,author,time.

    An empty time is now; others are kept in UTC, since the order of their text decides whose word is the last.

    Raises:
        InputError: a column is missing, or a row holds no verdict or a time that is none.
    """
    now = datetime.now(UTC).isoformat()
    with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        reader = csv.DictReader(file)
        lacking = [c for c in COLUMNS if c not in (reader.fieldnames or ())]
        if lacking:
            raise InputError(f"{path} has no column {', '.join(lacking)}", ",".join(COLUMNS))
        rows = [(f"{path}, line {reader.line_num}", [row[c] or "" for c in COLUMNS]) for row in reader]
    return [Verdict(a, b, said, who, _utc(when, at) if when.strip() else now) for at, (a, b, said, who, when) in rows]


def _utc(text: str, where: str) -> str:
    """A time as ISO 8601 in UTC; without a zone it is taken as UTC, a year or month alone as its first day."""
    written = text.strip()
    written += "0000-01-01"[len(written) :] if len(written) in (4, 7) else ""
    try:
        when = datetime.fromisoformat(written)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        allowed = "ISO 8601, such as 2026-11-30T17:34:00+00:00, or nothing for now"
        raise InputError(f"{where}: the time {text!r}", allowed) from None


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """All verdicts as a CSV file, whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([getattr(v, c) for c in COLUMNS] for v in verdicts)
    with atomic(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
