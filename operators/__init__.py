"""The operators of the plugin. One file an operator; the folder is the list."""

from __future__ import annotations

import importlib
import pkgutil

import fiftyone.operators as foo


def classes():
    """Every operator class that a file of this folder defines, in order of file names."""
    found = []
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue  # parts that operators share
        module = importlib.import_module(f"{__name__}.{info.name}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, foo.Operator) and value.__module__ == module.__name__
        ]
    return found
