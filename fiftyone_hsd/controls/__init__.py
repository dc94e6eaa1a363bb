"""Control experiments: one a file, each file with one public function of its own name.

The function takes a `Study` and returns an `Outcome`. Controls that look at pictures hand one way to change a picture
to `_experiment.look`, which reads, trains, compares with chance and with whole pictures, and words the result.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol

from ..errors import FieldError
from ..progress import Progress
from ._study import Outcome, Study

__all__ = ["Control", "Outcome", "Study", "by_name", "names"]


class Control(Protocol):
    """One experiment on a corpus."""

    def __call__(self, study: Study, *, progress: Progress | None = None) -> Outcome: ...


def names() -> list[str]:
    """The experiments there are, by file name."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def by_name(name: str) -> Control:
    """The experiment of that name.

    Raises:
        FieldError: there is no such experiment.
    """
    if name not in names():
        raise FieldError(f"there is no control {name!r}", ", ".join(names()))
    control: Control = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return control
