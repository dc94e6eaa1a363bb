"""Progress calls that can never end a run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

Progress = Callable[[int, int, str], object]
"""`progress(done, total, label)`: called now and then by long functions; its result is ignored."""


def guarded(progress: Progress | None) -> Progress:
    """`progress` with its own failures swallowed, or a function that does nothing.

    KeyboardInterrupt passes: it is how a user stops a run.
    """

    def call(done: int, total: int, label: str) -> None:
        if progress is not None:
            with suppress(Exception):
                progress(done, total, label)

    return call
