"""The report of an audit: blocks of data first (sections/), then one page, one JSON file and the CSV files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from ..model import AuditReport
from ..store import atomic
from . import sections
from .csv_files import encoded, write_csv_files
from .json_file import report_json
from .sections import SectionOf

__all__ = ["write"]

PAGE, DATA = "report.html", "report.json"


def write(report: AuditReport, out: Path, *, extra: Sequence[SectionOf] = (), pictures: bool = True) -> Path:
    """Write report.html, report.json and the CSV files; the same report gives the same bytes.

    Each file appears whole or not at all. Files that an earlier report left in `out`, are unchanged since and have no
    successor (another condition's split, say) are removed, so that nothing in the folder contradicts the page.

    Args:
        out: folder, made if it is missing.
        extra: further sections, functions of third parties.
        pictures: False = the page holds no picture of the corpus.

    Returns:
        the path of report.html.

    Raises:
        StoreError: a file cannot be written.
    """
    from .html_page import page  # jinja2, which most verbs do not need

    folder = Path(out)
    before = _files_of(folder / DATA)
    built = sections.build(report, extra)
    name = PurePosixPath(report.samples.root).name or report.samples.root
    files = write_csv_files(report, folder)
    html = page(f"Hidden sample dependence in {name}", report.verdict, built, pictures=pictures)
    files[PAGE] = _write(folder / PAGE, html)
    _write(folder / DATA, report_json(report, built, files))
    for old in sorted(set(before) - set(files)):
        path = folder / old
        if path.is_file() and _digest(path) == before[old]:
            path.unlink()
    return folder / PAGE


def _write(path: Path, text: str) -> str:
    data = encoded(text)
    with atomic(path) as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files_of(path: Path) -> Mapping[str, str]:
    """Name -> digest of what an earlier report wrote; only names that a report can have."""
    try:
        listed = json.loads(path.read_text("utf-8"))["files"]
        ours = re.compile(r"([a-z_]+\.csv|report\.html|splits/[A-Za-z0-9_-][A-Za-z0-9_.-]*\.csv)")
        return {k: v for k, v in listed.items() if ours.fullmatch(k)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
