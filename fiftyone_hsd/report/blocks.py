"""What a report is made of: frozen data that says what to show, and nothing about how.

Text in blocks is raw: it may hold anything a file name can hold. Every renderer escapes it in its own way. The only
trusted text is a figure's `hovertemplate`, which therefore must never contain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..model import Level

Kind = Literal["text", "path", "count", "number", "share", "score", "change", "flag"]
"""How a column is written: text as it is, 1,234, 3 digits, 12.3 %, 0.123, +0.123, yes or no."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval and what it rests on; nan = not estimable, `n` = 0: not counted here.

    Attributes:
        value, low, high: in the unit of the column they stand in.
        n: number of samples or groups.
        kind: how it is written where no column says so.
    """

    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    kind: Kind = "score"


Cell = str | int | float | bool | None | Estimate


@dataclass(frozen=True)
class Text:
    """A paragraph; `meaning` tells how to read the numbers beside it."""

    text: str
    kind: Literal["plain", "meaning"] = "plain"


@dataclass(frozen=True)
class Fact:
    """One number or word with its name and what it means."""

    label: str
    value: Cell
    meaning: str = ""
    kind: Kind = "text"


@dataclass(frozen=True)
class Facts:
    """A list of facts."""

    rows: tuple[Fact, ...]
    title: str = ""


@dataclass(frozen=True)
class Notice:
    """Something that must be known, with how often it happened and a few examples."""

    level: Level
    topic: str
    text: str
    count: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind = "text"
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under named columns.

    Attributes:
        rows: one tuple a row, one cell a column.
        total: rows there are in all, if `rows` shows only the first; 0 = all are shown.
        file: the file of this report that holds all of them.
        notes: lines below the table: methods, reading aids.
        folded: closed until the reader opens it.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int = 0
    file: str = ""
    notes: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """A plotly figure as plain data.

    Attributes:
        data: plotly traces; colours as tokens (`@c1`..`@c6`, `@ink`, `@muted`) that follow the reader's light or dark
            theme.
        layout: plotly layout without colours and fonts.
        caption: how to read it.
        height: in CSS pixels.
        rows: the same numbers as a table, for readers without eyes or scripts.
    """

    title: str
    data: tuple[Mapping[str, Any], ...]
    layout: Mapping[str, Any]
    caption: str = ""
    height: int = 360
    rows: Table | None = None


@dataclass(frozen=True)
class Picture:
    """One image of the corpus.

    Attributes:
        path: file to read, or a name of its own where `uri` holds the picture.
        name: its id.
        lines: what is said below it.
        tag: a word on it (a partition, a class).
        strong: the picture the others are compared with.
        uri: data URI of a picture that was made from the image; "" = the file itself is shown.
    """

    path: str
    name: str
    lines: tuple[str, ...] = ()
    tag: str = ""
    strong: bool = False
    uri: str = ""


@dataclass(frozen=True)
class PictureRow:
    """Images that are to be looked at side by side; `more` = how many further ones there are."""

    title: str
    detail: str
    pictures: tuple[Picture, ...]
    more: int = 0


@dataclass(frozen=True)
class Pictures:
    """Rows of images."""

    title: str
    rows: tuple[PictureRow, ...]
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Something to type."""

    text: str
    caption: str = ""


Block = Text | Facts | Notice | Table | Figure | Pictures | Code


@dataclass(frozen=True)
class Section:
    """One chapter.

    Attributes:
        key: short name for links, unique in a report.
        order: place in the report; equal ones by key.
        lead: the answer of the section in one or two sentences.
    """

    key: str
    title: str
    order: int
    lead: str
    blocks: tuple[Block, ...]
