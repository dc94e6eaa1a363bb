"""`hsd`, the command line. Results go to stdout, progress and errors to stderr.

Exit codes: 0 done; 1 done, and `--fail-on` found what it asked for; 2 could not run; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import io
import pkgutil
import sys
import traceback

import typer

from ..errors import HsdError
from .application import INTERRUPTED, app, parse_fractions
from .console import error as error_line

__all__ = ["app", "main", "parse_fractions"]

SHARED = ("__main__", "application", "console", "inputs", "summary")
"""Files of this folder that are no verb. Every other file is one verb, in order of names."""

for _file in pkgutil.iter_modules(__path__):
    if _file.name not in SHARED:
        importlib.import_module(f"{__name__}.{_file.name}")


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into words and exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a narrow terminal encoding must not end a run
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = words[: words.index("--")] if "--" in words else words
    debug = "--debug" in options
    words = [w for w in options if w != "--debug"] + words[len(options) :]
    try:
        code = app(args=words, prog_name="hsd", standalone_mode=False)
    except HsdError as error:
        error_line(str(error))
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        error_line("stopped", "yellow")
        code = INTERRUPTED
    except Exception as error:
        code = _unexpected(error, debug)
    raise SystemExit(code if isinstance(code, int) else 0)


def _unexpected(error: Exception, debug: bool) -> int:
    explain = getattr(error, "show", None)
    if callable(explain):  # a wrong option or argument: click's own words
        explain()
        return 2
    if debug:
        traceback.print_exception(error)
    text = f"unexpected {type(error).__name__}: {error}"
    error_line(text if debug else f"{text}. To do: repeat with --debug and report the traceback it shows")
    return 2
