"""faiss gives the answers of the numpy search; the GPU's limits are met with the CPU standing in for it."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd import similarity, similarity_faiss
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Descriptors
from fiftyone_hsd.similarity import neighbours, pairs_above, similar_pairs
from fiftyone_hsd.similarity_blocks import PairList, Rows, find_neighbours
from fiftyone_hsd.similarity_faiss import Faiss, search_cpu

pytest.importorskip("faiss")


def clustered(n, d, seed=0, size=5, spread=0.25):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // size), d))
    x = centres[rng.integers(len(centres), size=n)] + spread * rng.normal(size=(n, d))
    if n > 10:
        x[rng.integers(n, size=n // 8)] = x[rng.integers(n, size=n // 8)]
        x[rng.integers(n, size=2)] = 0
    return (3 * x).astype(np.float32)


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)


def same_pairs(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[2], expected[2], atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 300, 1023, 1025])
@pytest.mark.parametrize("threshold", [-0.1, 0.9, 1.0])
def test_pairs_are_those_of_numpy(n, threshold):
    x, y = clustered(n, 12), clustered(200, 12, seed=1)
    same_pairs(pairs_above(x, threshold, device="faiss"), pairs_above(x, threshold, device="numpy"))
    same_pairs(pairs_above(x, threshold, y, device="faiss"), pairs_above(x, threshold, y, device="numpy"))


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("k", [1, 7, 400])
def test_neighbours_are_those_of_numpy(n, k):
    x, y = clustered(n, 12), clustered(200, 12, seed=1)
    for other in (None, y):
        ours, theirs = neighbours(x, k, other, device="faiss"), neighbours(x, k, other, device="numpy")
        np.testing.assert_array_equal(ours[1], theirs[1])
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)


def test_copies_beyond_every_list_come_in_order_of_the_index():
    x = np.repeat(np.random.default_rng(0).normal(size=(2, 30)), 300, axis=0).astype(np.float32)
    np.testing.assert_array_equal(neighbours(x, 3, device="faiss")[1], neighbours(x, 3, device="numpy")[1])


def gpu(limit=10**9, capped_at=similarity_faiss.GPU_K):
    """A search with a GPU's limits: at most 2,048 neighbours, and no memory for more than `limit` queries."""

    def search(queries, base, k):
        assert k <= capped_at
        if len(queries) > limit:
            raise RuntimeError("StandardGpuResources: alloc fail: out of memory")
        return search_cpu(queries, base, k)

    return search


def run(engine, x, y, threshold):
    a, b = Rows.of(x), None if y is None else Rows.of(y)
    into = PairList(10**7, threshold)
    steps = list(engine.pairs(a, b, threshold, into, 1 << 26))
    i, j, s = into.done()
    assert steps[-1] == (len(a), len(a))
    return a.alive[i], (a if b is None else b).alive[j], s


@pytest.mark.parametrize("size", [5, 150])
@pytest.mark.parametrize("across", [False, True])
def test_rows_at_the_limit_of_k_are_flagged_and_expanded(monkeypatch, size, across):
    """Clusters of 5 fit into the first k = 8; clusters of 150 exceed the largest k = 32 and are searched in full."""
    monkeypatch.setattr(similarity_faiss, "_FIRST_K", 8)
    monkeypatch.setattr(similarity_faiss, "GPU_K", 32)
    x = clustered(600, 12, size=size)
    y = clustered(600, 12, size=size)[::2] if across else None
    engine = Faiss(True, gpu(capped_at=32))
    same_pairs(run(engine, x, y, 0.9), pairs_above(x, 0.9, y))
    assert (engine.expanded > 0) == ("searched again" in engine.words)
    assert engine.expanded > 300 or size == 5


def test_out_of_memory_halves_the_batch_and_says_so():
    x = clustered(1000, 12)
    engine = Faiss(True, gpu(limit=300))
    same_pairs(run(engine, x, None, 0.9), pairs_above(x, 0.9))
    assert engine.batch == 256
    assert "batch halved 6 times" in engine.words
    assert "on the GPU" in engine.words


def test_out_of_memory_to_the_end_moves_to_the_cpu_and_says_so():
    x = clustered(1000, 12)
    engine = Faiss(True, gpu(limit=10))
    same_pairs(run(engine, x, None, 0.9), pairs_above(x, 0.9))
    assert "too little memory on the GPU" in engine.words


def test_another_error_of_the_gpu_is_not_hidden():
    def search(queries, base, k):
        raise RuntimeError("device-side assert")

    with pytest.raises(RuntimeError, match="device-side"):
        run(Faiss(True, search), clustered(100, 4), None, 0.9)


def test_neighbours_with_a_gpus_limits():
    x = clustered(900, 12)
    rows = Rows.of(x)
    engine = Faiss(True, gpu(limit=100))
    ours = list(engine.neighbours(rows, None, 4, 1 << 26))
    theirs = list(find_neighbours(rows, None, 4, 1 << 26))
    np.testing.assert_array_equal(np.concatenate([b[2] for b in ours]), np.concatenate([b[2] for b in theirs]))
    with pytest.raises(InputError, match="at most"):
        next(engine.neighbours(Rows.of(clustered(3000, 4)), None, 2100, 1 << 26))


def test_approximate_pairs_are_exact_pairs_and_the_recall_is_the_true_one(monkeypatch):
    monkeypatch.setattr(similarity, "APPROXIMATE_FROM", 1000)
    x = unit(clustered(6000, 16, spread=0.35))
    graph = similar_pairs(Descriptors("d", x), 0.8, approximate=True, memory=1 << 28)
    exact = similar_pairs(Descriptors("d", x), 0.8)
    found, truth = (set(zip(g.a.tolist(), g.b.tolist(), strict=True)) for g in (graph, exact))
    assert found <= truth
    assert graph.backend.startswith("approximate")
    told = float(graph.backend.split("recall ")[1].split(" ")[0])
    assert abs(told - len(found) / len(truth)) < 0.02
    assert told > 0.95
    assert not exact.backend.startswith("approximate")
    with pytest.raises(InputError, match="at least"):
        similar_pairs(Descriptors("d", x), 0.8, approximate=True, memory=1 << 19)
