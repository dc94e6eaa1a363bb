"""The one image reader: hashing, descriptors and training all see the same pixels.

A file is judged by its content, never by its suffix. Choices of ours, since no standard decides them:

- EXIF orientation is applied before anything else looks at the pixels.
- Of an animation or a multi-page file the first frame is read.
- Transparency is laid over white.
- Deeper pixels are scaled to 8 bits, never clipped: unsigned integers by the range of their type when the 99.9
  percentile reaches a quarter of it, floats in [0, 1] by 255, all else (12-bit data in 16 bits, CT values, counts) by
  the 0.1 and 99.9 percentiles of the finite values.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from .errors import ImageError

Pixels = NDArray[np.uint8]
Source = str | os.PathLike[str] | bytes

MAX_PIXELS = 178_956_970
"""Larger images are refused unread (Pillow's own limit for a decompression bomb)."""

IMAGE_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("png", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "dib", "tif", "tiff", "webp"),
        *("ppm", "pgm", "pbm", "pnm", "jp2", "j2k", "avif"),
    )
)
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "DIB", "TIFF", "WEBP", "PPM", "JPEG2000", "MPO", "AVIF")
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
HEAD = 32
"""Bytes that `sniff` needs."""


def sniff(source: Source) -> str:
    """Format name of an image by its first bytes, "" if it is none that is read here. Unreadable files give ""."""
    if isinstance(source, bytes):
        head = source[:HEAD]
    else:
        try:
            with Path(source).open("rb") as file:
                head = file.read(HEAD)
        except OSError:
            return ""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"):
        return "AVIF"
    if head[:1] == b"P" and head[1:2] in b"123456" and head[2:3] in b" \t\r\n" and len(head) > 6:
        return "PPM"
    # A bitmap header: size of the second header, one colour plane.
    if (
        head[:2] == b"BM"
        and len(head) >= 28
        and head[14:18] in (b"\x0c\0\0\0", b"\x28\0\0\0", b"\x6c\0\0\0", b"\x7c\0\0\0")
    ):
        return "BMP"
    return ""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, or an ImageError with the system's reason."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ImageError(f"the file cannot be read: {error.strerror or error}") from error


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

    Grey and RGB copies differ, and so do 8- and 16-bit ones; a palette counts as the colours it stands for.
    """
    return digest_of(decode(source))


def digest_of(pixels: NDArray[Any]) -> str:
    """SHA-256 (hex) over shape, dtype and the native pixels."""
    array = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder("<"), copy=False))
    header = f"{array.shape}{array.dtype.str}".encode()
    return hashlib.sha256(header + array.tobytes()).hexdigest()


def decode(source: Source) -> NDArray[Any]:
    """Native pixels: bool, unsigned, signed or float, (h, w) or (h, w, c) with c = 2 (LA), 3 (RGB), 4 (RGBA).

    Raises:
        ImageError: as `read_image`.
    """
    data = source if isinstance(source, bytes) else read_bytes(source)
    if not data:
        raise ImageError("the file is empty")
    kind = sniff(data)
    if not kind:
        raise ImageError("the content is no image of a known format")
    try:
        pixels = _decode(data, kind)
    except ImageError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"more than {MAX_PIXELS:,} pixels: refused as a decompression bomb") from error
    except MemoryError as error:
        raise ImageError("not enough memory to decode it") from error
    except Exception as error:  # decoders raise nearly anything on damaged files
        reason = (
            "the header is damaged" if isinstance(error, UnidentifiedImageError) else str(error) or type(error).__name__
        )
        raise ImageError(f"damaged {kind}: {reason[:200]}") from error
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ImageError(f"damaged {kind}: decoded to shape {pixels.shape}")
    return pixels


def _decode(data: bytes, kind: str) -> NDArray[Any]:
    # Pillow cuts 16-bit colour to 8 bits; OpenCV keeps it.
    if kind == "PNG" and data[24:25] == b"\x10" and data[25:26] in (b"\x02", b"\x04", b"\x06"):
        return _decode_deep_png(data)
    if kind == "TIFF":
        return _first_that_works(data, (_decode_pillow, _decode_tiff))
    return _decode_pillow(data)


def _first_that_works(data: bytes, readers: tuple[Callable[[bytes], NDArray[Any]], ...]) -> NDArray[Any]:
    for reader in readers[:-1]:
        try:
            return reader(data)
        except (Image.DecompressionBombError, MemoryError, ImageError):
            raise
        except Exception:  # noqa: S112 - the next reader decides
            continue
    return readers[-1](data)


def _decode_pillow(data: bytes) -> NDArray[Any]:
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        if image.width * image.height > MAX_PIXELS:
            raise ImageError(f"{image.width} x {image.height} pixels: refused as a decompression bomb")
        image.load()
        return _native(ImageOps.exif_transpose(image))


def _native(image: Image.Image) -> NDArray[Any]:
    mode = image.mode
    if mode == "P" or (mode in ("1", "L", "RGB") and "transparency" in image.info):
        # bytes in a palette's transparency mean alpha; RGBA keeps every colour of it
        mode = "RGBA" if "transparency" in image.info else "RGB"
        image = image.convert(mode)
    elif mode in ("CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        image = image.convert("RGB")
    elif mode in ("PA", "La", "RGBa"):
        image = image.convert({"PA": "RGBA", "La": "LA", "RGBa": "RGBA"}[mode])
    return np.asarray(image)


def _decode_deep_png(data: bytes) -> NDArray[Any]:
    import cv2

    header = int.from_bytes(data[16:20]) * int.from_bytes(data[20:24])
    if header > MAX_PIXELS:
        raise ImageError(f"{header:,} pixels: refused as a decompression bomb")
    # Pillow checks the whole stream; OpenCV would fill what is missing with zeros.
    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        image.load()
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ImageError("damaged PNG: OpenCV cannot decode it")
    if pixels.ndim == 3:
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]] if pixels.shape[2] > 2 else slice(None)]
    return np.asarray(pixels)


def _decode_tiff(data: bytes) -> NDArray[Any]:
    import tifffile

    with tifffile.TiffFile(io.BytesIO(data)) as file:
        page: Any = file.pages[0]
        if int(np.prod(page.shape[:3])) > MAX_PIXELS:
            raise ImageError(f"shape {page.shape}: refused as a decompression bomb")
        pixels = np.asarray(page.asarray())
    if pixels.ndim == 3 and pixels.shape[0] in (3, 4) and pixels.shape[2] not in (3, 4):
        pixels = np.moveaxis(pixels, 0, 2)
    pixels = np.squeeze(pixels) if pixels.ndim > 3 else pixels
    if pixels.ndim == 3 and pixels.shape[2] > 4:
        pixels = pixels[..., :3]
    return pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def to_rgb(pixels: NDArray[Any]) -> Pixels:
    """uint8 (h, w, 3) from native pixels; see the module's text for depth and transparency."""
    deep = pixels
    alpha: NDArray[np.float32] | None = None
    if deep.ndim == 3 and deep.shape[2] in (2, 4):
        top = float(np.iinfo(deep.dtype).max) if np.issubdtype(deep.dtype, np.unsignedinteger) else 1.0
        alpha = np.clip(deep[..., -1:].astype(np.float32) / top, 0, 1)
        deep = deep[..., :-1]
    flat = eight_bits(deep)
    if flat.ndim == 2:
        flat = flat[..., None]
    if flat.shape[2] == 1:
        flat = np.repeat(flat, 3, axis=2)
    if alpha is not None and (alpha < 1).any():
        flat = np.rint(flat * alpha + 255.0 * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(flat[..., :3])


def eight_bits(pixels: NDArray[Any]) -> Pixels:
    """uint8 of the same shape: 8-bit unchanged, 1-bit to 0/255, everything deeper scaled by percentiles."""
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    values = pixels.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros(pixels.shape, np.uint8)
    low, high = (float(v) for v in np.percentile(values[finite], (0.1, 99.9)))
    if np.issubdtype(pixels.dtype, np.unsignedinteger) and high >= np.iinfo(pixels.dtype).max / 4:
        low, high = 0.0, float(np.iinfo(pixels.dtype).max)
    elif np.issubdtype(pixels.dtype, np.floating) and values[finite].min() >= 0 and 0.25 <= values[finite].max() <= 1:
        low, high = 0.0, 1.0
    if high <= low:
        low, high = float(values[finite].min()), float(values[finite].max())
    if high <= low:
        return np.full(pixels.shape, 128, np.uint8)
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / (high - low)
    return np.rint(np.clip(scaled, 0, 1) * 255).astype(np.uint8)
