from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from fiftyone_hsd.datalab import confident_learning
from fiftyone_hsd.errors import InputError

pytestmark = pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")


def test_labels_against_certain_probabilities_are_flagged():
    truth = np.arange(90) % 3
    probabilities = np.full((90, 4), 0.05)
    probabilities[np.arange(90), truth] = 0.85
    given = truth.copy()
    given[[4, 50]] = (given[[4, 50]] + 1) % 3
    flagged, belief = confident_learning(given, probabilities)
    assert np.flatnonzero(flagged).tolist() == [4, 50]
    assert belief[4] == 0.05
    assert belief[5] == 0.85
    assert not confident_learning(truth, probabilities)[0].any()


def test_a_class_without_samples_and_rows_without_belief():
    given = np.array([0, 2] * 20)
    probabilities = np.tile([0.9, 0.1, 0.0], (40, 1))
    probabilities[1::2] = [0.0, 0.2, 0.8]
    probabilities[0] = [0, 1, 0]
    flagged, belief = confident_learning(given, probabilities)
    assert not flagged[1:].any()
    assert belief[0] == 0


@pytest.mark.parametrize(("labels", "columns"), [([0, 0, 0], 2), ([0, 1, 2], 2), ([0, 1], 2)])
def test_what_does_not_fit(labels, columns):
    with pytest.raises(InputError, match="labels of"):
        confident_learning(np.array(labels), np.full((3, columns), 0.5))
