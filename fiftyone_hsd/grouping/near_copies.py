"""Evidence: near copies, images that show the same pixels after resizing, recompression, turning, mirroring, cropping.

Candidates are neighbours by local features, colours and a network where there is one; each is aligned and accepted only
if the pixels agree under the alignment. What looks alike but is no copy (two photographs of one place, one object seen
twice) is kept as a candidate that was turned down, for a reviewer to judge.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..calibration import Calibration, calibrate
from ..errors import StoreError
from ..images import read_image
from ..local_features import LocalFeatures, local_features, reduced
from ..model import Bools, Descriptors, Floats, Ints, Links, Note, Samples, Scan, sha256_json
from ..progress import Progress, guarded
from ..store import load, save
from ._copies import made_copies
from ._geometry import NOTHING, Alignment, Picture, align, picture
from ._retrieval import candidates
from ._sets import outvoted

NEAR = 8
"""Neighbours of each kind that are aligned with an image (our choice)."""
CHANCE = 0.01
"""Largest expected number of alignments by chance among all pairs of the corpus (our choice)."""
CHUNK = 4096
SOURCE = "similarity"


@dataclass(frozen=True, eq=False)
class AlignedPairs:
    """Candidate pairs as measured; thresholds are applied afterwards and can be moved without measuring again.

    Attributes:
        n: number of images.
        a, b: int64 (m,), rows with a < b.
        matches: int64 (m,), features that agree on one map.
        chance: float64 (m,), log10 of the expected number of such agreements by chance in one pair.
        overlap, agreement: float64 (m,), see `Alignment`.
        mirrored: bool (m,).
        copies: float64 (k,), agreement of copies made on purpose; -1 = not found by geometry.
    """

    n: int
    a: Ints
    b: Ints
    matches: Ints
    chance: Floats
    overlap: Floats
    agreement: Floats
    mirrored: Bools
    copies: Floats

    @property
    def certain(self) -> Bools:
        """bool (m,), pairs whose alignment is no accident: fewer than `CHANCE` such are expected among all pairs."""
        pairs = max(1.0, self.n * (self.n - 1) / 2)
        return np.asarray((self.matches > 0) & (self.chance + np.log10(pairs) <= np.log10(CHANCE)), bool)


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Links between near copies, how their threshold came about, and what was measured."""

    links: Links
    notes: tuple[Note, ...]
    calibration: Calibration
    pairs: AlignedPairs


def near_copies(
    samples: Samples,
    found: Scan,
    vectors: Sequence[Descriptors] = (),
    *,
    unrelated: Callable[[Ints, Ints], Bools] | None = None,
    threshold: float | None = None,
    only: Bools | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> NearCopies:
    """Find near copies.

    Args:
        samples: n usable images.
        found: their scan; equal content is not looked at twice.
        vectors: descriptors that propose more candidates.
        unrelated: `unrelated(a, b)`, bool (m,): pairs of rows that cannot be mates, by declaration (different known
            groups, or a split declared trustworthy). The threshold is calibrated on them, and none of them is linked.
        threshold: smallest agreement accepted, in place of the calibrated one.
        only: bool (n,), look only at pairs with one of these samples; None = at all.
        folder: where features and alignments are kept; a second call with the same files measures nothing again.
        progress: called now and then.

    Raises:
        StoreError: the folder cannot be written.
    """
    pairs = aligned_pairs(samples, found, vectors, only=only, folder=folder, progress=progress)
    return linked(samples, pairs, unrelated=unrelated, threshold=threshold)


def aligned_pairs(
    samples: Samples,
    found: Scan,
    vectors: Sequence[Descriptors] = (),
    *,
    only: Bools | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> AlignedPairs:
    """Candidate pairs of images, aligned. Of images with identical pixels only the first takes part."""
    tell = guarded(progress)
    first: dict[str, int] = {}
    for row, (content, pixels) in enumerate(zip(found.content, found.pixels, strict=True)):
        first.setdefault(pixels or content, row)
    rows = np.array([r for c, r in first.items() if c], np.int64)
    contents = [found.content[r] for r in rows]
    wanted = None if only is None else np.asarray(only, bool)[rows]
    asked = [2, contents, [v.name for v in vectors], None if wanted is None else np.flatnonzero(wanted).tolist()]
    kept = None if folder is None else folder / sha256_json(asked)[:32]
    whole = None if kept is None else kept / "pairs.npz"
    if whole is not None and whole.exists():
        with contextlib.suppress(StoreError):
            return _of_rows(load(whole, AlignedPairs), rows, len(samples))
    paths = [samples.paths[r] for r in rows]
    features = local_features(paths, contents, folder=None if folder is None else folder / "features", progress=tell)
    tell(0, 0, "candidate pairs")
    proposed = candidates(features, [v.values[rows] for v in vectors], NEAR)
    if wanted is not None:
        proposed = proposed[wanted[proposed].any(1)]
    images = _Images(paths)
    aligned = _all_aligned(features, proposed, images, kept, tell)
    tell(0, 0, "copies on purpose")
    copies = made_copies(features, images)
    pairs = AlignedPairs(
        n=len(rows),
        a=proposed[:, 0],
        b=proposed[:, 1],
        matches=np.array([x.matches for x in aligned], np.int64),
        chance=np.array([x.chance for x in aligned], np.float64),
        overlap=np.array([x.overlap for x in aligned], np.float64),
        agreement=np.array([x.agreement for x in aligned], np.float64),
        mirrored=np.array([x.mirrored for x in aligned], np.bool_),
        copies=copies,
    )
    if whole is not None:
        save(whole, pairs)
    return _of_rows(pairs, rows, len(samples))


def linked(
    samples: Samples,
    pairs: AlignedPairs,
    *,
    unrelated: Callable[[Ints, Ints], Bools] | None = None,
    threshold: float | None = None,
) -> NearCopies:
    """Links from measured pairs: the threshold is calibrated here, or given."""
    every = np.zeros(len(pairs.a), bool) if unrelated is None else unrelated(pairs.a, pairs.b)
    label = samples.labels
    other = (label[pairs.a] != label[pairs.b]) & (label[pairs.a] >= 0) & (label[pairs.b] >= 0)
    resemblance = np.where(pairs.certain, np.clip(pairs.agreement, 0, 1), -1.0)
    calibration = calibrate(resemblance, copies=pairs.copies, unrelated=every, presumed=other)
    seen = np.flatnonzero(pairs.certain)
    a, b, apart, score = pairs.a[seen], pairs.b[seen], every[seen], resemblance[seen]
    cut = calibration.threshold if threshold is None else threshold
    accepted = (score >= cut) & ~apart
    # No copy made on purpose agrees as little as this: such a pair speaks against being copies.
    made = pairs.copies[pairs.copies > 0]
    against = score < min(cut, float(made.min(initial=cut)))
    chained = outvoted(len(samples), a, b, score, np.where(accepted, 1, np.where(against, -1, 0)))
    accepted &= ~chained
    kinds = np.select([accepted, apart, chained], ["near copy", "declared unrelated", "outvoted"], "similar content")
    rules = [_rule(pairs, i, kind) for i, kind in zip(seen.tolist(), kinds.tolist(), strict=True)]
    m = len(seen)
    links = Links(a, b, np.full(m, SOURCE), score, np.array(rules, np.str_), accepted)
    return NearCopies(links, tuple(_notes(samples, links, apart, calibration, threshold)), calibration, pairs)


class _Images:
    """Pictures by row, the last few kept."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self.picture = lru_cache(1024)(self._read)

    def _read(self, row: int) -> Picture:
        return picture(reduced(self.colour(row)))

    def colour(self, row: int) -> Any:
        """uint8 (h, w, 3)."""
        return read_image(self._paths[row])


def _all_aligned(
    features: LocalFeatures, proposed: Ints, images: _Images, kept: Path | None, tell: Progress
) -> list[Alignment]:
    def one(pair: list[int]) -> Alignment:
        i, j = pair
        try:
            return align(features.of(i), features.of(j), lambda: (images.picture(i), images.picture(j)))
        except (OSError, ValueError, RuntimeError):  # a file that went away or a degenerate map is no copy
            return NOTHING

    done: list[Alignment] = []
    with ThreadPoolExecutor(thread_name_prefix="hsd-align") as pool:
        for start in range(0, len(proposed), CHUNK):
            tell(start, len(proposed), "aligning pairs")
            path = None if kept is None else kept / f"part-{start}.npz"
            if path is not None and path.exists():
                with contextlib.suppress(StoreError):
                    done += load(path, _Part).alignments
                    continue
            part = _Part(tuple(pool.map(one, proposed[start : start + CHUNK].tolist())))
            if path is not None:
                save(path, part)
            done += part.alignments
    tell(len(proposed), len(proposed), "aligning pairs")
    return done


@dataclass(frozen=True)
class _Part:
    alignments: tuple[Alignment, ...]


def _of_rows(pairs: AlignedPairs, rows: Ints, n: int) -> AlignedPairs:
    """The same pairs with rows of the whole corpus; `rows` rises, so the order within pairs stays."""
    a, b = rows[pairs.a], rows[pairs.b]
    measured = (pairs.matches, pairs.chance, pairs.overlap, pairs.agreement, pairs.mirrored, pairs.copies)
    return AlignedPairs(n, a, b, *measured)


def _rule(pairs: AlignedPairs, i: int, what: str) -> str:
    turned = ", mirrored" if pairs.mirrored[i] else ""
    return (
        f"{what}: {pairs.matches[i]} matching points, {pairs.overlap[i]:.0%} overlap, "
        f"agreement {pairs.agreement[i]:.3f}{turned}"
    )


def _notes(
    samples: Samples, links: Links, apart: Bools, calibration: Calibration, threshold: float | None
) -> list[Note]:
    words = calibration.words if threshold is None else f"threshold {threshold:g} as given ({calibration.words})"
    count = int(links.accepted.sum())
    notes = [Note("info", "near copies", f"near copies: {count} pairs; {words}", count, _examples(samples, links))]
    if apart.any():
        text = "near copies were calibrated on pairs declared unrelated; copies among those pairs cannot be found"
        notes.append(Note("warning", "near copies", text, int(apart.sum())))
    open_ = ~links.accepted & ~apart
    if open_.any():
        rows = np.flatnonzero(open_)
        rows = rows[np.argsort(-links.score[rows], kind="stable")][:5]
        text = (
            "pairs show the same content and are no copies of each other, or most pairs between their groups disagree "
            "(one place or object photographed twice, or one that repeats); they were not joined: judge them, most "
            "alike first"
        )
        notes.append(Note("warning", "similar content", text, int(open_.sum()), _examples(samples, links.take(rows))))
    return notes


def _examples(samples: Samples, links: Links) -> tuple[str, ...]:
    few = (
        links.take(np.flatnonzero(links.accepted)[:5])
        if links.accepted.any()
        else links.take(np.arange(min(5, len(links))))
    )
    return tuple(f"{samples.ids[i]} | {samples.ids[j]}" for i, j in zip(few.a, few.b, strict=True))
