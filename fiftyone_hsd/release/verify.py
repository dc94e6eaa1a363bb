"""`verify`: every invariant and digest of a release, derived again from its own files and from the images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import PathError
from ..progress import Progress, guarded
from . import invariants, matching
from .reading import Finding, Release, read_release

__all__ = ["Check", "Verification", "verify"]


@dataclass(frozen=True)
class Check:
    """One promise of a release.

    Attributes:
        name: what was checked.
        compared: how many things (files, samples, plans) were compared; 0 = nothing to compare.
        differs: what differs, in words; empty = it holds.
        left_out: why it could not be checked ("" = it was).
    """

    name: str
    compared: int
    differs: tuple[str, ...] = ()
    left_out: str = ""


@dataclass(frozen=True)
class Verification:
    """All checks of a release."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs; checks that were left out do not count."""
        return not any(c.differs for c in self.checks)


def verify(
    release: str | Path,
    *,
    images: str | Path | None = None,
    key: str | Path | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check a release against itself, and against the images.

    Args:
        release: the folder that `export` wrote.
        images: the corpus; its files are compared by content, and by name where the release shows names or `key` is
            given.
        key: alias_key.json of the audit folder, which leads from paths to aliases.
        progress: `progress(done, total, label)`.

    Raises:
        PathError: the folder holds no release, or `images` is no folder.
        StoreError: `key` is no key.
    """
    folder, tell = Path(release), guarded(progress)
    if images is not None and not Path(images).is_dir():
        raise PathError(f"{images} is no folder", "the folder of the images")
    tell(0, 0, "digests of the files")
    read, found = read_release(folder)
    checks = [Check(*c) for c in found]
    tell(0, 0, "invariants")
    checks += [Check(*c) for c in _invariants(read)]
    checks += [Check(*c) for c in matching.compare(read, images, key, tell)]
    return Verification(tuple(checks))


def _invariants(read: Release | None) -> Sequence[Finding]:
    if read is None:
        return [("the tables can be read", 0, ("tables are missing or damaged: nothing could be derived from them",))]
    return invariants.derive(read)
