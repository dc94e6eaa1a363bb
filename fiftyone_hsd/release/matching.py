"""A release and the images it speaks of: by name where names are known, by content anyway."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..folder import from_folder
from ..progress import Progress
from ..report.csv_files import as_written
from .aliasing import alias_of, read_key
from .files import digest_of
from .reading import Release, some

Finding = tuple[str, int, tuple[str, ...], str]
NAME, CONTENT = "every image is under its name with its bytes", "every image is there with its bytes"


def compare(
    read: Release | None, images: str | Path | None, key: str | Path | None, progress: Progress
) -> list[Finding]:
    """Digests of the images below a folder against content.csv."""
    if read is None:
        return [(CONTENT, 0, (), "the tables of the release cannot be read")]
    if images is None:
        return [(CONTENT, 0, (), "no images were given (--images ROOT)")]
    secret = read_key(Path(key)) if read.value["aliased"] and key is not None else None
    top = Path(images)
    relative = [as_written(os.fspath(p)) for p in _files(top)]
    digests = []
    for done, name in enumerate(relative):
        progress(done, len(relative), "digests of the images")
        digests.append(digest_of(top / os.fsdecode(name.encode("utf-8", "surrogateescape"))))
    written = dict(zip(read.paths, read.content.tolist(), strict=True))
    if read.value["aliased"] and secret is None:
        why = "the release is aliased: whether files were renamed shows only with --key"
        return [_by_content(written, relative, digests), (NAME, 0, (), why)]
    names = [alias_of(secret, p) if secret else p for p in relative]
    return [_by_name(read, written, dict(zip(names, digests, strict=True)), dict(zip(names, relative, strict=True)))]


def _files(top: Path) -> Sequence[str]:
    return from_folder(top).ids


def _by_content(written: dict[str, str], relative: Sequence[str], digests: Sequence[str]) -> Finding:
    left, have = Counter(digests), Counter(digests)
    differs = []
    for path, digest in written.items():
        if left[digest] > 0:
            left[digest] -= 1
        else:
            differs.append(f"no {'further ' if have[digest] else ''}file holds the bytes of {path} ({digest[:12]}...)")
    known = set(written.values())
    extra = [p for p, d in zip(relative, digests, strict=True) if d not in known]
    if differs:
        differs += [f"{p} holds bytes that the release does not know" for p in extra]
    return CONTENT, len(written), some(differs), ""


def _by_name(read: Release, written: dict[str, str], there: dict[str, str], shown: dict[str, str]) -> Finding:
    """Missing, changed and renamed files; a file the release calls unusable is no stranger."""
    failed = {p for p, why in zip(*(read.tables["samples.csv"][c] for c in ("path", "failure")), strict=True) if why}
    absent = [p for p in written if p not in there]
    strangers = {p: d for p, d in there.items() if p not in written and p not in failed}
    differs = []
    for path in sorted(absent):
        same = sorted(p for p, d in strangers.items() if d == written[path])
        differs.append(f"{path} was renamed to {shown[same[0]]}" if same else f"{path} is missing")
        if same:
            del strangers[same[0]]
    for path, digest in there.items():
        if path in written and digest != written[path]:
            differs.append(f"{shown[path]} was changed: SHA-256 {digest[:12]}..., audited as {written[path][:12]}...")
    if differs:  # a corpus listed in a table may leave files of its folder out
        differs += [f"{shown[p]} is not in the release" for p in sorted(strangers)]
    return NAME, len(written), some(differs), ""
