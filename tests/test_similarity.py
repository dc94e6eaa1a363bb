"""Every pair and every neighbour against a float64 brute force that shares no code with the search."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fiftyone_hsd import similarity, similarity_blocks
from fiftyone_hsd.errors import InputError, MissingExtraError
from fiftyone_hsd.model import Descriptors
from fiftyone_hsd.similarity import choose, free_memory, neighbours, pairs_above, similar_pairs


def cosines(x, y=None):
    """float64 cosines of the rows as they came; nan for zero rows."""
    a = np.asarray(x, np.float64)
    b = a if y is None else np.asarray(y, np.float64)
    with np.errstate(invalid="ignore"):
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        return np.clip(np.array([(row * b).sum(1) for row in a]).reshape(len(a), len(b)), -1, 1)


def expected_pairs(x, threshold, y=None):
    value = cosines(x, y)
    hit = value >= threshold - 1e-12
    if y is None:
        hit = np.triu(hit, 1)
    i, j = np.nonzero(hit)
    return i, j, value[i, j]


def check_pairs(x, threshold, y=None, **how):
    i, j, s = pairs_above(x, threshold, y, **how)
    a, b, value = expected_pairs(x, threshold, y)
    assert (i.dtype, j.dtype, s.dtype) == (np.int64, np.int64, np.float32)
    assert list(zip(i, j, strict=True)) == list(zip(a, b, strict=True))
    np.testing.assert_allclose(s, value, atol=1e-5, rtol=0)
    assert (np.abs(s) <= 1).all()


def check_neighbours(x, k, y=None, **how):
    s, index = neighbours(x, k, y, **how)
    value = cosines(x, y)
    if y is None:
        np.fill_diagonal(value, np.nan)
    width = min(k, max(0, value.shape[1] - (y is None)))
    assert s.shape == index.shape == (len(value), width)
    for row in range(len(value)):
        there = np.flatnonzero(~np.isnan(value[row]))
        # rounding makes equal what differs only by the order in which float64 added it up
        order = there[np.lexsort((there, -np.round(value[row, there], 12)))][:width]
        found = index[row, index[row] >= 0]
        assert len(found) == len(order)
        np.testing.assert_allclose(value[row, found], value[row, order], atol=2e-12, rtol=0)
        np.testing.assert_allclose(s[row, : len(order)], value[row, order], atol=1e-6, rtol=0)
        assert np.isnan(s[row, len(order) :]).all()
        assert (index[row, len(order) :] == -1).all()
        assert len(set(found.tolist())) == len(found)
        assert found.tolist() == order.tolist()


def clustered(n, d, seed=0, spread=0.25):
    """Unnormalised rows in clusters of about five, with copies, zero rows and opposite rows among them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 5), d))
    x = centres[rng.integers(len(centres), size=n)] + spread * rng.normal(size=(n, d))
    x *= np.exp(rng.normal(size=(n, 1)))
    if n > 10:
        x[rng.integers(n, size=n // 8)] = x[rng.integers(n, size=n // 8)]
        x[rng.integers(n, size=2)] = 0
        x[rng.integers(n)] = -x[rng.integers(n)]
    return x.astype(np.float32)


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 16 rows, so that a few hundred rows meet every block boundary."""
    monkeypatch.setattr(similarity_blocks, "_LARGEST_TILE", 16)


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 31, 32, 33, 130])
@pytest.mark.parametrize("threshold", [-1.5, -1.0, -0.3, 0.0, 0.5, 0.9, 0.999, 1.0, 1.5])
def test_pairs_within_equal_brute_force_on_either_side_of_every_block_boundary(small_tiles, n, threshold):
    check_pairs(clustered(n, 6), threshold)


@pytest.mark.parametrize("m", [0, 1, 16, 33])
@pytest.mark.parametrize("n", [0, 1, 17, 48])
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.8, 1.0])
def test_pairs_across_equal_brute_force(small_tiles, n, m, threshold):
    check_pairs(clustered(n, 6), threshold, clustered(m, 6, seed=1))


@pytest.mark.parametrize("n", [1023, 1024, 1025, 2050])
def test_pairs_equal_brute_force_around_the_real_tile_size(n):
    check_pairs(clustered(n, 20), 0.9)


@pytest.mark.parametrize("n", [0, 1, 2, 17, 33, 130])
@pytest.mark.parametrize("k", [0, 1, 3, 20, 500])
def test_neighbours_equal_brute_force(small_tiles, n, k):
    check_neighbours(clustered(n, 6), k)
    check_neighbours(clustered(n, 6), k, clustered(40, 6, seed=2))


def test_neighbours_across_many_blocks_equal_brute_force(small_tiles):
    check_neighbours(clustered(700, 5, spread=1.0), 4)


@settings(max_examples=150, deadline=None)
@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 40), st.integers(1, 5)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 1e-20, -1e-20, 2.0**-149, 1e18]),
    ),
    st.floats(-1.1, 1.1),
    st.integers(1, 6),
)
def test_any_rows_any_threshold(x, threshold, k):
    value = cosines(x)
    if (np.abs(value - threshold) < 1e-9).any():  # the two float64 sums may round apart
        threshold += 3e-9
    check_pairs(x, threshold)
    check_neighbours(x, k)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-0.2, 1.0))
def test_the_order_of_the_input_changes_nothing(seed, threshold):
    x = clustered(60, 4, seed=3)
    order = np.random.default_rng(seed).permutation(60)
    i, j, _ = pairs_above(x[order], threshold)
    there = {tuple(sorted(p)) for p in zip(order[i], order[j], strict=True)}
    assert there == set(zip(*(c.tolist() for c in pairs_above(x, threshold)[:2]), strict=True))


@pytest.mark.parametrize("scale", [1.0, 37.0])
def test_pairs_within_a_hair_of_the_threshold_are_decided_in_float64(scale):
    """At d = 512 float32 sums are off by about 1e-7; pairs 2e-9 above and below must still come out right."""
    rng = np.random.default_rng(0)
    threshold = 0.9
    base = rng.normal(size=(200, 512)).astype(np.float32)
    y = base + 0.48 * rng.normal(size=base.shape).astype(np.float32)
    for row in range(200):  # walk the mixing weight until the float64 cosine is a hair away from the threshold
        lo, hi = 0.0, 3.0
        noise = y[row] - base[row]
        for _ in range(60):
            mid = (lo + hi) / 2
            y[row] = base[row] + np.float32(mid) * noise
            lo, hi = (mid, hi) if cosines(base[row : row + 1], y[row : row + 1])[0, 0] > threshold else (lo, mid)
    value = np.diag(cosines(base, y))
    assert np.median(np.abs(value - threshold)) < 1e-8
    assert 0.2 < (value >= threshold).mean() < 0.8
    check_pairs(base * np.float32(scale), threshold, y)


def test_identical_rows_reach_a_threshold_of_exactly_one():
    x = np.random.default_rng(0).normal(size=(50, 333)).astype(np.float32)
    i, j, s = pairs_above(np.concatenate([x, x]), 1.0)
    assert i.tolist() == list(range(50))
    assert j.tolist() == list(range(50, 100))
    assert (s == 1).all()


def test_a_large_cluster_of_copies_is_ordered_by_index():
    """More copies than any candidate list keeps: the rows hit the limit and are searched in full."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(3, 100)), 400, axis=0).astype(np.float32)
    x = x[rng.permutation(len(x))]
    s, index = neighbours(x, 5)
    for row in range(len(x)):
        same = np.flatnonzero((x == x[row]).all(1))
        assert index[row].tolist() == same[same != row][:5].tolist()
    np.testing.assert_allclose(s, 1, atol=1e-7)


def test_zero_rows_match_nothing_even_below_zero():
    x = np.zeros((4, 3), np.float32)
    x[1] = x[3] = [0, 2, 0]
    i, j, _ = pairs_above(x, -1.0)
    assert (i.tolist(), j.tolist()) == ([1], [3])
    s, index = neighbours(x, 2)
    assert index.tolist() == [[-1, -1], [3, -1], [-1, -1], [1, -1]]
    assert np.isnan(s[0]).all()


def test_only_zero_rows():
    assert len(pairs_above(np.zeros((5, 3)), 0.0)[0]) == 0
    assert (neighbours(np.zeros((5, 3)), 1)[1] == -1).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.uint8])
def test_other_dtypes_and_layouts(dtype):
    x = (np.random.default_rng(0).random((60, 9)) * 50).astype(dtype)
    check_pairs(x, 0.9)
    check_pairs(np.asfortranarray(x), 0.9)
    check_pairs(np.repeat(x, 2, axis=1)[:, ::2], 0.9)


def test_the_input_is_not_changed_and_may_be_read_only_or_mapped(tmp_path):
    x = clustered(80, 7)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    check_pairs(mapped, 0.8)
    check_neighbours(mapped, 3)
    np.testing.assert_array_equal(mapped, clustered(80, 7))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.zeros(3), None),
        (np.array([["a"]]), None),
        (np.array([[np.nan, 1.0]]), None),
        (np.array([[np.inf, 1.0]]), None),
        (np.ones((2, 3)), np.ones((2, 4))),
    ],
)
def test_what_cannot_be_searched_is_refused(x, y):
    with pytest.raises(InputError):
        pairs_above(x, 0.5, y)
    with pytest.raises(InputError):
        neighbours(x, 1, y)


def test_other_refusals():
    x = np.ones((3, 2))
    with pytest.raises(InputError, match="threshold"):
        pairs_above(x, float("nan"))
    with pytest.raises(InputError, match="k = -1"):
        neighbours(x, -1)
    with pytest.raises(InputError, match="device 'tpu'"):
        pairs_above(x, 0.5, device="tpu")
    with pytest.raises(InputError, match="memory cap"):
        pairs_above(np.ones((3, 4000)), 0.5, memory=10_000)


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("megabytes", [4, 16, 64])
@pytest.mark.parametrize("threshold", [0.95, 0.55])
def test_the_memory_cap_holds(megabytes, threshold):
    """Many pairs (0.55: about 60,000 of them) or few, the peak beside the input stays below the cap."""
    x = clustered(3000, 64, spread=0.8)
    cap = megabytes << 20
    graph = Descriptors("d", x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30))
    assert peak_of(lambda: similar_pairs(graph, threshold, memory=cap)) < cap
    assert peak_of(lambda: pairs_above(x, 0.95, memory=cap)) < cap
    assert peak_of(lambda: neighbours(x, 10, memory=cap)) < cap + x.shape[0] * 10 * 12


def test_a_small_cap_changes_no_result():
    x = clustered(900, 32)
    for a, b in zip(pairs_above(x, 0.8, memory=2 << 20), pairs_above(x, 0.8, memory=1 << 30), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    np.testing.assert_array_equal(neighbours(x, 5, memory=2 << 20)[1], neighbours(x, 5, memory=1 << 30)[1])


def test_more_pairs_than_fit_are_an_error_here_and_a_flag_there():
    x = np.random.default_rng(0).random((1200, 4)).astype(np.float32)
    with pytest.raises(InputError, match="do not fit"):
        pairs_above(x, 0.0, memory=4 << 20)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    graph = similar_pairs(Descriptors("d", x), 0.0, memory=4 << 20)
    assert graph.truncated
    everything = np.sort(expected_pairs(x, 0.0)[2])[::-1]
    np.testing.assert_allclose(np.sort(graph.similarity)[::-1], everything[: len(graph.a)], atol=1e-6)


@pytest.mark.parametrize("limit", [1, 7, 100, 10_000])
def test_max_pairs_keeps_the_most_similar(small_tiles, limit):
    x = clustered(150, 5)
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    graph = similar_pairs(Descriptors("d", x), 0.2, max_pairs=limit)
    a, _, value = expected_pairs(x, 0.2)
    assert graph.truncated == (len(a) > limit)
    assert len(graph.a) == min(limit, len(a))
    np.testing.assert_allclose(np.sort(graph.similarity), np.sort(value)[-limit:], atol=1e-6)
    assert sorted(zip(graph.a, graph.b, strict=True)) == list(zip(graph.a, graph.b, strict=True))


def test_moving_the_threshold_reuses_the_stored_pairs():
    x = clustered(150, 5)
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    graph = similar_pairs(Descriptors("d", x), 0.3, calibration="from a null")
    moved = graph.above(0.8)
    again = similar_pairs(Descriptors("d", x), 0.8)
    np.testing.assert_array_equal(moved.a, again.a)
    np.testing.assert_array_equal(moved.b, again.b)
    assert "from a null" in moved.calibration
    assert graph.backend == "numpy blocks, exact"
    with pytest.raises(InputError, match="search again"):
        graph.above(0.2)


def test_approximate_is_not_used_below_its_size_and_says_so():
    x = np.eye(3, dtype=np.float32)
    graph = similar_pairs(Descriptors("d", x), 0.3, approximate=True)
    assert graph.backend == f"numpy blocks, exact; approximate search starts at {similarity.APPROXIMATE_FROM:,} rows"


def test_progress_counts_up_and_a_failing_one_is_ignored():
    seen = []
    pairs_above(clustered(2100, 4), 0.99, progress=lambda *a: seen.append(a))
    assert [done for done, _, _ in seen] == list(range(1, 7))
    assert {total for _, total, _ in seen} == {6}

    def broken(*_):
        raise RuntimeError

    pairs_above(clustered(50, 4), 0.99, progress=broken)
    neighbours(clustered(50, 4), 2, progress=broken)


def test_the_choice_of_a_backend():
    assert choose("cpu").name == "numpy"
    assert choose("auto", work=10).name == "numpy"
    assert free_memory() > 0


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_an_error_with_advice():
    with pytest.raises(MissingExtraError, match="device="):
        choose("gpu")


def test_searching_loads_neither_torch_nor_faiss():
    code = (
        "import sys, numpy as np; from fiftyone_hsd.similarity import *\n"
        "x = np.random.default_rng(0).normal(size=(500, 8)); pairs_above(x, .5); neighbours(x, 3)\n"
        "assert not {'torch', 'faiss', 'fiftyone'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
