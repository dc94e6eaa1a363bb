"""Groups that are given: a column, a FiftyOne field, a file of (path, group), or columns from coarse to fine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import FieldError
from ..model import Ints, Links, Note, Strings
from . import _words

RESTARTS = 0.5
"""Share of the values of a level that return under several values of the level above, from which on its names are only
known inside that level (slide 1 of every patient); fewer are contradictions."""
EXAMPLES = 5


def metadata(values: ArrayLike, rule: str, source: str = "given") -> Links:
    """Links between the samples that carry the same value.

    Args:
        values: (n,) str, one value a sample; "" = the source is silent about it.
        rule: the rule in words, such as "column patient".
        source: name of the evidence source.

    Returns:
        m - 1 links for every value that m samples share.
    """
    names = np.asarray(values, np.str_)
    codes = np.unique(names, return_inverse=True)[1].astype(np.int64)
    codes[names == ""] = -1
    return Links.from_codes(codes, source, rule)


@dataclass(frozen=True, eq=False)
class Levels:
    """Given levels of one corpus, coarse to fine.

    Attributes:
        names: the columns.
        values: one (n,) str a level, made unique over the levels above where its names start again; "" = not given.
        group: which level is the group: the coarsest that is not where files come from.
        notes: levels that are not nested, with counts and examples.
    """

    names: tuple[str, ...]
    values: tuple[Strings, ...]
    group: int
    notes: tuple[Note, ...]

    @property
    def rule(self) -> str:
        """In words."""
        if len(self.names) == 1:
            return f"column {self.names[0]}"
        return f"column {self.names[self.group]} (of {' > '.join(self.names)})"


def levels(columns: Mapping[str, ArrayLike]) -> Levels:
    """Levels given at once (source > patient > visit > slide > field), checked for being nested.

    Args:
        columns: name -> (n,) str, coarse to fine; "" = not given.

    Raises:
        FieldError: no column is named.
    """
    if not columns:
        raise FieldError("no column is named", "at least one, coarse to fine")
    names = tuple(columns)
    values: list[Strings] = []
    notes: list[Note] = []
    for name, column in columns.items():
        given = np.asarray(column, np.str_)
        if values:
            given, said = _inside(values[-1], names[len(values) - 1], given, name)
            notes += said
        values.append(given)
    group = next((i for i, name in enumerate(names) if not _is_source(name)), len(names) - 1)
    return Levels(names, tuple(values), group, tuple(notes))


def _is_source(name: str) -> bool:
    return name.lower().removesuffix("_id").removesuffix("id").strip("_ ") in _words.SOURCE


def _inside(coarse: Strings, above: str, fine: Strings, name: str) -> tuple[Strings, list[Note]]:
    """A level with names that hold inside the level above, and what contradicts nesting."""
    known = np.flatnonzero((coarse != "") & (fine != ""))
    outer, parents = _coded(coarse[known])
    inner, children = _coded(fine[known])
    cells = np.unique(np.stack([inner, outer]), axis=1)
    under = np.bincount(cells[0], minlength=len(children))
    several = np.flatnonzero(under > 1)
    if not len(several):
        return fine, []
    joined = np.array(
        [f"{a}/{b}" if a and b else b for a, b in zip(coarse.tolist(), fine.tolist(), strict=True)], np.str_
    )
    if len(several) >= RESTARTS * len(children):
        text = f"{name} starts again in every {above} ({len(several)} of {len(children)} values): read inside {above}"
        return joined, [Note("info", "given levels", text, len(several))]
    examples = [
        f"{name} {children[v]} in {above} {', '.join(str(parents[p]) for p in cells[1][cells[0] == v][:4])}"
        for v in several[:EXAMPLES]
    ]
    text = f"{len(several)} of {len(children)} values of {name} lie in several values of {above}: not nested"
    return fine, [Note("problem", "given levels", text, len(several), tuple(examples))]


def _coded(values: Strings) -> tuple[Ints, Strings]:
    names, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), names
