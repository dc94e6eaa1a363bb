"""The one image reader: hashing, descriptors and training all see the same pixels.

A file is judged by its content, never by its suffix. Choices of ours, since no standard decides them:

- EXIF orientation is applied before anything else looks at the pixels, also before they are hashed.
- Of an animation or a multi-page file the first frame is read.
- Transparency is laid over white. Colour profiles are not applied.
- Deeper pixels are scaled to 8 bits by the range they use, see `depth.eight_bits`; they are never cut off at white.
- A damaged or truncated file is an error, even where a decoder would guess the missing part.
"""

from __future__ import annotations

import hashlib
import io
import os
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError
from .containers import MAX_PIXELS, kind_of, without_metadata
from .decoders import pixels_of
from .depth import Pixels, to_rgb

__all__ = [
    "HEAD",
    "IMAGE_SUFFIXES",
    "MAX_PIXELS",
    "decode",
    "digest_of",
    "pixel_digest",
    "read_bytes",
    "read_image",
    "sniff",
    "to_rgb",
]

Source = str | os.PathLike[str] | bytes

IMAGE_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("png", "apng", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "dib", "tif", "tiff", "webp"),
        *("ppm", "pgm", "pbm", "pnm", "jp2", "j2k", "avif"),
    )
)
"""A file of such a name claims to be an image that is read here."""

HEAD = 64
"""Bytes that `sniff` needs."""


def sniff(source: Source) -> str:
    """Format name of an image by its first bytes, "" if it is none that is read here. Unreadable files give ""."""
    if isinstance(source, bytes):
        return kind_of(source[:HEAD])
    try:
        with _opened(source) as file:
            return kind_of(file.read(HEAD))
    except (OSError, ValueError):
        return ""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, or an ImageError with the system's reason."""
    try:
        with _opened(path) as file:
            return file.readall()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ImageError(f"the file cannot be read: {reason}") from error
    except MemoryError as error:
        raise ImageError("not enough memory to read the file") from error


def _opened(path: str | os.PathLike[str]) -> io.FileIO:
    file = io.FileIO(os.fspath(path), opener=_without_waiting)
    if not S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "it is no regular file")
    return file


def _without_waiting(path: str, flags: int) -> int:
    # Opening a named pipe would wait for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_image(source: Source) -> Pixels:
    """RGB pixels as people see them.

    Args:
        source: a path, or the bytes of a file.

    Returns:
        uint8 (h, w, 3), EXIF orientation applied.

    Raises:
        ImageError: no image, damaged, truncated or too large; the message is the reason.
    """
    return to_rgb(decode(source))


def pixel_digest(source: Source) -> str:
    """SHA-256 (hex) of the decoded pixels as stored, with shape and depth; equal for lossless copies in any container.

    Grey and RGB copies differ, and so do 8- and 16-bit ones; a palette counts as the colours it stands for. A copy
    that is stored turned and says so by its EXIF orientation is the same picture and has the same digest.

    Raises:
        ImageError: as `read_image`.
    """
    return digest_of(decode(source))


def digest_of(pixels: NDArray[Any]) -> str:
    """SHA-256 (hex) over shape, dtype and the native pixels; the byte order of the machine does not matter."""
    array = np.ascontiguousarray(pixels, dtype=pixels.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"{array.shape}{array.dtype.str}".encode())
    digest.update(array.data)
    return digest.hexdigest()


def decode(source: Source) -> NDArray[Any]:
    """Native pixels, EXIF orientation applied.

    Returns:
        bool, unsigned, signed or float, (h, w) or (h, w, c) with c = 2 (grey and alpha), 3 (RGB), 4 (RGB and alpha).

    Raises:
        ImageError: as `read_image`.
    """
    data = source if isinstance(source, bytes) else read_bytes(source)
    if not data:
        raise ImageError("the file is empty")
    kind = sniff(data)
    if not kind:
        raise ImageError(_no_image(data))
    try:
        pixels = pixels_of(without_metadata(data, kind))
    except ImageError:
        raise
    except MemoryError as error:
        raise ImageError("not enough memory to decode it") from error
    except Exception as error:  # decoders raise nearly anything on damaged files
        reason = " ".join((str(error) or type(error).__name__).split())
        raise ImageError(f"damaged {kind}: {reason[:200]}") from error
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or pixels.dtype.kind not in "buif":
        raise ImageError(f"damaged {kind}: decoded to shape {pixels.shape} of {pixels.dtype}")
    return pixels


def _no_image(data: bytes) -> str:
    if not data.strip(b"\0"):
        return "the file holds only zero bytes"
    return "the content is no image of a known format"
