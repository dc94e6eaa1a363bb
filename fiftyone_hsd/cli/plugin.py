"""`hsd plugin`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .application import app
from .console import Out

plugin = typer.Typer(help="The FiftyOne plugin.", no_args_is_help=True)
app.add_typer(plugin, name="plugin")


@plugin.command()
def install(
    link: Annotated[bool, typer.Option("--link", help="A symbolic link to this checkout, for development.")] = False,
    into: Annotated[Path | None, typer.Option(help="Folder of plugins; default: FiftyOne's.")] = None,
) -> None:
    """Put the plugin where FiftyOne looks; the page of an App that is open must be loaded again."""
    from ..dataset import install_plugin

    target = install_plugin(link=link, into=into)
    Out().say(f"plugin: {target}")
