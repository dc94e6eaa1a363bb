"""Splits: whole groups (`intact`) and the five conditions from whole groups to single files (`ladder`)."""

from __future__ import annotations

from .intact import intact
from .ladder import CONDITIONS, SHUFFLE, ladder

__all__ = ["CONDITIONS", "SHUFFLE", "intact", "ladder"]
