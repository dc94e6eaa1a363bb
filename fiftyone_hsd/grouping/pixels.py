"""Evidence: identical decoded pixels in different files."""

from __future__ import annotations

from ..model import Links, Scan
from .bytes import identical


def identical_pixels(scan: Scan) -> Links:
    """Links between images whose decoded pixels agree in shape, depth and value, whatever the container.

    Pairs that are already byte-identical are linked here too: each source states all it knows.
    """
    return identical(scan.pixels, "pixels", "identical decoded pixels")
