"""Which pairs of images are worth aligning: neighbours by what their local features have in common.

Residuals to the words of a small vocabulary are summed for each image (VLAD, Jegou et al. 2010) and whitened in part
within the corpus. The vocabulary is learned from the corpus itself, so a corpus of cells tells cells apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..local_features import MIRROR, LocalFeatures
from ..model import Ints
from ..similarity import neighbours

Floats32 = NDArray[np.float32]
VOCABULARY, SHORT, LENGTH = 64, 32, 128
"""Words, dimensions of a shortened local descriptor, dimensions of an image vector (our choice)."""
SAMPLE, FROM, CHUNK = 60_000, 5_000, 2_048
"""Local descriptors that the vocabulary is learned from, images that the axes are learned from, images at once."""


def image_vectors(features: LocalFeatures, seed: int = 0) -> tuple[Floats32, Floats32]:
    """((n, d) vectors, (n, d) vectors of the mirrored images), unit rows; zero rows for images without features."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(len(features)), features.count)
    chosen = np.sort(rng.choice(len(rows), min(len(rows), SAMPLE), replace=False))
    inside = np.arange(len(rows)) - np.repeat(np.cumsum(features.count) - features.count, features.count)
    some = features.descriptors[rows[chosen], inside[chosen]].astype(np.float32) / 255
    if len(some) < VOCABULARY:
        return np.zeros((len(features), 1), np.float32), np.zeros((len(features), 1), np.float32)
    some = np.concatenate([some, some[:, MIRROR]])
    shorten = PCA(SHORT, random_state=0).fit(some)
    words = MiniBatchKMeans(VOCABULARY, random_state=0, n_init=1).fit(shorten.transform(some)).cluster_centers_
    there = np.flatnonzero(features.count)

    def summed(chosen: Ints, order: NDArray[np.intp] | slice) -> Floats32:
        found = (features.descriptors[r, : features.count[r]].astype(np.float32) / 255 for r in chosen.tolist())
        return np.stack([_residuals(shorten.transform(d[:, order]), words) for d in found])

    learned = np.sort(rng.permutation(there)[:FROM])
    axes = PCA(min(LENGTH, len(learned)), svd_solver="randomized", random_state=0)
    axes.fit(np.concatenate([summed(learned, slice(None)), summed(learned, MIRROR)]))
    weight = 1 / np.sqrt(np.sqrt(np.maximum(axes.explained_variance_, 1e-12)))
    plain, mirrored = (np.zeros((len(features), axes.n_components_), np.float32) for _ in range(2))
    for start in range(0, len(there), CHUNK):  # sums of all images at once would be many times what is kept
        rows = there[start : start + CHUNK]
        plain[rows] = _unit(axes.transform(summed(rows, slice(None))) * weight)
        mirrored[rows] = _unit(axes.transform(summed(rows, MIRROR)) * weight)
    return plain, mirrored


def _residuals(short: NDArray[np.floating], words: NDArray[np.floating]) -> Floats32:
    nearest = ((words**2).sum(1) - 2 * short @ words.T).argmin(1)
    total = np.zeros(words.shape, np.float32)
    np.add.at(total, nearest, (short - words[nearest]).astype(np.float32))
    return np.asarray(_unit(_unit(total).reshape(1, -1))[0], np.float32)


def _unit(rows: NDArray[np.floating]) -> Floats32:
    norm = np.sqrt((rows**2).sum(-1, keepdims=True))
    return np.asarray(rows / np.maximum(norm, 1e-9), np.float32)


def candidates(features: LocalFeatures, others: Sequence[Floats32], near: int, seed: int = 0) -> Ints:
    """Pairs to align: for each image its neighbours by local features, as it is and mirrored, and by other vectors.

    Args:
        features: n images.
        others: (n, d) unit rows each, such as colours or a network.
        near: neighbours of each kind.

    Returns:
        int64 (m, 2), a < b, sorted, each pair once.
    """
    plain, mirrored = image_vectors(features, seed)
    n, found = len(features), []
    searches = [(plain, None), (mirrored, plain), *((v, None) for v in others)]
    for queries, searched in searches:
        index = neighbours(queries, min(near + (searched is not None), n), searched)[1]
        a = np.repeat(np.arange(n), index.shape[1])
        b = index.reshape(-1)
        keep = (b >= 0) & (a != b)
        found.append(np.stack([np.minimum(a, b)[keep], np.maximum(a, b)[keep]], axis=1))
    return np.unique(np.concatenate(found), axis=0).astype(np.int64).reshape(-1, 2)
