"""torch gives the answers of the numpy search; running out of memory changes the tiles, not the answer."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.similarity import choose, neighbours, pairs_above
from fiftyone_hsd.similarity_blocks import PairList, Rows, find_neighbours
from fiftyone_hsd.similarity_torch import Torch

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.train


def clustered(n, d, seed=0, spread=0.25):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 5), d))
    x = centres[rng.integers(len(centres), size=n)] + spread * rng.normal(size=(n, d))
    if n > 10:
        x[rng.integers(n, size=n // 8)] = x[rng.integers(n, size=n // 8)]
        x[rng.integers(n, size=2)] = 0
    return (3 * x).astype(np.float32)


def same_pairs(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[2], expected[2], atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 300, 1023, 1025])
@pytest.mark.parametrize("threshold", [-0.1, 0.9, 1.0])
def test_pairs_are_those_of_numpy(n, threshold):
    x, y = clustered(n, 12), clustered(200, 12, seed=1)
    same_pairs(pairs_above(x, threshold, device="torch"), pairs_above(x, threshold, device="numpy"))
    same_pairs(pairs_above(x, threshold, y, device="torch"), pairs_above(x, threshold, y, device="numpy"))


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("k", [1, 7, 400])
def test_neighbours_are_those_of_numpy(n, k):
    x, y = clustered(n, 12), clustered(200, 12, seed=1)
    for other in (None, y):
        ours, theirs = neighbours(x, k, other, device="torch"), neighbours(x, k, other, device="numpy")
        np.testing.assert_array_equal(ours[1], theirs[1])
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)


def test_copies_beyond_every_list_come_in_order_of_the_index():
    x = np.repeat(np.random.default_rng(0).normal(size=(2, 30)), 300, axis=0).astype(np.float32)
    np.testing.assert_array_equal(neighbours(x, 3, device="torch")[1], neighbours(x, 3, device="numpy")[1])


@pytest.mark.parametrize("side", [16, 100, 700])
@pytest.mark.parametrize("across", [False, True])
def test_neighbours_over_many_tiles(side, across):
    x = clustered(700, 12)
    a, b = Rows.of(x), Rows.of(x[::3]) if across else None
    ours = list(Torch("cpu", "the CPU", side).neighbours(a, b, 4, 1 << 26))
    theirs = list(find_neighbours(a, b, 4, 1 << 26))
    np.testing.assert_array_equal(np.concatenate([t[2] for t in ours]), np.concatenate([t[2] for t in theirs]))
    assert len(ours) == -(-len(a) // side)


class Cramped(Torch):
    """A device with room for blocks of so many rows only."""

    room = 200

    def _put(self, block):
        if self.device == "meta-gpu" and len(block) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate ...")
        return torch.from_numpy(np.array(block))


@pytest.mark.parametrize(("room", "says"), [(200, "tiles halved 3 times"), (1, "too little memory on a small GPU")])
def test_out_of_memory_halves_the_tile_and_at_last_moves_to_the_cpu(room, says):
    x = clustered(1500, 12)
    engine = Cramped("meta-gpu", "a small GPU", 1024)
    engine.room = room
    rows, into = Rows.of(x), PairList(10**6, 0.9)
    assert list(engine.pairs(rows, None, 0.9, into, 1 << 26))[-1] == (len(rows), len(rows))
    i, j, s = into.done()
    same_pairs((rows.alive[i], rows.alive[j], s), pairs_above(x, 0.9))
    assert says in engine.words


def test_another_error_is_not_hidden():
    class Broken(Torch):
        def _put(self, block):
            raise RuntimeError("device-side assert triggered")

    with pytest.raises(RuntimeError, match="device-side"):
        list(Broken("cpu", "the CPU", 64).pairs(Rows.of(clustered(50, 4)), None, 0.9, PairList(9, 0.9), 1 << 26))


def test_the_users_precision_setting_comes_back():
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        pairs_above(clustered(50, 4), 0.9, device="torch")
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.gpu
def test_the_gpu_agrees_with_the_cpu():
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    assert choose("gpu").name == "torch"
    x = clustered(20_000, 64)
    same_pairs(pairs_above(x, 0.9, device="gpu"), pairs_above(x, 0.9, device="cpu"))
    np.testing.assert_array_equal(neighbours(x, 5, device="gpu")[1], neighbours(x, 5, device="cpu")[1])
