"""Groups by a user's regular expression over the path relative to the root."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..errors import PatternError
from ..model import Strings

SECONDS = 10.0
"""Time that one pattern may take over all names; patterns from users must not hang."""


def pattern_groups(names: Sequence[str], expression: str, *, seconds: float = SECONDS) -> Strings:
    """The group of each name: the named group `group`, or all named groups together, joined by `/`.

    Args:
        names: n paths relative to the root, "/" between directories.
        expression: regular expression, searched anywhere in a name.
        seconds: bound on the time for all names together.

    Returns:
        (n,) str; "" where the expression does not match.

    Raises:
        PatternError: it does not compile, has no named group, or took too long.
    """
    import regex

    advice = r"for example (?P<group>patient\d+)"
    if not isinstance(expression, str):
        raise PatternError(f"the pattern {expression!r} is no text", "a regular expression", advice)
    try:
        compiled = regex.compile(expression)
    except regex.error as error:
        raise PatternError(
            f"the pattern {expression!r} does not compile ({error})", "a regular expression", advice
        ) from None
    named = ["group"] if "group" in compiled.groupindex else sorted(compiled.groupindex, key=compiled.groupindex.get)
    if not named:
        raise PatternError(f"the pattern {expression!r} has no named group", "at least one (?P<name>...)", advice)
    end = time.monotonic() + seconds
    found = []
    for name in names:
        left = end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            match = compiled.search(name, timeout=left)
        except TimeoutError:
            raise PatternError(
                f"the pattern {expression!r} took more than {seconds:g} s; it was at {name[:200]!r}",
                "patterns that do not backtrack without bound",
                "avoid nested repeats such as (a+)+",
            ) from None
        found.append("/".join(match.group(k) or "" for k in named) if match else "")
    return np.array(found, dtype=np.str_)
