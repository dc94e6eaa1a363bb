"""What the names say about groups, as values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Ints


@dataclass(frozen=True, eq=False)
class NameLevel:
    """A finer level of the names below the group.

    Attributes:
        rule: the level in words.
        codes: int64 (n,), -1 = unmatched.
        groups: number of groups.
    """

    rule: str
    codes: Ints
    groups: int


@dataclass(frozen=True)
class RunnerUp:
    """A rule that lost: in words, its number of groups, and why."""

    rule: str
    groups: int
    why: str


@dataclass(frozen=True, eq=False)
class NameRule:
    """What the names say about groups.

    Attributes:
        codes: int64 (n,), group of each name; -1 = the rule does not match it (all -1 on abstention).
        rule: the rule in words, "" on abstention.
        pattern: regular expression (`regex` module) over the relative path whose group `group`, or whose groups
            `group_1`, `group_2` together, are the group; "" on abstention and where the label is part of the key.
        confidence: [0, 1], 0 on abstention; an order of how much speaks for the rule, not a probability.
        matched: share of the names that the rule matches.
        groups: number of groups.
        levels: finer levels, coarse to fine.
        runners_up: rules that lost and why.
        evidence: what speaks for the rule, in words with numbers.
        abstained: no groups can be read from the names.
        reason: why not, "" unless abstained.
    """

    codes: Ints
    rule: str
    pattern: str
    confidence: float
    matched: float
    groups: int
    levels: tuple[NameLevel, ...]
    runners_up: tuple[RunnerUp, ...]
    evidence: tuple[str, ...]
    abstained: bool
    reason: str

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes, np.int64).view()
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
