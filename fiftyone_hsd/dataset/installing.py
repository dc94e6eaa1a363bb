"""The plugin into FiftyOne's folder of plugins: from an installed wheel as a copy, from a checkout also as a link."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import InputError, PathError
from .reading import fiftyone

PLUGIN = "@fiftyone-hsd/hsd"
PARTS = ("fiftyone.yml", "requirements.txt", "plugin", "operators")


def plugin_source() -> Path:
    """The folder that holds the plugin: inside the installed package, or the checkout.

    Raises:
        PathError: neither is complete.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_plugin", package.parent):
        if all((folder / part).exists() for part in PARTS):
            return folder
    raise PathError(f"{package} comes without the plugin", advice=f"fiftyone plugins download, see {PLUGIN}")


def install_plugin(*, link: bool = False, into: str | Path | None = None) -> Path:
    """Put the plugin where FiftyOne looks; one of ours that is there is replaced.

    Args:
        link: a symbolic link instead of a copy, for development.
        into: folder of plugins; None = FiftyOne's.

    Returns:
        the plugin's folder.

    Raises:
        MissingExtraError: fiftyone is not installed.
        InputError: something else is in its place.
    """
    source = plugin_source()
    base = Path(into) if into is not None else Path(fiftyone().config.plugins_dir)
    target = base / PLUGIN
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        manifest = target / "fiftyone.yml"
        if not manifest.is_file() or PLUGIN not in manifest.read_text("utf-8"):
            raise InputError(f"{target} holds something else", advice="move it away")
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if link:
        target.symlink_to(source, target_is_directory=True)
        return target
    target.mkdir()
    for part in PARTS:
        _copy(source / part, target / part)
    return target


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)
