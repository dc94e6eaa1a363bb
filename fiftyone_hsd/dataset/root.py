"""The dataset behind a dataset or view."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .reading import fiftyone


def root(view: Any) -> Any:
    """The dataset behind a dataset or view.

    Raises:
        InputError: neither of them.
    """
    fo = fiftyone()
    if not isinstance(view, fo.core.collections.SampleCollection):
        raise InputError(f"a {type(view).__name__}", "a FiftyOne dataset or view")
    return view._root_dataset
