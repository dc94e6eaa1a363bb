"""`export`: everything an audit found, in one folder that can be given away and verified."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, StaleError
from ..exposure import exposure
from ..folder.tables import read_table
from ..model import AuditReport, SplitPlan
from ..progress import Progress, guarded
from ..report import write
from ..report.csv_files import as_written, paths_of, sample_paths
from ..report.repair_files import PLAN_FILE, SPLIT_FILE, groups_digest
from ..report.stored import load_report
from . import files as release_files
from .aliasing import alias_key, aliased, renamed, write_map
from .files import RELEASE, TREE, refuse_strangers, release_value, rendered, write_lists, write_tree

__all__ = ["export"]


def export(
    out: str | Path,
    to: str | Path,
    *,
    alias: bool = True,
    pictures: bool = False,
    tree: str | None = None,
    link: str = "copy",
    progress: Progress | None = None,
) -> Path:
    """Write the files of an audit with settings, versions, seeds, content digests and results into one folder.

    Args:
        out: the folder that `audit(..., out=...)` wrote.
        to: a new or empty folder, or an earlier release, which is replaced.
        alias: ids and paths become salted aliases (`s` + 16 hex); the key stays in `out`/.hsd, and content.csv lets
            whoever has the images match them by content. Class, partition and field names are not replaced.
        pictures: the page may show pictures of the corpus.
        tree: a condition whose images (primary seed) are laid out as tree/CONDITION/PARTITION/CLASS/file.
        link: "copy" or "symlink", how the images of the tree are placed.
        progress: `progress(done, total, label)`.

    Returns:
        the folder.

    Raises:
        InputError: `to` holds something else; links together with aliases, which would show the real paths.
        PathError, StoreError: `out` holds no audit, or `to` cannot be written.
        StaleError: a repaired split or an image no longer belongs to the audit.
    """
    folder, tell = Path(to), guarded(progress)
    if link not in ("copy", "symlink"):
        raise InputError(f"link = {link!r}", "'copy' or 'symlink'")
    if tree is not None and alias and link == "symlink":
        raise InputError("symbolic links would show the real paths of aliased images", "link='copy', or alias=False")
    report = with_repaired(load_report(out), Path(out))
    old = refuse_strangers(folder)
    tell(0, 0, "replacing names")
    given = named(report, Path(out), alias)
    if not pictures:  # crops of the images that a control experiment looked at
        given = dataclasses.replace(given, control_sheets=())
    if tree is not None:
        release_files.plan_of(given, tree)
    _clear(folder, old)
    tell(0, 0, "writing the release")
    write(given, folder, pictures=pictures)
    written: dict[str, str] = json.loads((folder / "report.json").read_text("ascii"))["files"]
    written["report.json"] = release_files.digest_of(folder / "report.json")
    written |= write_lists(given, folder)
    laid: dict[str, Any] = {}
    if tree is not None:
        written |= write_tree(given, tree, folder, link, tell)
        laid = {"condition": tree, "link": link}
    release_files.put(folder / RELEASE, rendered(release_value(given, written, alias, laid)))
    return folder


def named(report: AuditReport, out: Path, alias: bool) -> AuditReport:
    """The report under the names it is given away with: aliases, or paths relative to the corpus."""
    paths = [as_written(p) for p in sample_paths(report)]
    if not alias:
        return renamed(report, paths, [as_written(i) for i, _, _ in report.failures])
    key = alias_key(out)
    given = aliased(report, key)
    by_path = dict(zip(given.samples.paths, given.samples.ids, strict=True))
    write_map(out, paths, [by_path[p] for p in report.samples.paths])
    return given


def with_repaired(report: AuditReport, out: Path) -> AuditReport:
    """The report with the repaired split of its folder, if `hsd repair` left one there.

    Raises:
        StaleError: the repaired split was made from other groups or samples.
    """
    if not (out / SPLIT_FILE).is_file() or not (out / PLAN_FILE).is_file():
        return report
    table = read_table(out / SPLIT_FILE)
    part = dict(zip(table["path"], table["partition"], strict=True))
    paths = [as_written(p) for p in paths_of(report.samples)]
    plan_value = json.loads((out / PLAN_FILE).read_text("ascii"))
    stale = plan_value.get("digests", {}).get("groups") != groups_digest(report)
    if stale or set(part) != set(paths):
        raise StaleError(
            f"{out / SPLIT_FILE} was made from other samples or groups than the audit beside it",
            advice=f"run `hsd repair {out} --out {out}` again, or delete the file",
        )
    plan = SplitPlan.of("repaired", 0, np.array([part[p] for p in paths], np.str_), report.samples.ids)
    found = exposure(plan, report.grouping)
    return dataclasses.replace(report, plans=(*report.plans, plan), exposures=(*report.exposures, found))


def _clear(folder: Path, old: list[str]) -> None:
    for name in old:
        (folder / name).unlink()
    if (folder / TREE).is_dir():
        shutil.rmtree(folder / TREE)
