from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

from fiftyone_hsd.datalab import undisturbed


def test_filters_and_generators_are_as_before_even_after_an_error():
    filters, state, other = list(warnings.filters), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002

    def disturb():
        with undisturbed() as heard:
            warnings.filterwarnings("ignore")
            warnings.simplefilter("always")
            warnings.warn("told", UserWarning, stacklevel=1)
            assert [str(w.message) for w in heard] == ["told"]
            np.random.seed(3)  # noqa: NPY002
            random.random()  # noqa: S311
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        disturb()
    assert list(warnings.filters) == filters
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert random.getstate() == other


@pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")
def test_importing_and_running_leaves_the_process_as_it_was():
    """In a process of its own: importing cleanlab by itself adds filters, and one of its checks reseeds numpy."""
    code = """
import warnings, numpy as np
filters, state = list(warnings.filters), np.random.get_state()[1].copy()
import fiftyone_hsd.datalab as bridge
from fiftyone_hsd.drawn import SMALL, vectors
drawn = vectors(SMALL)
bridge.check(drawn.samples, ["non_iid", "outlier", "spurious_correlations", "dark"], descriptors=drawn.descriptors)
import sys
assert "cleanlab" in sys.modules
assert list(warnings.filters) == filters, warnings.filters
assert np.array_equal(np.random.get_state()[1], state)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
