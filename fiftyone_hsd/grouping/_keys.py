"""The key of one family of names: candidates from left to right, why each is taken or turned down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..model import Ints
from . import _words
from ._companions import with_words
from ._counters import combine, shared
from ._families import Family
from ._fields import Column
from ._roles import Roles, called, roles, rule_of
from ._runs import Runs, runs
from ._standing import RARE, Turned, crossed, judge, source
from ._witness import Witness
from ._word_keys import things_in_words

RUNS = 0.5
"""Confidence in runs: names show that shots come together, not that each run is one thing."""


@dataclass(frozen=True)
class Finding:
    """What one family gives.

    Attributes:
        key: the columns of the key, in the order of the name; empty = nothing found.
        codes: int64 (m,), groups of the family's rows.
        evidence: reasons for it.
        strength: confidence in [0, 1] from the evidence (our choice, an order rather than a probability).
        finer: (rule, codes) of the levels below.
        turned: candidates that lost.
        reason: why nothing was found, "" otherwise.
        runs: runs of a count where no field is the key.
    """

    key: tuple[Column, ...] = ()
    codes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    evidence: tuple[str, ...] = ()
    strength: float = 0.0
    finer: tuple[tuple[str, Ints], ...] = ()
    turned: tuple[Turned, ...] = ()
    reason: str = ""
    runs: Runs | None = None

    @property
    def found(self) -> bool:
        """Whether the family has groups of its own."""
        return bool(self.key) or self.runs is not None


def find(family: Family, labels: Ints | None, label_column: Column | None, images: Witness | None = None) -> Finding:
    """The coarsest field of a family that names things several files show.

    Args:
        family: the names.
        labels: int64 (m,), labels of the family's names, -1 = none; None without labels.
        label_column: the label as a column, where equal names need it to be told apart.
        images: the images of the family's names as a witness, None without images.
    """
    part = roles(family, labels, images)
    sources: list[Column] = []
    turned: list[Turned] = []
    best: tuple[tuple[Column, ...], Ints, list[str], float] | None = None
    for number, column in enumerate(part.identifiers):
        later = part.identifiers[number + 1 :]
        keyed = with_words(column, part, sources, later, labels, label_column)
        if (across := _beside(column, later)) is not None:
            both = tuple(sorted((*keyed.key, across), key=lambda c: c.at))
            keyed = replace(keyed, key=both, codes=combine(keyed.codes, across.codes))
            column = replace(across, hint="well")
        if column.kind == "time" and sources and sources[-1].kind == "date":
            moment = combine(sources[-1].codes, keyed.codes)
            keyed = replace(keyed, key=(sources[-1], *keyed.key), codes=moment)
        key, codes, why, sure = keyed.key, keyed.codes, keyed.why, keyed.sure
        verdict, evidence, strength = judge(column, keyed, part, labels)
        if verdict:
            weak = codes if verdict.startswith("nothing") else None
            turned.append(Turned(rule_of(key), int(codes.max()) + 1, verdict, weak))
            if column.kind == "date" or column.hint in _words.SOURCE or "fewer than" in verdict:
                sources.append(column)
            continue
        views = crossed(column, later)
        better = views or source(column, codes, later)
        if better:
            turned.append(Turned(rule_of(key), int(codes.max()) + 1, better))
            sources += [] if views else [column]
            # What a source holds is only better if it stands the test itself.
            best = best or (key, codes, [*evidence, *why], strength * 0.6)
            continue
        best = (key, codes, [*evidence, *why], strength if sure else strength * 0.85)
        break
    if best is None:
        best = things_in_words(part, labels, turned)
    if best is None and (series := runs(part, labels)) is not None:
        turned += _rest_turned(part, (series.column,))
        return Finding((), series.codes, series.evidence, RUNS, (), tuple(turned), "", series)
    if best is None:
        return Finding(turned=tuple(turned), reason=_reason(part, turned))
    key, codes, reasons, strength = best
    turned += _rest_turned(part, key)
    return Finding(key, codes, tuple(reasons), strength, _finer(key, codes, part), tuple(turned))


def _beside(row: Column, later: tuple[Column, ...]) -> Column | None:
    """The column number that makes a well together with a row number (`r02c13`, `row2_col13`)."""
    beside = next((c for c in later if c.place - row.place <= 1), None)
    if beside is None or (row.hint, beside.hint) not in (("r", "c"), ("row", "col"), ("row", "column")):
        return None
    return beside if row.distinct <= 16 and beside.distinct <= 24 else None


def _finer(key: tuple[Column, ...], codes: Ints, part: Roles) -> tuple[tuple[str, Ints], ...]:
    levels: list[tuple[str, Ints]] = []
    last = max((c.place, c.part) for c in key)
    names = rule_of(key)
    for c in part.identifiers:
        if (c.place, c.part) <= last or c in key:
            continue
        below = combine(codes, c.codes)
        if below.max() >= 1.02 * (codes.max() + 1) - 1 and shared(below) >= 0.2:
            names = f"{names}, then {called(c)}"
            levels.append((names, below))
            codes = below
    return tuple(levels)


def _rest_turned(part: Roles, key: tuple[Column, ...]) -> list[Turned]:
    found = []
    for c in part.varying:
        if c in key:
            continue
        if id(c) in part.like_class:
            found.append(Turned(called(c), c.distinct, "it only repeats the class"))
        elif id(c) in part.split:
            found.append(Turned(called(c), c.distinct, "it names a part of a split or of the packing"))
        elif shared(c.codes) < RARE:
            found.append(Turned(called(c), c.distinct, "it is different in (nearly) every file"))
    return found


def _reason(part: Roles, turned: list[Turned]) -> str:
    """Why a family has no key, in words."""
    unique = [c for c in part.identifiers if shared(c.codes) < RARE]
    same_class = [c for c in part.varying if id(c) in part.like_class]
    opaque = [c for c in unique if c.kind == "opaque"]
    if opaque:
        text = opaque[0].values[0]
        kind = "UIDs" if "." in text else "UUIDs" if "-" in text else f"hashes of {len(text)} characters"
        return f"names are {kind}, different in every file: they hold nothing about groups"
    also = "; what else there is only repeats the class" if same_class else ""
    if not part.identifiers:
        if same_class:
            return "what repeats in the names only repeats the class"
        return "names hold no number or code"
    for c in reversed(part.identifiers):
        codes = c.codes
        for word in part.words:
            codes = combine(codes, word.codes)
        if shared(codes) < RARE and c.kind in ("number", "code"):
            again = " that starts again under each word before it" if c not in unique else ""
            others = [t for t in turned if "every file" not in t.why and "class" not in t.why and t.rule != called(c)]
            more = f"; {others[0].rule}: {others[0].why}" if others else also
            return f"names hold a bare count{again}, {called(c)}{more}"
    return f"{turned[0].rule}: {turned[0].why}" if turned else "names hold nothing that repeats"
