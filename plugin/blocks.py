"""What a tab shows, as plain data: a tab returns blocks, `drawing` turns them into the App's own views.

Text is raw; it may hold anything that a file name or a class can hold. Every click is a filter (see
fiftyone_hsd/dataset/filters.py) that the server looks up again, so nothing a browser sends is ever a filter itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fiftyone_hsd.dataset.arranging import EXPOSED, NEUTRAL, UNEXPOSED

__all__ = ["EXPOSED", "NEUTRAL", "UNEXPOSED"]


@dataclass(frozen=True)
class Head:
    """A heading with a line below it."""

    title: str
    text: str = ""


@dataclass(frozen=True)
class Said:
    """A sentence that must be seen: info, success, warning or error."""

    text: str
    severity: str = "info"
    more: str = ""


@dataclass(frozen=True)
class Click:
    """What a click shows: a filter, the words for it, and the fields to draw on the images."""

    label: str
    wanted: Mapping[str, Any]
    fields: Sequence[str] = ()


@dataclass(frozen=True)
class Buttons:
    """A row of buttons."""

    name: str
    clicks: Sequence[Click]


@dataclass(frozen=True)
class Actions:
    """Buttons that open the form of an operator: (label, operator's name, parameters)."""

    name: str
    operators: Sequence[tuple[str, str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Plot:
    """A plotly figure; `clicks[trace][point]` is what a click shows, None = nothing."""

    name: str
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    clicks: Sequence[Sequence[Click | None]] = ()
    height: int = 260


@dataclass(frozen=True)
class Rows:
    """A table; `clicks[i]` is what the action of row i shows."""

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Mapping[str, Any]]
    clicks: Sequence[Click | None] = ()
    action: str = "Show"


@dataclass(frozen=True)
class Choice:
    """One of several values, kept in the panel's state under `name`."""

    name: str
    label: str
    values: Sequence[tuple[str, str]]
    value: str


@dataclass(frozen=True)
class Slide:
    """A number on a scale, kept in the panel's state under `name`."""

    name: str
    label: str
    low: float
    high: float
    step: float
    value: float


Block = Head | Said | Buttons | Actions | Plot | Rows | Choice | Slide
