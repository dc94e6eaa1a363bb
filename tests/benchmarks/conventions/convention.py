"""What a convention of file names is, and the list of all of them."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Name = tuple[str, object, object]
"""(path, true group, label); the group of a convention that holds none is ignored."""
Draw = Callable[[random.Random], Iterator[Name]]


@dataclass(frozen=True)
class Convention:
    """One way of naming files.

    Attributes:
        name: of the function that draws it.
        draw: yields the names of one corpus.
        groups: whether the names hold groups that can be read without further knowledge.
        needs_labels: whether that is so only if labels are known (else the convention is not scored without labels).
        later: written after the engine had been measured on the others, so never held out.
    """

    name: str
    draw: Draw
    groups: bool
    needs_labels: bool
    later: bool = False

    @property
    def held_out(self) -> bool:
        """Whether the engine may not be changed because of it: decided by a hash before anything was measured."""
        return not self.later and hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


EVERY: list[Convention] = []


def yes(draw: Draw) -> Draw:
    """Registers a convention whose names hold groups."""
    EVERY.append(Convention(draw.__name__, draw, True, False))
    return draw


def yes_given_labels(draw: Draw) -> Draw:
    """Registers a convention whose counters start again in every class, and only the label says which class."""
    EVERY.append(Convention(draw.__name__, draw, True, True))
    return draw


def no(draw: Draw) -> Draw:
    """Registers a convention whose names hold no groups."""
    EVERY.append(Convention(draw.__name__, draw, False, False))
    return draw


def no_given_labels(draw: Draw) -> Draw:
    """Registers a convention whose key is the class; without labels that key would be a fair guess."""
    EVERY.append(Convention(draw.__name__, draw, False, True))
    return draw


def yes_later(draw: Draw) -> Draw:
    """As `yes`, of the second collection."""
    EVERY.append(Convention(draw.__name__, draw, True, False, True))
    return draw


def no_later(draw: Draw) -> Draw:
    """As `no`, of the second collection."""
    EVERY.append(Convention(draw.__name__, draw, False, False, True))
    return draw


def no_later_given_labels(draw: Draw) -> Draw:
    """As `no_given_labels`, of a later collection."""
    EVERY.append(Convention(draw.__name__, draw, False, True, True))
    return draw


def pick(r: random.Random, n: int, low: int, high: int) -> list[int]:
    """n different numbers in order."""
    return sorted(r.sample(range(low, high), n))


def hexa(r: random.Random, n: int) -> str:
    """n hexadecimal digits."""
    return "".join(r.choice("0123456789abcdef") for _ in range(n))


def letters(r: random.Random, n: int, alphabet: str = string.ascii_uppercase) -> str:
    """n random letters."""
    return "".join(r.choice(alphabet) for _ in range(n))


def uuid(r: random.Random) -> str:
    """A random UUID."""
    h = hexa(r, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


def uid(r: random.Random, root: str = "1.2.840.113654.2.55") -> str:
    """A DICOM UID under one root."""
    return f"{root}.{r.randrange(10**9)}.{r.randrange(10**9, 10**10)}.{r.randrange(1, 10**6)}"


def day(r: random.Random, first: int = 2015, years: int = 5) -> tuple[int, int, int]:
    """Year, month, day."""
    return first + r.randrange(years), r.randint(1, 12), r.randint(1, 28)


def clock(r: random.Random) -> tuple[int, int, int]:
    """Hour, minute, second of a working day."""
    return r.randint(7, 18), r.randrange(60), r.randrange(60)
