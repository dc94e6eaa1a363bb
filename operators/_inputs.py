"""Inputs that several forms have, and their checks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fiftyone.operators import types

from fiftyone_hsd.errors import InputError

INSTALL = "fiftyone plugins requirements @fiftyone-hsd/hsd --install"
KEPT = set()
"""Packages that were found: a form asks at every key stroke."""


def choices(pairs):
    """A dropdown of (value, label)."""
    found = types.DropdownView()
    for value, label in pairs:
        found.add_choice(value, label=label)
    return found


def invalid(inputs, name, error):
    """The error in the form, which cannot be executed as long as it is there."""
    prop = inputs.view(name, types.Error(label=str(error)))
    prop.invalid = True
    prop.error_message = str(error)


def missing(inputs, packages, what):
    """Whether packages are not installed that `what` needs; the form then says which line to type."""
    absent = [name for name in packages if name not in KEPT and importlib.util.find_spec(name) is None]
    KEPT.update(set(packages) - set(absent))
    if absent:
        invalid(inputs, "missing", f"{what} needs {' and '.join(absent)}, not installed here. Run `{INSTALL}`")
    return bool(absent)


def checked_folder(text, ours, what="report"):
    """A folder to write into, None if none is wanted.

    Args:
        ours: names, one of which a folder holds that an earlier run of ours wrote.

    Raises:
        InputError: not an absolute path, or a folder that holds anything else.
    """
    if not text:
        return None
    folder = Path(str(text)).expanduser()
    allowed = f"a new or empty folder, or an earlier {what}'s"
    if not folder.is_absolute():
        raise InputError(f"the {what} folder {text!r}", "an absolute path on the machine that runs FiftyOne")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the {what} folder {text!r} is a file", allowed)
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in ours):
        raise InputError(f"the {what} folder {text!r} holds other files", allowed)
    return folder


def read_folder(text, what):
    """A folder to read from.

    Raises:
        InputError: not the absolute path of a folder.
    """
    folder = Path(str(text or "")).expanduser()
    if not text or not folder.is_absolute() or not folder.is_dir():
        raise InputError(f"{text!r} as {what}", "the absolute path of a folder on the machine that runs FiftyOne")
    return folder


def first_line(path):
    """The first line of a text file, "" if there is no such file."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().strip()
