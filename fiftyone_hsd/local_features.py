"""Local features of images: what survives resizing, recompression, turning, mirroring and cropping.

Keypoints and descriptors are SIFT (Lowe 2004) as OpenCV computes them, with the square-root normalisation of
Arandjelovic & Zisserman (2012). The mirrored image needs no second pass: mirroring permutes the bins of a descriptor.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ImageError, StoreError
from .images import read_image
from .model import sha256_json
from .progress import Progress, guarded
from .store import load, save

SIDE = 256
"""Longer side, in pixels, at which images are compared (our choice)."""
KEYPOINTS = 256
"""Most keypoints an image is described by (our choice)."""
WORDS = 128
BLOCK = 256
IN_MEMORY = 1 << 30
"""Bytes of descriptors beyond which they are kept in a temporary file."""
_VERSION = 1

_bins = np.arange(WORDS).reshape(4, 4, 8)
MIRROR = _bins[::-1][:, :, (-np.arange(8)) % 8].reshape(-1)
"""`descriptor[MIRROR]` is the descriptor of the mirrored patch."""

Gray = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LocalFeatures:
    """Keypoints of n images, at most `KEYPOINTS` each.

    Attributes:
        xy: float32 (n, KEYPOINTS, 2), pixels of the reduced image.
        descriptors: uint8 (n, KEYPOINTS, 128), square roots of unit-sum SIFT times 255.
        count: int64 (n,), keypoints of each image; 0 where it cannot be read or shows nothing.
        size: int64 (n, 2), width and height of the reduced image.
    """

    xy: NDArray[np.float32]
    descriptors: NDArray[np.uint8]
    count: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.count)

    def of(self, row: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """((k, 2) pixels, (k, 128) unit rows) of one image."""
        k = int(self.count[row])
        return self.xy[row, :k], unit(self.descriptors[row, :k])


def unit(descriptors: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Rows of unit length from stored descriptors."""
    rows = descriptors.astype(np.float32)
    norm = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.maximum(norm, 1e-9)[:, None], np.float32)


def reduced(image: NDArray[np.uint8]) -> Gray:
    """uint8 (h, w) grey image whose longer side is `SIDE` pixels."""
    import cv2

    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    height, width = gray.shape
    scale = SIDE / max(height, width)
    shape = max(8, round(width * scale)), max(8, round(height * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(gray, shape, interpolation=how), np.uint8)


def keypoints(gray: Gray) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """((k, 2) pixels, (k, 128) stored descriptors) of a reduced image, k <= KEYPOINTS, strongest first."""
    import cv2

    sift: Any = cv2.SIFT_create  # type: ignore[attr-defined]
    found, raw = sift(nfeatures=KEYPOINTS, contrastThreshold=0.01).detectAndCompute(gray, None)
    if raw is None or not len(found):
        return np.zeros((0, 2), np.float32), np.zeros((0, WORDS), np.uint8)
    best = np.argsort([-p.response for p in found], kind="stable")[:KEYPOINTS]
    root = np.sqrt(raw / np.maximum(raw.sum(1, keepdims=True), 1e-9))
    xy = np.array([p.pt for p in found], np.float32)
    return xy[best], np.round(255 * root[best]).astype(np.uint8)


def local_features(
    paths: Sequence[str], contents: Sequence[str], *, folder: Path | None = None, progress: Progress | None = None
) -> LocalFeatures:
    """Local features of files.

    Args:
        paths: n files.
        contents: n SHA-256 of their bytes; "" = do not read this one.
        folder: where finished blocks are kept, so that an interrupted pass goes on; None = nowhere.
        progress: called after each block.

    Raises:
        StoreError: the folder cannot be written.
    """
    tell, n = guarded(progress), len(paths)
    whole = _empty(n)
    with ThreadPoolExecutor(thread_name_prefix="hsd-features") as pool:
        for start in range(0, n, BLOCK):
            tell(start, n, "local features")
            rows = slice(start, min(n, start + BLOCK))
            block = _block(paths[rows], contents[rows], folder, pool.map)
            for name in ("xy", "descriptors", "count", "size"):
                getattr(whole, name)[rows] = getattr(block, name)
    tell(n, n, "local features")
    return whole


def _empty(n: int) -> LocalFeatures:
    shape, descriptors = (n, KEYPOINTS, WORDS), None
    if n * KEYPOINTS * WORDS > IN_MEMORY:  # a file without a name: it goes with the array
        with tempfile.TemporaryFile() as file:
            descriptors = np.memmap(file, np.uint8, "w+", shape=shape)
    return LocalFeatures(
        np.zeros((n, KEYPOINTS, 2), np.float32),
        np.zeros(shape, np.uint8) if descriptors is None else descriptors,
        np.zeros(n, np.int64),
        np.zeros((n, 2), np.int64),
    )


def _block(
    paths: Sequence[str], contents: Sequence[str], folder: Path | None, spread: Callable[..., Any]
) -> LocalFeatures:
    kept = None if folder is None else folder / f"{sha256_json([_VERSION, list(contents)])[:32]}.npz"
    if kept is not None and kept.exists():
        with contextlib.suppress(StoreError):
            return load(kept, LocalFeatures)
    block = _empty(len(paths))
    for row, found in enumerate(spread(_read, paths, contents)):
        if found is not None:
            xy, descriptors, size = found
            k = len(xy)
            block.xy[row, :k], block.descriptors[row, :k] = xy, descriptors
            block.count[row], block.size[row] = k, size
    if kept is not None:
        save(kept, block)
    return block


def _read(path: str, content: str) -> tuple[NDArray[np.float32], NDArray[np.uint8], tuple[int, int]] | None:
    if not content:
        return None
    try:
        gray = reduced(read_image(path))
    except ImageError:
        return None
    return *keypoints(gray), (gray.shape[1], gray.shape[0])
