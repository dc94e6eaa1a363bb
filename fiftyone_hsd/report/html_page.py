"""report.html: one page that needs nothing but itself.

All text is escaped by jinja2; plotly, which reads some HTML tags in its labels, gets every string of a figure escaped
once more, `hovertemplate` aside; data in scripts has no `<`. A content policy allows exactly the scripts of this page
and no request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from .blocks import Cell, Column, Estimate, Fact, Figure, Pictures, Section
from .pictures import thumbnails
from .wording import interval, number, shown, written

ASSETS = Path(__file__).parent / "assets"
NUMERIC = frozenset(("count", "number", "share", "score", "change"))


def page(title: str, verdict: str, sections: Sequence[Section], *, pictures: bool = True) -> str:
    """The page as text.

    Args:
        title: shown in the browser's tab and above the verdict.
        verdict: the answer in one sentence.
        sections: in their order.
        pictures: False = no picture of the corpus is embedded, only names.
    """
    shelf = [p for s in sections for b in s.blocks if isinstance(b, Pictures) for r in b.rows for p in r.pictures]
    made = {p.path: p.uri for p in shelf if p.uri}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    figures: list[dict[str, Any]] = []

    def figure_id(block: Figure) -> str:
        figures.append(_spec(block))
        return f"figure-{len(figures)}"

    environment.filters["shown"] = shown
    environment.globals.update(
        kind_of=lambda b: type(b).__name__.lower(),
        figure_id=figure_id,
        figure_data=lambda: Markup(script_json(figures)),  # noqa: S704 - script_json leaves no markup
        cell=_cell,
        value_of=_value,
        numeric=lambda c: c.kind in NUMERIC,
    )
    needed = any(isinstance(b, Figure) for s in sections for b in s.blocks)
    scripts = [*([_plotly()] if needed else []), (ASSETS / "page.js").read_text("utf-8")]
    return environment.get_template("page.html.j2").render(
        title=shown(title),
        verdict=verdict,
        sections=sections,
        pictures={**thumbnails(p.path for p in shelf if not p.uri), **made} if pictures else {},
        with_pictures=pictures,
        style=Markup((ASSETS / "page.css").read_text("utf-8")),  # noqa: S704 - our own file
        scripts=[Markup(s) for s in scripts],  # noqa: S704 - our own file and plotly's
        policy=_policy(scripts),
    )


def script_json(value: Any) -> str:
    """JSON for a script element: nothing in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plotly() -> str:
    import plotly.offline

    return str(plotly.offline.get_plotlyjs())


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {hashes}; "
        "base-uri 'none'; form-action 'none'"
    )


def _spec(block: Figure) -> dict[str, Any]:
    return {
        "data": [_safe(t) for t in block.data],
        "layout": {**_safe(block.layout), "height": block.height},
        "title": shown(block.title),
    }


def _safe(value: Any, key: str = "") -> Any:
    """Plain JSON types; every string escaped for plotly's own small HTML, `hovertemplate` aside; nan becomes null."""
    if isinstance(value, Mapping):
        return {str(k): _safe(v, str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_safe(v, key) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, np.generic):
        return _safe(value.item(), key)
    if isinstance(value, str):
        return value if key == "hovertemplate" else html.escape(shown(value), quote=False)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _value(fact: Fact) -> Markup:
    """The value of a fact, its interval in smaller type."""
    value = fact.value
    if not isinstance(value, Estimate) or not math.isfinite(value.value):
        return Markup("{}").format(written(value, fact.kind))
    kind = fact.kind if fact.kind in NUMERIC else value.kind
    small = interval(value, kind)
    return Markup('{}<span class="ci">{}</span>').format(number(value.value, kind), small)


def _cell(value: Cell, column: Column) -> Markup:
    """A table cell; numbers with their interval and n in smaller type."""
    if not isinstance(value, Estimate) or not math.isfinite(value.value):
        return Markup("{}").format(written(value, column.kind))
    small = interval(value, column.kind)
    parts = [Markup('<span class="v">{}</span>').format(number(value.value, column.kind))]
    if small:
        parts.append(Markup('<span class="ci">{}</span>').format(small))
    if value.n:
        parts.append(Markup('<span class="n">n = {:,}</span>').format(value.n))
    return Markup(" ").join(parts)
