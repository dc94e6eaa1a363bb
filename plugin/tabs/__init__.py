"""The tabs of the panel: one file a tab, with TITLE, ORDER and `tab(overview, state)` that returns blocks."""

from __future__ import annotations

import importlib
import pkgutil


def tabs():
    """Name -> module, in order."""
    found = [importlib.import_module(f"{__name__}.{i.name}") for i in pkgutil.iter_modules(__path__)]
    named = {m.__name__.rpartition(".")[2]: m for m in found if hasattr(m, "tab")}
    return dict(sorted(named.items(), key=lambda item: (item[1].ORDER, item[0])))
