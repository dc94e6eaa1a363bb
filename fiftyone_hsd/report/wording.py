"""Numbers and untrusted text as people read them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from .blocks import Cell, Estimate, Kind

NONE = "–"
MINUS = "−"
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"))


def shown(text: str) -> str:
    """Text in which nothing is invisible: control, direction-changing and undecodable characters become escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if unicodedata.category(c) not in _INVISIBLE else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if 0xDC80 <= code <= 0xDCFF:  # one undecodable byte of a file name
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short(text: str, length: int = 40) -> str:
    """At most `length` characters; the middle gives way, since names differ at their ends."""
    text = shown(text)
    if len(text) <= length:
        return text
    tail = (length - 1) * 2 // 3
    return f"{text[: length - 1 - tail]}…{text[-tail:]}"


def many(n: int, one: str, several: str = "") -> str:
    """`1 image`, `2,088 images`."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def listed(words: Sequence[str], limit: int = 6) -> str:
    """`a, b and c`; beyond `limit` the rest is counted."""
    items = [shown(w) for w in words]
    if len(items) > limit:
        return f"{', '.join(items[:limit])} and {len(items) - limit:,} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else "none"


def percent(value: float) -> str:
    """`12.3 %`; a share that is not exactly 0 or 1 is never rounded to it."""
    if not math.isfinite(value):
        return NONE
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return f"{value * 100:.1f} %".replace("-", MINUS)


def part(k: int, n: int) -> str:
    """`313 of 700 (44.7 %)`."""
    return f"{k:,} of {n:,} ({percent(k / n)})" if n else f"{k:,} of 0"


def duration(seconds: float) -> str:
    """`42 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def cosine(value: float) -> str:
    """`similarity 0.9873`; what is not exactly alike is never rounded to 1."""
    return "similarity > 0.9999" if 0.99995 <= value < 0.999999 else f"similarity {value:.4f}"


def number(value: float, kind: Kind) -> str:
    """One number in the way of its column."""
    if not math.isfinite(value):
        return NONE
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "share":
        return percent(value)
    if kind == "score":
        return f"{value:.3f}".replace("-", MINUS)
    if kind == "change":
        return f"{value:+.3f}".replace("-", MINUS)
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", MINUS)


def interval(value: Estimate, kind: Kind) -> str:
    """`[0.41, 0.48]`, "" where there is none."""
    if not (math.isfinite(value.low) and math.isfinite(value.high)):
        return ""
    return f"[{number(value.low, kind)}, {number(value.high, kind)}]"


def written(cell: Cell, kind: Kind) -> str:
    """A cell as plain text."""
    if cell is None:
        return NONE
    if isinstance(cell, Estimate):
        how = kind if kind not in ("text", "path", "flag") else cell.kind
        if not math.isfinite(cell.value):
            return "not estimable"
        return " ".join(filter(None, (number(cell.value, how), interval(cell, how))))
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, (int, float)):
        return number(cell, "count" if kind in ("text", "path", "flag") and isinstance(cell, int) else kind)
    return shown(cell)
