"""Finds the library and the operators, whether the plugin was downloaded, linked, or installed beside the package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path

import fiftyone.operators as foo
from fiftyone.operators import types

ROOT = Path(__file__).resolve().parent.parent
EXPLAINS_AS = "audit"
"""Name of the explaining operator. FiftyOne drops names that the manifest does not list, so it takes a listed one."""


def ensure_library():
    """Make fiftyone_hsd importable: an installed one is preferred, else the plugin's own copy is used."""
    spec = importlib.util.find_spec("fiftyone_hsd")
    # Without an origin it is a bare folder of that name (an editable install leaves its data files in one).
    if spec is None or spec.origin is None:
        # At the end, so that `tests`, `plugin` or `operators` here never shadow anything that is installed.
        sys.path.append(str(ROOT))


def load_package(name, parent):
    """The package in folder `name` at the root, loaded by location as a submodule of the plugin.

    The parent package's path is shared between all plugins of one organisation, so a relative import could find
    another plugin's folder.
    """
    ensure_library()
    full = f"{parent}.{name}"
    if full in sys.modules:
        return sys.modules[full]
    folder = ROOT / name
    spec = importlib.util.spec_from_file_location(
        full, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    try:
        spec.loader.exec_module(module)
        module.classes()
    except BaseException:
        # The next request tries again, with what the user may have installed by then.
        for loaded in [m for m in sys.modules if m == full or m.startswith(f"{full}.")]:
            del sys.modules[loaded]
        raise
    return module


def panels(parent):
    """Every panel class that a file `panel_*.py` of this folder defines, in order of file names."""
    ensure_library()
    found = []
    for path in sorted(Path(__file__).parent.glob("panel_*.py")):
        module = importlib.import_module(f"{parent}.{path.stem}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, foo.Panel) and value.__module__ == module.__name__
        ]
    return found


def explanation(error):
    """An operator whose form says why the plugin could not be loaded."""
    missing = getattr(error, "name", None) if isinstance(error, ImportError) else None
    if missing and missing.partition(".")[0] != "fiftyone_hsd":
        advice = f"pip install {missing.partition('.')[0]}"
    else:
        advice = "fiftyone plugins download https://github.com/fiftyone-hsd/fiftyone-hsd --overwrite"
    reason = f"{type(error).__name__}: {error}"
    details = "".join(traceback.format_exception(error))

    class Explanation(foo.Operator):
        @property
        def config(self):
            return foo.OperatorConfig(
                name=EXPLAINS_AS,
                label="HSD: why this plugin does not work",
                description=reason,
                dynamic=True,
            )

        def resolve_input(self, ctx):  # noqa: ARG002
            inputs = types.Object()
            text = f"{reason}. To do: run `{advice}` with the Python that runs FiftyOne, then reload this page."
            inputs.view("error", types.Error(label="The plugin could not be loaded", description=text))
            inputs.view("details", types.Notice(label=details))
            return types.Property(inputs, view=types.View(label="HSD: why this plugin does not work"))

        def execute(self, ctx):  # noqa: ARG002
            raise RuntimeError(f"the plugin could not be loaded ({reason}); to do: {advice}")

    return Explanation
