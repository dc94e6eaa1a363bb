"""The report of an audit as the noun it was, kept beside its files for the verbs that start from an audit folder."""

from __future__ import annotations

from pathlib import Path

from ..errors import PathError, StoreError
from ..model import AuditReport
from ..store import load, save

STATE, NAME = ".hsd", "report.npz"


def stored_path(out: str | Path) -> Path:
    """Where the report of an audit folder is kept."""
    return Path(out) / STATE / NAME


def store_report(report: AuditReport, out: str | Path) -> Path:
    """Keep a report in its folder; returns the file.

    Raises:
        StoreError: the file cannot be written.
    """
    path = stored_path(out)
    save(path, report)
    return path


def forget_report(out: str | Path) -> None:
    """Drop the report kept in a folder whose files are about to be written anew: it would contradict them."""
    stored_path(out).unlink(missing_ok=True)


def load_report(out: str | Path) -> AuditReport:
    """The report that `audit(..., out=...)` left in a folder.

    Raises:
        PathError: there is no such folder, or no finished audit in it.
        StoreError: the report is damaged, or of another version of the format.
    """
    folder, path = Path(out), stored_path(out)
    if not folder.is_dir():
        raise PathError(f"{folder} is no folder", "the folder that `hsd audit --out` wrote")
    if not path.is_file():
        raise PathError(
            f"{folder} holds no finished audit ({STATE}/{NAME} is missing)",
            "the folder that `hsd audit --out` wrote",
            f"run `hsd audit PATH --out {folder}` first; what an interrupted or older audit left there is used again",
        )
    try:
        return load(path, AuditReport)
    except StoreError as error:
        raise StoreError(
            error.came, error.allowed, f"run `hsd audit PATH --out {folder}` again; it writes the report anew"
        ) from error
