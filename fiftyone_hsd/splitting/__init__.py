"""Splits: whole groups (`intact`), five conditions from whole groups to single files (`ladder`), `repair` of a leak."""

from __future__ import annotations

from .intact import intact
from .ladder import CONDITIONS, MAXIMAL_RELEASE, SHUFFLE, ladder, shuffle
from .repair import Repair, repair

__all__ = ["CONDITIONS", "MAXIMAL_RELEASE", "SHUFFLE", "Repair", "intact", "ladder", "repair", "shuffle"]
