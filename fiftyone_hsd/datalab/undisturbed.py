"""Calls into cleanlab that leave the process as it was."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def undisturbed() -> Iterator[list[warnings.WarningMessage]]:
    """Whatever happens inside, the warning filters and the global random generators are afterwards as before.

    cleanlab needs it: importing its image part silences all warnings of the process, and its `non_iid` check reseeds
    numpy's global generator. Warnings inside are neither shown nor raised but collected in the list that is given.
    """
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002 - kept, not used
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield heard
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
