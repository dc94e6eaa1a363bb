"""The dataset behind a dataset or view."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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


@contextlib.contextmanager
def alone(view: Any) -> Iterator[Any]:
    """An object of the dataset of its own, for a block that changes fields, runs and saved views.

    FiftyOne has one object a dataset and process, and the App's server reloads it at every request in whatever thread:
    a change of its document that is not yet saved is then lost without a word.
    """
    dataset = root(view)
    own = object.__new__(type(dataset))  # a new `Dataset(name)` would declare its metadata field anew
    for name in type(dataset).__slots__:
        if name != "__weakref__" and hasattr(dataset, name):
            setattr(own, name, getattr(dataset, name))
    own.reload()
    try:
        yield own
    finally:
        dataset.reload()
