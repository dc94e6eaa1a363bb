"""Small pictures as data URIs, under one budget for the whole page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from ..errors import ImageError
from ..images import read_image

SIDE = 144
"""Longest side in pixels; shown at half of it or a bit more, so that sharp screens have something to show."""
QUALITY = 80
BUDGET = 2_500_000
"""Bytes of all data URIs of a page together; with plotly.js and the tables the page stays below 8 MB."""


def thumbnails(paths: Iterable[str], budget: int = BUDGET) -> dict[str, str]:
    """Path -> JPEG data URI.

    Args:
        paths: in order of importance; each is read once.
        budget: bytes; a path whose picture does not fit any more is left out.

    Returns:
        "" for a file that cannot be read now; paths beyond the budget are missing.
    """
    different = list(dict.fromkeys(paths))
    found: dict[str, str] = {}
    with ThreadPoolExecutor() as pool:
        for path, uri in zip(different, pool.map(thumbnail, different), strict=True):
            budget -= len(uri)
            if budget >= 0:
                found[path] = uri
    return found


def thumbnail(path: str, side: int = SIDE) -> str:
    """One picture, at most `side` pixels long, as a JPEG data URI; "" if it cannot be read."""
    try:
        image = Image.fromarray(read_image(path))
    except (ImageError, OSError, ValueError):
        return ""
    width, height = image.size
    scale = side / max(width, height)
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return encoded(image)


def encoded(image: Image.Image) -> str:
    """One picture as it is, as a JPEG data URI."""
    data = io.BytesIO()
    image.save(data, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(data.getvalue()).decode("ascii")
