"""Entry of the FiftyOne plugin. FiftyOne runs this file again for every request, so it only finds and registers."""

from __future__ import annotations

from . import bootstrap


def register(plugin):
    """Register every operator and panel; where they cannot be imported, one operator that says why and what to type."""
    try:
        classes = [*bootstrap.load_package("operators", __name__).classes(), *bootstrap.panels(__name__)]
    except Exception as error:
        classes = [bootstrap.explanation(error)]
    for cls in classes:
        plugin.register(cls)
