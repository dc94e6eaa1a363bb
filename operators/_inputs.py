"""Inputs that several forms have, and their checks."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from pathlib import Path

from fiftyone.operators import types

from fiftyone_hsd.errors import HsdError, InputError, PathError

INSTALL = "fiftyone plugins requirements @fiftyone-hsd/hsd --install"
LONG = 120
"""Characters of a path that an error repeats."""
HERE = "on the machine that runs FiftyOne"
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
        InputError: not an absolute path, a folder that holds anything else, or nothing can be written there.
    """
    if not text:
        return None
    name, allowed = f"the {what} folder {_short(text)}", f"a new or empty folder, or an earlier {what}'s"
    folder = absolute(text, f"{what} folder")
    with _looked_up(name):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{name} is a file", allowed)
        if folder.is_dir() and any(folder.iterdir()) and not any((folder / own).exists() for own in ours):
            raise InputError(f"{name} holds other files", allowed)
        _writable(folder, name)
    return folder


def read_folder(text, what):
    """A folder to read from.

    Raises:
        InputError: not the absolute path of a folder.
    """
    folder = absolute(text, what) if text else None
    if folder is None or not folder.is_dir():
        raise InputError(f"{_short(text)} as {what}", f"the absolute path of a folder {HERE}")
    return folder


def csv_file(text, head):
    """A CSV file to write.

    Args:
        head: the first line of what an earlier run of ours wrote, which alone is overwritten.

    Raises:
        InputError: not the absolute path of a .csv file in a folder that can be written, or it holds something else.
    """
    path = _csv(text)
    with _looked_up(f"the file {_short(text)}"):
        if not path.parent.is_dir():
            raise InputError(f"the folder of the file {_short(text)} is missing", f"a folder that is there, {HERE}")
        if path.exists() and first_line(path) != head:
            raise InputError(f"{_short(text)} holds something else", f"a new file, or one that begins with {head}")
        _writable(path.parent, f"the file {_short(text)}")
    return path


def read_csv_file(text):
    """A CSV file to read.

    Raises:
        InputError: not the absolute path of a .csv file that is there.
    """
    path = _csv(text)
    if not path.is_file():
        raise InputError(f"there is no file {_short(text)}")
    return path


def absolute(text, what):
    """A path that the system can look up, whether or not anything is there.

    Raises:
        InputError: it is not absolute, or no path at all (a user who is not there, too long a name, a NUL).
    """
    name = f"the {what} {_short(text)}"
    with _looked_up(name):
        if "\0" in str(text):
            raise ValueError("it holds a NUL character")
        path = Path(str(text or "")).expanduser()
        path.exists()
    if not path.is_absolute():
        raise InputError(name, f"an absolute path {HERE}")
    return path


def whole(params, name, default):
    """A whole number among the parameters of a form or of an SDK or REST call; missing, empty or 0 is the default.

    Raises:
        InputError: something else.
    """
    value = params.get(name)
    try:
        found = 0 if value in (None, "") else int(value)
        if isinstance(value, bool) or (isinstance(value, float) and found != value):
            raise ValueError
        return found or default
    except (TypeError, ValueError, OverflowError):  # int of a nan, of an endless number, of a word or a list
        raise InputError(f"{name} = {value!r}", "a whole number") from None


def share(params, name, default):
    """A number from 0 to 1, as `whole`."""
    value = params.get(name)
    try:
        found = float(value or 0)
        if isinstance(value, bool) or not 0 <= found <= 1:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {value!r}", "a number from 0 to 1") from None
    return found or default


def several(params, name):
    """Names among the parameters, each once: a list, or text that joins them by commas.

    Raises:
        InputError: something else.
    """
    value = params.get(name) or ()
    found = value.split(",") if isinstance(value, str) else value
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
        raise InputError(f"{name} = {value!r}", "names, as a list or joined by commas")
    return tuple(dict.fromkeys(one.strip() for one in found if one.strip()))


def text_of(params, name):
    """Text among the parameters, None if it is missing or empty.

    Raises:
        InputError: something else.
    """
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} = {value!r}", "text")
    return value or None


def _csv(text):
    path = absolute(text, "file") if text else None
    if path is None or path.suffix.lower() != ".csv":
        raise InputError(f"the file {_short(text)}", f"the absolute path of a .csv file {HERE}")
    return path


@contextlib.contextmanager
def _looked_up(name):
    """What Python and the system say about a path that cannot be, as an error of ours."""
    try:
        yield
    except HsdError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PathError(f"{name} cannot be used: {reason}", f"an absolute path {HERE}") from None


def _writable(folder, name):
    """Refuses a folder that could not be made or written: a file is in its way, or the user has no right to."""
    there = next(p for p in (folder, *folder.parents) if p.exists())
    if not there.is_dir():
        raise InputError(f"{name} lies below the file {there}", "a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{name} cannot be written: no right to write into {there}", "a folder that can be written")


def _short(text):
    """What came, cut where it would fill the form."""
    return repr(text if len(str(text)) <= LONG else f"{str(text)[:LONG]}...")


def first_line(path):
    """The first line of a text file, "" if there is no such file."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().strip()
