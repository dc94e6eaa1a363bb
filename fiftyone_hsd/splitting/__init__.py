"""Splits: whole groups (`intact`) and the five conditions from whole groups to single files (`ladder`)."""

from __future__ import annotations

from .intact import intact
from .ladder import CONDITIONS, MAXIMAL_RELEASE, SHUFFLE, ladder, shuffle

__all__ = ["CONDITIONS", "MAXIMAL_RELEASE", "SHUFFLE", "intact", "ladder", "shuffle"]
