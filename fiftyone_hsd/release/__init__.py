"""What leaves the house: an audit in one folder under salted aliases, and the check that re-derives what it claims."""

from __future__ import annotations

from .export import export
from .share import rewrite, share
from .verify import Check, Verification, verify

__all__ = ["Check", "Verification", "export", "rewrite", "share", "verify"]
