"""Descriptors: one a file, each file with one public function of its own name that returns a `Descriptor`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import FieldError


class Descriptor(Protocol):
    """Turns images into vectors.

    Attributes:
        name: identity of method, model, weights and preprocessing; the key of caches and thresholds.
        dim: length of a vector.
    """

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def prepare(self, image: NDArray[np.uint8]) -> NDArray[Any]:
        """What `encode` needs of one RGB image, uint8 (h, w, 3); called in worker threads."""

    def encode(self, batch: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        """float32 (b, dim) of b prepared images; rows need not be of unit length."""


def names() -> list[str]:
    """The descriptors there are, by file name."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def by_name(name: str) -> Descriptor:
    """The descriptor of that name; `timm_model:NAME` and the like pass the part after the colon to its function.

    Raises:
        FieldError: there is no such descriptor.
    """
    kind, _, argument = name.partition(":")
    if kind not in names():
        raise FieldError(f"there is no descriptor {name!r}", ", ".join(names()))
    make = getattr(importlib.import_module(f"{__name__}.{kind}"), kind)
    descriptor: Descriptor = make(argument) if argument else make()
    return descriptor
