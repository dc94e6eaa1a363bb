"""The page of an audit again: as it is, or as one file that can be shown to others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ..report import sections, write
from ..report.csv_files import encoded
from ..report.stored import load_report
from .aliasing import CORPUS, alias_key, aliased
from .files import put

__all__ = ["SHARED", "rewrite", "share"]

SHARED = "report-share.html"


def rewrite(out: str | Path) -> Path:
    """Write report.html, report.json and the CSV files of an audit folder again, from the report it keeps.

    Returns:
        the page.

    Raises:
        PathError, StoreError: the folder holds no audit, or cannot be written.
    """
    return write(load_report(out), Path(out))


def share(out: str | Path, *, to: str | Path | None = None, pictures: bool = False) -> Path:
    """One page with the results of an audit, ids and paths replaced by the aliases that `export` uses too.

    Args:
        out: the audit folder.
        to: the file; default report-share.html in `out`.
        pictures: True = small pictures of the corpus may be in it.

    Returns:
        the page.

    Raises:
        PathError, StoreError: as `rewrite`.
    """
    from ..report.html_page import page

    report = aliased(load_report(out), alias_key(Path(out)))
    if not pictures:  # crops of the images that a control experiment looked at
        report = dataclasses.replace(report, control_sheets=())
    text = page(f"Hidden sample dependence in {CORPUS}", report.verdict, sections.build(report), pictures=pictures)
    path = Path(out) / SHARED if to is None else Path(to)
    put(path, encoded(text))
    return path
