"""Evidence: byte-identical files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model import Links, Scan


def identical_bytes(scan: Scan) -> Links:
    """Links between files with the same SHA-256 of their bytes; unreadable files have none."""
    return identical(scan.content, "bytes", "byte-identical files")


def identical(digests: Sequence[str], source: str, rule: str) -> Links:
    """Links from every row to the first row with the same digest; an empty digest links nothing."""
    first: dict[str, int] = {}
    codes = np.array([first.setdefault(d, i) if d else -1 for i, d in enumerate(digests)], dtype=np.int64)
    return Links.from_codes(codes, source, rule)
