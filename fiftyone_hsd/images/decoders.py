"""Pixels from an image file without metadata: by Pillow where it keeps every bit, else by tifffile or OpenCV."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    Jpeg2KImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from ..errors import ImageError
from .containers import MAX_PIXELS, Bare, damaged, exif_orientation, refuse_bomb
from .tiff import lzw_as_bytes

# The classes themselves: Image.open would add checks that warn.
_PLUGINS: dict[str, Callable[[io.BytesIO], Image.Image]] = {
    "PNG": PngImagePlugin.PngImageFile,
    "JPEG": JpegImagePlugin.JpegImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
    "PPM": PpmImagePlugin.PpmImageFile,
    "JPEG2000": Jpeg2KImagePlugin.Jpeg2KImageFile,
}
_TO_RGB = frozenset(("CMYK", "YCbCr", "LAB", "HSV", "RGBX"))
_TO_ALPHA = {"PA": "RGBA", "La": "LA", "RGBa": "RGBA"}
_ALPHA_SAMPLES = (1, 2)


def pixels_of(image: Bare) -> NDArray[Any]:
    """Native pixels (h, w) or (h, w, c), turned as EXIF says. Decoders raise nearly anything on damaged files."""
    if image.kind == "TIFF":
        pixels = _deep_tiff(image) if image.deep else _plain_tiff(image)
    elif image.deep:
        pixels = _deep_png(image) if image.kind == "PNG" else _deep_ppm(image)
    else:
        return _pillow(image)
    return turned(pixels, image.orientation)


def turned(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """The pixels as the EXIF orientation (1 to 8) wants them shown."""
    if orientation >= 5:
        pixels = np.swapaxes(pixels, 0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels


def _plain_tiff(image: Bare) -> NDArray[Any]:
    try:
        with _opened(image) as picture:
            return _native(picture)
    except (MemoryError, ImageError):
        raise
    except Exception as error:  # Pillow does not know every layout
        try:
            return _tifffile(image)
        except Exception:
            raise error from None


def _deep_tiff(image: Bare) -> NDArray[Any]:
    try:
        return _tifffile(image)
    except Exception as error:
        # Some compressions are only known to a package that need not be there.
        if "imagecodecs" not in str(error):
            raise
    packed = lzw_as_bytes(image.data)
    if packed is None:
        raise ImageError("this kind of compressed TIFF is read only with the package imagecodecs")
    with _opened(Bare(image.kind, packed.data)) as picture:
        pixels = packed.restored(np.asarray(picture))
    return _channels(_upright(pixels, image), pixels.shape[2] in (2, 4))


def _upright(pixels: NDArray[Any], image: Bare) -> NDArray[Any]:
    return np.invert(pixels) if image.inverted and pixels.dtype.kind == "u" else pixels


def _pillow(image: Bare) -> NDArray[Any]:
    with _opened(image) as picture:
        orientation = image.orientation
        if image.kind == "AVIF":
            exif: bytes = picture.info.get("exif", b"")
            orientation = exif_orientation(exif.removeprefix(b"Exif\0\0"))
        return turned(_native(picture), orientation)


def _opened(image: Bare) -> Image.Image:
    plugin = _avif() if image.kind == "AVIF" else _PLUGINS[image.kind]
    picture = plugin(io.BytesIO(image.data))
    refuse_bomb(picture.width, picture.height)
    picture.load()
    return picture


def _avif() -> Callable[[io.BytesIO], Image.Image]:
    try:
        from PIL import AvifImagePlugin
    except ImportError:
        raise ImageError("AVIF is not read by this version of Pillow") from None
    plugin: Callable[[io.BytesIO], Image.Image] = AvifImagePlugin.AvifImageFile
    return plugin


def _native(image: Image.Image) -> NDArray[Any]:
    mode = image.mode
    if mode == "P" or (mode in ("1", "L", "RGB") and "transparency" in image.info):
        # RGBA keeps every colour of a palette whose transparency is a table.
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif mode in _TO_RGB:
        image = image.convert("RGB")
    elif mode in _TO_ALPHA:
        image = image.convert(_TO_ALPHA[mode])
    pixels = np.asarray(image)
    if image.format == "PPM" and mode == "I":  # 16 bits in a wider mode
        return pixels.astype(np.uint16)
    return pixels


def _deep_png(image: Bare) -> NDArray[Any]:
    import cv2

    # OpenCV fills what is missing; Pillow notices.
    _opened(image).close()
    pixels = cv2.imdecode(np.frombuffer(image.data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise damaged(image.kind, "it cannot be decoded")
    if pixels.ndim == 3 and pixels.shape[2] in (3, 4):
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    return np.asarray(pixels)


def _deep_ppm(image: Bare) -> NDArray[Any]:
    # Pillow reads the header, with its comments; the pixels stand at the end.
    with PpmImagePlugin.PpmImageFile(io.BytesIO(image.data)) as picture:
        width, height = picture.size
        refuse_bomb(width, height)
        _, _, start, arguments = picture.tile[0]
    top = int(arguments[-1]) if isinstance(arguments, tuple) else 65535
    size = width * height * 3
    if len(image.data) - start < 2 * size:
        raise damaged(image.kind, "the file is truncated")
    pixels: NDArray[Any] = np.frombuffer(image.data, ">u2", size, start).reshape(height, width, 3)
    if top == 65535:
        return pixels
    return np.asarray(np.rint(np.minimum(pixels, top) * (65535 / top)), np.uint16)


def _tifffile(image: Bare) -> NDArray[Any]:
    import tifffile

    log = logging.getLogger("tifffile")
    if not log.handlers:  # else its remarks on odd files would be printed
        log.addHandler(logging.NullHandler())
    with tifffile.TiffFile(io.BytesIO(image.data)) as file:
        page: Any = file.pages[0]
        if page.size > 4 * MAX_PIXELS:
            raise ImageError(f"shape {page.shape}: refused as a decompression bomb")
        pixels = np.asarray(page.asarray(maxworkers=1))
        alpha = any(int(s) in _ALPHA_SAMPLES for s in page.extrasamples)
        if int(page.planarconfig or 1) == 2 and pixels.ndim == 3:
            pixels = np.moveaxis(pixels, 0, 2)
    return _channels(_upright(pixels, image), alpha)


def _channels(pixels: NDArray[Any], alpha: bool) -> NDArray[Any]:
    """The channels that can be shown: grey or RGB with alpha as they are, else three (two and an empty one)."""
    if pixels.ndim != 3 or (alpha and pixels.shape[2] in (2, 4)):
        return pixels
    if pixels.shape[2] == 1:
        return pixels.reshape(pixels.shape[:2])
    if pixels.shape[2] == 2:
        return np.concatenate([pixels, np.zeros_like(pixels[..., :1])], axis=2)
    return pixels[..., :3]
