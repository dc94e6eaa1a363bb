from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.datalab import knn_graph
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Descriptors


def unit(x):
    return Descriptors("drawn", (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32))


def test_the_graph_is_that_of_all_pairs():
    x = unit(np.random.default_rng(0).normal(size=(40, 6)))
    graph = knn_graph(x, 7)
    wide = x.values.astype(np.float64)
    distance = 1 - wide @ wide.T
    np.fill_diagonal(distance, np.inf)
    assert graph.shape == (40, 40)
    assert np.array_equal(np.diff(graph.indptr), np.full(40, 7))
    assert np.array_equal(graph.indices.reshape(40, 7), np.argsort(distance, axis=1)[:, :7])
    assert np.allclose(graph.data.reshape(40, 7), np.sort(distance, axis=1)[:, :7], atol=1e-6)


def test_twins_are_at_distance_zero_exactly():
    x = np.random.default_rng(0).normal(size=(30, 50))
    graph = knn_graph(unit(np.concatenate([x, x * 1.7])), 3)
    assert (graph.data.reshape(60, 3)[:, 0] == 0).all()
    assert (graph.data.reshape(60, 3)[:, 1] > 0.1).all()


def test_a_sample_without_a_vector_is_far_from_everything():
    x = unit(np.random.default_rng(0).normal(size=(5, 4))).values.copy()
    x[2] = 0
    graph = knn_graph(Descriptors("drawn", x))
    assert graph.nnz == 20
    assert graph[2].data.tolist() == [2.0] * 4
    assert sorted(graph[2].indices.tolist()) == [0, 1, 3, 4]
    assert (graph.indices.reshape(5, 4) != np.arange(5)[:, None]).all()


def test_too_few_samples():
    with pytest.raises(InputError, match="1 samples"):
        knn_graph(unit(np.ones((1, 3))))
