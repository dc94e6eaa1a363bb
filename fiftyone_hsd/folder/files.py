"""The files of a corpus: which are images, and which names stand for the same file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..images import IMAGE_SUFFIXES, sniff
from ..model import Level, Note

EXAMPLES = 5


def walk(top: Path) -> tuple[list[str], list[Note], int]:
    """(relative paths in order, notes, number of files that are no images)."""
    found: list[str] = []
    others: list[str] = []
    unread: list[str] = []
    again: list[str] = []
    seen: set[str] = set()
    # Linked folders come after the real ones, so that a file keeps the name it really has.
    waiting = [str(top)]
    while waiting:
        start = waiting.pop(0)
        if os.path.realpath(start) in seen:  # its files are here already, or it is a loop
            again.append(_below(top, start))
            continue
        for folder, directories, files in os.walk(start, onerror=lambda e: unread.append(_below(top, e.filename))):
            seen.add(os.path.realpath(folder))
            inside = [d for d in sorted(directories) if not d.startswith(".")]
            links = [d for d in inside if os.path.islink(os.path.join(folder, d))]  # noqa: PTH114, PTH118
            waiting += [os.path.join(folder, d) for d in links]  # noqa: PTH118
            directories[:] = [d for d in inside if d not in links]
            for name in files:
                if not name.startswith("."):
                    full = os.path.join(folder, name)  # noqa: PTH118
                    claims = os.path.splitext(name)[1].lower() in IMAGE_SUFFIXES  # noqa: PTH122
                    (found if claims or sniff(full) else others).append(_below(top, full))
    found.sort()
    return found, _walk_notes(others, unread, again), len(others)


def _walk_notes(others: Sequence[str], unread: Sequence[str], again: Sequence[str]) -> list[Note]:
    kinds = Counter(PurePosixPath(o).suffix.lower() or "no suffix" for o in others)
    listed = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=lambda k: (-k[1], k[0]))[:EXAMPLES])
    texts: tuple[tuple[Level, str, str, Sequence[str]], ...] = (
        ("info", "not an image", f"files that are no images were left alone ({listed})", others),
        ("problem", "unreadable folder", "folders could not be opened: their images are missing here", unread),
        ("warning", "symlink copy", "linked folders that are in the corpus already were not followed", again),
    )
    return [
        Note(level, topic, text, len(what), tuple(sorted(what)[:EXAMPLES]))
        for level, topic, text, what in texts
        if what
    ]


def _below(top: Path, path: str) -> str:
    return PurePosixPath(os.path.relpath(path, top)).as_posix()


def copies_of(ids: Sequence[str], paths: Sequence[str]) -> list[tuple[str, int, int]]:
    """(kind, row to drop, row kept) of names for a file that is named already; a name that is no link is kept."""
    files: dict[object, list[int]] = {}
    for i, path in enumerate(paths):
        try:
            status = os.stat(path)  # noqa: PTH116 - of many files
        except (OSError, ValueError):
            files.setdefault(path, []).append(i)
            continue
        files.setdefault((status.st_dev, status.st_ino) if status.st_ino else path, []).append(i)
    dropped = []
    for rows in files.values():
        if len(rows) == 1:
            continue
        real = {i: os.path.realpath(paths[i]) for i in rows}
        kept = next((i for i in rows if not os.path.islink(paths[i])), rows[0])  # noqa: PTH114
        for i in rows:
            if i != kept:
                kind = (
                    "duplicate path"
                    if ids[i] == ids[kept]
                    else "symlink copy"
                    if real[i] == real[kept]
                    else "hard link"
                )
                dropped.append((kind, i, kept))
    return sorted(dropped, key=lambda d: d[1])


_COPY_TEXTS = {
    "duplicate path": "paths listed more than once: the first row was kept",
    "symlink copy": "links to another image of the corpus: only one name of the file was kept",
    "hard link": "hard links to another image of the corpus: only one name of the file was kept",
}


def copy_notes(
    copies: Sequence[tuple[str, int, int]], ids: Sequence[str], label: Sequence[str], split: Sequence[str]
) -> list[Note]:
    notes = []
    for kind, text in _COPY_TEXTS.items():
        mine = [(i, kept) for k, i, kept in copies if k == kind]
        if mine:
            shown = [ids[i] if kind == "duplicate path" else f"{ids[i]} -> {ids[kept]}" for i, kept in mine]
            notes.append(Note("warning", kind, text, len(mine), tuple(shown[:EXAMPLES])))
    # The one file is then on both sides, or has two answers: dropping a name must not hide that.
    for what, values in (("split", split), ("class", label)):
        apart = [(i, kept) for _, i, kept in copies if values[i] != values[kept]]
        if apart:
            text = f"one and the same file stands in more than one {what}: the name that was kept decides"
            shown = [f"{ids[i]} ({values[i] or 'none'}), {ids[kept]} ({values[kept] or 'none'})" for i, kept in apart]
            notes.append(Note("problem", f"one file, two {what} values", text, len(apart), tuple(shown[:EXAMPLES])))
    return notes
