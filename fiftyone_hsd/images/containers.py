"""What the bytes say before any decoder runs: format, size, orientation, whether everything is there.

Metadata is cut out here (EXIF, XMP, colour profiles, animation, further pages), for two reasons: decoders warn about
damaged metadata of sound pictures, and warnings can only be silenced for the whole process; and truncation is found
for sure, where decoders fill what is missing.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ImageError
from .tiff import ORIENTATION, first_page, with_directory

MAX_PIXELS = 178_956_970
"""Larger images are refused unread (Pillow's own limit for a decompression bomb)."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG2000"),
    (b"\xff\x4f\xff\x51", "JPEG2000"),
)
# Comments may stand before the size; text that only begins like a picture must not match.
_PNM = re.compile(rb"P[1-6]\s+(?:#[^\r\n]*[\r\n]\s*)*(\d+\s|#)")
_BITMAP_HEADERS = (12, 40, 52, 56, 64, 108, 124)
_PNG_NEEDED = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))


@dataclass(frozen=True)
class Bare:
    """An image file without its metadata.

    Attributes:
        kind: format name.
        data: the file's bytes, without what no pixel depends on.
        orientation: EXIF orientation, 1 to 8.
        deep: whether Pillow would cut its colours to 8 bits or misread them.
        inverted: whether 0 is white and the decoder for deep pixels does not know it.
    """

    kind: str
    data: bytes
    orientation: int = 1
    deep: bool = False
    inverted: bool = False


def kind_of(head: bytes) -> str:
    """Format name by the first bytes, "" if it is none that is read here."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"):
        return "AVIF"
    if head[:1] == b"P" and _PNM.match(head):
        return "PPM"
    if head[:2] == b"BM" and len(head) >= 18 and int.from_bytes(head[14:18], "little") in _BITMAP_HEADERS:
        return "BMP"
    return ""


def without_metadata(data: bytes, kind: str) -> Bare:
    """The file without its metadata.

    Raises:
        ImageError: truncated, damaged or larger than MAX_PIXELS, as far as the container shows it.
    """
    return _CLEANERS.get(kind, _as_is)(data, kind)


def refuse_bomb(*sides: int, limit: int = MAX_PIXELS) -> None:
    """ImageError if the product of the sides is more than the limit."""
    pixels = 1
    for side in sides:
        pixels *= side
    if pixels > limit:
        size = " x ".join(f"{s:,}" for s in sides)
        raise ImageError(f"{size} pixels, more than {limit:,}: refused as a decompression bomb")


def damaged(kind: str, what: str) -> ImageError:
    """The error for a file of that format that is not whole."""
    return ImageError(f"damaged {kind}: {what}")


def _as_is(data: bytes, kind: str) -> Bare:
    return Bare(kind, data)


def _jpeg(data: bytes, kind: str) -> Bare:
    keep = [data[:2]]
    orientation = 0
    at = 2
    while True:
        if data[at : at + 1] != b"\xff" or at + 1 >= len(data):
            raise damaged(kind, "the header is cut off" if at + 1 >= len(data) else "a marker is missing in the header")
        marker = data[at + 1]
        if marker == 0xFF or marker in _STANDALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in (0xDA, 0xD9):  # scans follow, or nothing
            break
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
        if end > len(data) or end < at + 4:
            raise damaged(kind, "the header is cut off")
        if marker == 0xE1 and data[at + 4 : at + 10] == b"Exif\0\0":
            orientation = orientation or exif_orientation(data[at + 10 : end])
        # JFIF and Adobe say how colours are stored; no pixel depends on other applications' segments and comments.
        if not (0xE0 <= marker <= 0xEF or marker == 0xFE) or marker in (0xE0, 0xEE):
            keep.append(data[at:end])
        at = end
    return Bare(kind, b"".join([*keep, memoryview(data)[at:]]), orientation or 1)


def _png(data: bytes, kind: str) -> Bare:
    view = memoryview(data)
    keep: list[bytes | memoryview] = [view[:8]]
    orientation, at, name = 1, 8, b""
    while name != b"IEND":
        end = at + 12 + int.from_bytes(view[at : at + 4])
        if end > len(data):
            raise damaged(kind, "the file is truncated")
        name = data[at + 4 : at + 8]
        if name in _PNG_NEEDED:
            if zlib.crc32(view[at + 4 : end - 4]) != int.from_bytes(view[end - 4 : end]):
                raise damaged(kind, f"the checksum of {name.decode('ascii')} is wrong")
            keep.append(view[at:end])
        elif name == b"eXIf":
            orientation = exif_orientation(data[at + 8 : end - 4])
        at = end
    if data[12:16] != b"IHDR" or len(keep[1]) != 25:
        raise damaged(kind, "the header is missing")
    refuse_bomb(int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    depth, colour = data[24], data[25]
    return Bare(kind, b"".join(keep), orientation, deep=depth == 16 and colour in (2, 4, 6))


def _webp(data: bytes, kind: str) -> Bare:
    size = 8 + int.from_bytes(data[4:8], "little")
    if size > len(data):
        raise damaged(kind, "the file is truncated")
    at, orientation = 12, 1
    while at + 8 <= size:
        end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"EXIF" and end <= size:
            orientation = exif_orientation(data[at + 8 : end].removeprefix(b"Exif\0\0"))
        at = end + end % 2
    return Bare(kind, data, orientation)


def _gif(data: bytes, kind: str) -> Bare:
    screen = struct.unpack("<HH", data[6:10]) if len(data) >= 13 else (0, 0)
    at = 13 + ((6 << (data[10] & 7)) if len(data) >= 13 and data[10] & 128 else 0)
    while data[at : at + 1] == b"!":  # extensions: comments, times, transparency
        at += 2
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    if data[at : at + 1] != b"," or at + 10 > len(data):
        raise damaged(kind, "there is no picture in it")
    x, y, width, height = struct.unpack("<HHHH", data[at + 1 : at + 9])
    # From half the limit on Pillow warns, here only.
    refuse_bomb(max(screen[0], x + width), max(screen[1], y + height), limit=MAX_PIXELS // 2)
    at += 10 + ((6 << (data[at + 9] & 7)) if data[at + 9] & 128 else 0) + 1
    while at < len(data) and data[at]:
        at += 1 + data[at]
    if at >= len(data):
        raise damaged(kind, "the file is truncated")
    return Bare(kind, data[: at + 1] + b";")


def _bmp(data: bytes, kind: str) -> Bare:
    # Pillow trusts the offset of the pixels; the last rows would be missing in silence for run-length coding.
    if int.from_bytes(data[10:14], "little") >= len(data):
        raise damaged(kind, "the file is truncated")
    return Bare(kind, data)


def _pnm(data: bytes, kind: str) -> Bare:
    deep = re.match(rb"P6\s+(?:#[^\n]*\n\s*)*\d+\s+(?:#[^\n]*\n\s*)*\d+\s+(?:#[^\n]*\n\s*)*(\d{1,6})\s", data)
    return Bare(kind, data, deep=deep is not None and 255 < int(deep[1]) <= 65535)


def _avif(data: bytes, kind: str) -> Bare:
    # The turn is a property of the picture here (irot, imir), which the decoder hands on; EXIF has no say in it.
    start = data.find(b"mdat")
    head = data[: start if start >= 0 else 0]
    return Bare(kind, head.replace(b"Exif", b"skip") + data[len(head) :])


def _tiff(data: bytes, kind: str) -> Bare:
    page = first_page(data)
    refuse_bomb(*page.sides)
    entries = {tag: entry for tag, entry in page.entries.items() if tag != ORIENTATION}
    return Bare(kind, with_directory(data, page, entries), page.orientation, page.deep, page.inverted)


def exif_orientation(block: bytes) -> int:
    """The orientation that an EXIF block states, 1 to 8; 1 where it states none or is damaged."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(block[:4])
    if order is None or len(block) < 8:
        return 1
    (start,) = struct.unpack_from(f"{order}I", block, 4)
    if start + 2 > len(block):
        return 1
    (count,) = struct.unpack_from(f"{order}H", block, start)
    for at in range(start + 2, min(start + 2 + 12 * count, len(block) - 11), 12):
        tag, kind = struct.unpack_from(f"{order}HH", block, at)
        if tag == 0x0112 and kind in (3, 4):
            (value,) = struct.unpack_from(order + ("H" if kind == 3 else "I"), block, at + 8)
            return int(value) if 1 <= value <= 8 else 1
    return 1


_CLEANERS: dict[str, Callable[[bytes, str], Bare]] = {
    "JPEG": _jpeg,
    "PNG": _png,
    "WEBP": _webp,
    "GIF": _gif,
    "BMP": _bmp,
    "PPM": _pnm,
    "AVIF": _avif,
    "TIFF": _tiff,
}
