"""The one exception tree of the package.

    HsdError
    ├── InputError            what the user gave cannot be used
    │   ├── PathError         a path is missing, unreadable or of the wrong kind
    │   ├── FieldError        a column, FiftyOne field, class or partition of that name does not exist
    │   ├── PatternError      a user's pattern does not compile, or took too long
    │   ├── EmptyError        nothing is left to work on
    │   └── ImageError        one image cannot be read (a row in the failure table, never the end of a run)
    ├── InfeasibleError       no result with the asked-for properties exists (a split, a matching)
    ├── StaleError            what is stored no longer belongs to what is there now
    ├── StoreError            a result cannot be written or read back (full disk, damaged file)
    └── MissingExtraError     a part that is installed on request is not there (faiss, torch, fiftyone, mongod)

Every message says what came, what was allowed, and what to do; `HsdError` puts the three together.
"""

from __future__ import annotations

__all__ = [
    "EmptyError",
    "FieldError",
    "HsdError",
    "ImageError",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "PathError",
    "PatternError",
    "StaleError",
    "StoreError",
]


class HsdError(Exception):
    """Base of all errors of this package.

    Args:
        came: what was found, in words.
        allowed: what would have been accepted ("" if that goes without saying).
        advice: what the user can do now ("" if there is nothing to do).
    """

    def __init__(self, came: str, allowed: str = "", advice: str = "") -> None:
        self.came, self.allowed, self.advice = came, allowed, advice
        parts = [came, f"Allowed: {allowed}" if allowed else "", f"To do: {advice}" if advice else ""]
        super().__init__(". ".join(p.rstrip(".") for p in parts if p) + ".")


class InputError(HsdError, ValueError):
    """What the user gave cannot be used."""


class PathError(InputError):
    """A path is missing, unreadable or of the wrong kind."""


class FieldError(InputError):
    """A column, FiftyOne field, class or partition of that name does not exist."""


class PatternError(InputError):
    """A user's pattern does not compile or took longer than its time limit."""


class EmptyError(InputError):
    """Nothing is left to work on."""


class ImageError(InputError):
    """One image cannot be read; `came` is the reason shown in the failure table."""


class InfeasibleError(HsdError):
    """No result with the asked-for properties exists."""


class StaleError(HsdError):
    """What is stored no longer belongs to what is there now."""


class StoreError(HsdError):
    """A result cannot be written or read back."""


class MissingExtraError(HsdError, ImportError):
    """A part that is installed on request is not there."""
