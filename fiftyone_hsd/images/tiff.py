"""The first page of a TIFF file with the tags that pixels depend on, checked for completeness (TIFF 6.0, BigTIFF)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, ORIENTATION, SAMPLES = 256, 257, 258, 259, 262, 274, 277
PLANAR, PREDICTOR, TILE_WIDTH, TILE_HEIGHT, EXTRA, FORMAT = 284, 317, 322, 323, 338, 339
_PIECES = ((273, 279), (324, 325))
_ONE = frozenset((256, 257, 259, 262, 266, 274, 277, 278, 284, 292, 293, 317, 322, 323, 512, 513, 514, 515, 531))
_SEVERAL = frozenset((258, 273, 279, 320, 324, 325, 338, 339, 347, 519, 520, 521, 529, 530, 532, 50674))
# Bytes of a value by its type number.
_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
_INTEGERS = {1: "u1", 3: "u2", 4: "u4", 13: "u4", 16: "u8", 18: "u8"}
_HUGE = np.uint64(1 << 60)  # far beyond any file, and sums of two do not overflow
_LZW = 5


@dataclass(frozen=True)
class Page:
    """The directory of the first page.

    Attributes:
        order: byte order, "<" or ">".
        big: whether the file is a BigTIFF.
        start: offset of the directory.
        entries: tag -> its entry as stored.
        values: tag -> int64 values of the tags that hold integers.
    """

    order: str
    big: bool
    start: int
    entries: Mapping[int, bytes]
    values: Mapping[int, NDArray[np.int64]]

    def one(self, tag: int, default: int) -> int:
        """The first value of a tag."""
        return int(self.values[tag][0]) if tag in self.values else default

    @property
    def sides(self) -> tuple[int, ...]:
        """Height and width with the padding of tiles, and how many times four samples a pixel has, if more than one."""
        height = max(self.one(HEIGHT, 0), self.one(TILE_HEIGHT, 1))
        width = max(self.one(WIDTH, 0), self.one(TILE_WIDTH, 1))
        quads = -(-self.one(SAMPLES, 1) // 4)
        return (height, width, quads) if quads > 1 else (height, width)

    @property
    def orientation(self) -> int:
        """EXIF orientation, 1 to 8."""
        value = self.one(ORIENTATION, 1)
        return value if 1 <= value <= 8 else 1

    @property
    def inverted(self) -> bool:
        """Whether 0 is white."""
        return self.one(PHOTOMETRIC, 1) == 0

    @property
    def deep(self) -> bool:
        """Whether Pillow would cut the pixels to 8 bits or misread them."""
        bits, form = int(self.values[BITS].max()) if BITS in self.values else 1, self.one(FORMAT, 1)
        grey16 = self.one(SAMPLES, 1) == 1 and bits == 16 and self.one(PHOTOMETRIC, 1) == 1
        return form != 1 or not (bits <= 8 or grey16)


def first_page(data: bytes) -> Page:
    """The tags of the first page that pixels depend on.

    Raises:
        ImageError: a tag, strip or tile lies outside the file, or a tag has an impossible number of values.
    """
    order = "<" if data[:2] == b"II" else ">"
    big = data[2:4] in (b"+\0", b"\0+")
    head, size, number, inline = (8, 20, "Q", 8) if big else (4, 12, "I", 4)
    try:
        (start,) = struct.unpack_from(order + number, data, head)
        (count,) = struct.unpack_from(order + ("Q" if big else "H"), data, start)
    except struct.error:
        raise _bad("the directory lies outside the file") from None
    first = start + (8 if big else 2)
    if count * size + first > len(data):
        raise _bad("the directory lies outside the file")
    entries: dict[int, bytes] = {}
    values: dict[int, NDArray[np.int64]] = {}
    total = 0
    for at in range(first, first + count * size, size):
        tag, kind = struct.unpack_from(f"{order}HH", data, at)
        if tag not in _ONE and tag not in _SEVERAL:
            continue
        (many,) = struct.unpack_from(order + number, data, at + 4)
        length = many * _WIDTHS.get(kind, 1)
        place = at + size - inline
        if length > inline:
            (place,) = struct.unpack_from(order + number, data, place)
        total += length
        if kind not in _WIDTHS or place + length > len(data) or total > len(data):
            raise _bad(f"tag {tag} lies outside the file")
        if many == 0 or (many > 1 and tag in _ONE):
            raise _bad(f"tag {tag} has {many} values")
        if kind in _INTEGERS:
            raw = np.frombuffer(data, order + _INTEGERS[kind], many, place).astype(np.uint64)
            values[tag] = np.minimum(raw, _HUGE).astype(np.int64)
        entries[tag] = data[at : at + size]
    page = Page(order, big, start, entries, values)
    _check(page, len(data))
    return page


def _check(page: Page, size: int) -> None:
    if page.one(WIDTH, 0) <= 0 or page.one(HEIGHT, 0) <= 0:
        raise _bad("it has no width or height")
    for starts, lengths in _PIECES:
        if starts in page.values and lengths in page.values:
            a, b = page.values[starts], page.values[lengths]
            if len(a) != len(b):
                raise _bad("strips or tiles without a length")
            if (a + b > size).any():
                raise _bad("the file is truncated")
            if (b == 0).any():
                raise _bad("a strip or tile is empty")
    if not any(starts in page.values for starts, _ in _PIECES) and 513 not in page.values:
        raise _bad("there are no pixels in it")


def with_directory(data: bytes, page: Page, entries: Mapping[int, bytes]) -> bytes:
    """The file with these entries as its only directory; `entries` are at most as many as the file has."""
    count = struct.pack(page.order + ("Q" if page.big else "H"), len(entries))
    # The zero at the end says that no page follows.
    directory = count + b"".join(entries[tag] for tag in sorted(entries)) + bytes(8 if page.big else 4)
    end = page.start + len(directory)
    return data[: page.start] + directory + data[end:]


@dataclass(frozen=True)
class LzwBytes:
    """An LZW page of deep pixels, written as 8-bit grey so that any decoder gives its bytes.

    Attributes:
        data: the file; its width is `width * samples * itemsize`.
        dtype: the true type, with byte order.
        width, samples: pixels in a row, samples in a pixel.
        step: pixels after which the differences of the predictor start anew (a tile, else a row); 0 = no predictor.
    """

    data: bytes
    dtype: np.dtype[np.generic]
    width: int
    samples: int
    step: int

    def restored(self, flat: NDArray[np.uint8]) -> NDArray[np.generic]:
        """(h, w, samples) from the decoded bytes (h, w * samples * itemsize)."""
        pixels = np.ascontiguousarray(flat).view(self.dtype).reshape(len(flat), self.width, self.samples)
        if not self.step:
            return pixels
        return np.concatenate(
            [
                np.cumsum(pixels[:, at : at + self.step], axis=1, dtype=self.dtype.newbyteorder("="))
                for at in range(0, self.width, self.step)
            ],
            axis=1,
        )


def lzw_as_bytes(data: bytes) -> LzwBytes | None:
    """LZW pixels of 16, 32 or 64 bits, stored pixel by pixel, as 8-bit grey; None for anything else."""
    page = first_page(data)
    samples, bits = page.one(SAMPLES, 1), page.values.get(BITS, np.ones(1, np.int64))
    predictor, form = page.one(PREDICTOR, 1), {1: "u", 2: "i", 3: "f"}.get(page.one(FORMAT, 1))
    plain = page.one(COMPRESSION, 1) == _LZW and page.one(PLANAR, 1) == 1 and (bits == bits[0]).all()
    if not plain or form is None or bits[0] not in (16, 32, 64) or predictor > (1 if form == "f" else 2):
        return None
    size = int(bits[0]) // 8
    factor = samples * size
    new = {WIDTH: page.one(WIDTH, 0) * factor, BITS: 8, SAMPLES: 1, PHOTOMETRIC: 1}
    if TILE_WIDTH in page.entries:
        new[TILE_WIDTH] = page.one(TILE_WIDTH, 0) * factor
    entries = {t: e for t, e in page.entries.items() if t not in (PREDICTOR, EXTRA, FORMAT)}
    layout = page.order + ("HHQQ" if page.big else "HHII")
    entries.update({tag: struct.pack(layout, tag, 16 if page.big else 4, 1, value) for tag, value in new.items()})
    step = page.one(TILE_WIDTH, page.one(WIDTH, 0)) if predictor == 2 else 0
    return LzwBytes(
        with_directory(data, page, entries), np.dtype(f"{page.order}{form}{size}"), page.one(WIDTH, 0), samples, step
    )


def _bad(what: str) -> ImageError:
    return ImageError(f"damaged TIFF: {what}")
