"""Where the package keeps what it may compute again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Folder of descriptors and weights: HSD_CACHE_DIR, else `fiftyone-hsd` in the platform's cache folder."""
    if told := os.environ.get("HSD_CACHE_DIR"):
        return Path(told).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fiftyone-hsd"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fiftyone-hsd"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "fiftyone-hsd"
