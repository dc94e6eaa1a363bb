"""The chapters of a report: one a file, each with one public function `section(report) -> Section | None`.

None = the report has nothing for this chapter. A new file is found by itself; `Section.order` says where it stands.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence

from ...model import AuditReport
from ..blocks import Section

SectionOf = Callable[[AuditReport], Section | None]


def names() -> list[str]:
    """Files of this folder, by name."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__))


def build(report: AuditReport, extra: Sequence[SectionOf] = ()) -> list[Section]:
    """Every section that has something to say, in order; `extra`: functions of third parties."""
    functions = [importlib.import_module(f"{__name__}.{name}").section for name in names()]
    built = [s for s in (make(report) for make in (*functions, *extra)) if s is not None]
    return sorted(built, key=lambda s: (s.order, s.key))
