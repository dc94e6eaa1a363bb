"""Groups alone: from images, from a CSV of names without images, or for new files against an audit that is there."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import descriptors as descriptor_folder
from .audit import read, read_images
from .audit_groups import GROUP_COLUMN, declared, inferred, known_groups
from .errors import EmptyError, FieldError, InputError
from .folder.tables import read_table
from .grouping._chains import chain, strength
from .grouping._user_pattern import pattern_groups
from .grouping.bytes import identical_bytes
from .grouping.merge import merge
from .grouping.metadata import metadata
from .grouping.names import infer
from .grouping.near_copies import near_copies
from .grouping.pixels import identical_pixels
from .model import AuditReport, Grouping, Links, Note, Samples, Scan
from .progress import Progress, guarded
from .report.csv_files import paths_of
from .report.stored import load_report
from .settings import Settings


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of files and why.

    Attributes:
        paths: n paths as the source names them.
        grouping: codes (-1 = every source abstained), links and notes.
        ids: n group ids as files hold them, "" where every source abstained. Files that join a group of an earlier
            audit carry its id.
        failures: (path, reason) of files that could not be read.
        joined: for new files against an audit, see `Join`.
    """

    paths: tuple[str, ...]
    grouping: Grouping
    ids: tuple[str, ...]
    failures: tuple[tuple[str, str], ...] = ()
    joined: tuple[Join, ...] = ()

    @property
    def abstained(self) -> bool:
        """Whether no file has a group."""
        return not (self.grouping.codes >= 0).any()

    def why(self, a: str, b: str) -> Links:
        """The chain of accepted links between two files, the strongest there is; none if their groups differ.

        Raises:
            FieldError: a path is not among the files.
        """
        for path in (a, b):
            if path not in self.paths:
                raise FieldError(f"{path!r} is none of the {len(self.paths)} files", "a path as groups.csv names it")
        return chain(self.grouping, self.paths.index(a), self.paths.index(b))


@dataclass(frozen=True)
class Join:
    """A new file in a group of an audit: by which known file, on what evidence, and in which partition that one is."""

    path: str
    group: str
    known: str
    source: str
    rule: str
    score: float
    partition: str


def groups(
    source: Any,
    *,
    known: Any = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Groups:
    """Which files belong together, without splits or training.

    Args:
        source: an image folder, a CSV file, a FiftyOne dataset or view, or Samples. A CSV file whose paths name no
            files (column `path` or `name`, `label` if there is one) is read by its names alone.
        known: an AuditReport or a folder that `audit(..., out=...)` wrote: which of its groups do the files of `source`
            join? Its groups stay as they are.
        state: folder where what was measured is kept, so that a stopped run goes on and a threshold moves without
            measuring again; None = nowhere.
        progress: `progress(done, total, label)`; its failures never end a run.
        settings: fields of `Settings`. A `group` column is read only if `group_field` names it.

    Raises:
        InputError, PathError, FieldError, PatternError: what was given cannot be used.
        EmptyError: no usable image.
    """
    options, tell = Settings.of(settings), guarded(progress)
    kept = None if state is None else Path(state)
    table = _names_alone(source, options)
    if table is not None and known is None:
        return _by_names(*table, options)
    tell(0, 0, "reading the list of files")
    samples = read(source, options)
    if options.group_field != GROUP_COLUMN:
        rest = {k: v for k, v in samples.metadata.items() if k != GROUP_COLUMN}
        samples = dataclasses.replace(samples, metadata=rest)
    found, vectors = read_images(samples, descriptor_folder.by_name(options.descriptor), kept, tell)
    usable = found.usable
    failures = tuple((samples.ids[i], found.failure[i]) for i in np.flatnonzero(~usable))
    if not usable.any():
        raise EmptyError(f"none of {len(samples)} images can be used", "at least one readable image")
    samples, found, vectors = samples.take(usable), found.take(usable), vectors.take(usable)
    if known is not None:
        report = known if isinstance(known, AuditReport) else load_report(known)
        folder = None if isinstance(known, AuditReport) else Path(known) / ".hsd" / "near"
        return dataclasses.replace(_joining(samples, found, report, folder, options, tell), failures=failures)
    near = None if kept is None else kept / "near"
    grouping = known_groups(samples, found, options, tell, vectors, near)
    return _groups(paths_of(samples), grouping, failures)


def table_of(result: Groups) -> dict[str, list[Any]]:
    """The columns of groups.csv: path, group, evidence, confidence (weakest link that holds the group, nan = none)."""
    grouping = result.grouping
    weakest = strength(grouping).weakest
    of_group: dict[int, set[str]] = {}
    accepted = grouping.links.take(np.flatnonzero(grouping.links.accepted))
    for code, source in zip(grouping.codes[accepted.a].tolist(), accepted.source.tolist(), strict=True):
        of_group.setdefault(code, set()).add(source)
    codes = grouping.codes.tolist()
    return {
        "path": list(result.paths),
        "group": list(result.ids),
        "evidence": ["+".join(sorted(of_group.get(c, ()))) for c in codes],
        "confidence": [float(weakest[c]) if c in of_group else float("nan") for c in codes],
    }


def _groups(paths: Sequence[str], grouping: Grouping, failures: tuple[tuple[str, str], ...] = ()) -> Groups:
    return Groups(tuple(paths), grouping, tuple(grouping.group_ids(paths)), failures)


def _names_alone(source: Any, options: Settings) -> tuple[list[str], list[str], dict[str, list[str]]] | None:
    """(names, labels, all columns) of a CSV file that names no files that are there; None = there are images."""
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return None
    if Path(source).suffix.lower() not in (".csv", ".tsv"):
        return None
    table = read_table(Path(source))
    column = next((c for c in ("path", "name") if c in table), None)
    if column is None:
        raise FieldError(f"{source} has no column path or name", ", ".join(table), "name one of them path")
    names = table[column]
    if not names:
        raise EmptyError(f"{source} has no rows", "one row a file")
    folder = Path(source).parent
    if column == "path" and any(os.path.exists(folder / n) for n in names[:50]):  # noqa: PTH110 - bytes-safe
        return None
    if options.labels is not None or options.groups is not None:
        raise InputError(
            "a file of labels or groups was given for a list of names", "columns label and group in the list itself"
        )
    return names, table.get("label", [""] * len(names)), table


def _by_names(names: list[str], labels: list[str], table: dict[str, list[str]], options: Settings) -> Groups:
    classes = tuple(sorted({v for v in labels if v}))
    code = {v: i for i, v in enumerate(classes)}
    label = np.array([code.get(v, -1) for v in labels], np.int32)
    # Names may repeat, under other labels for instance; samples need ids of their own.
    ids = tuple(str(i) for i in range(len(names)))
    nothing = np.full(len(names), "", dtype="<U1")
    wanted = (options.group_field or "").split(",")
    columns = {k: np.array(v, np.str_) for k, v in table.items() if k in wanted}
    samples = Samples(ids, tuple(names), label, classes, nothing, columns, "")
    if options.pattern is not None:
        values, rule = pattern_groups(names, options.pattern), f"pattern {options.pattern}"
        return _groups(names, merge(len(names), [metadata(values, rule)], values != ""))
    values, rule, said = declared(samples, options)
    if rule:
        return _groups(names, merge(len(names), [metadata(values, rule)], values != "", said))
    proposed, links, notes = inferred(samples, infer(names, label, classes), options.names)
    if not options.names:
        links, proposed = Links.of([], [], "name"), nothing
    return _groups(names, merge(len(names), [links], proposed != "", notes))


def _joining(
    samples: Samples, found: Scan, report: AuditReport, folder: Path | None, options: Settings, progress: Progress
) -> Groups:
    """New files against the groups of an audit, which stay as they are."""
    old, m, n = report.samples, len(report.samples), len(samples)
    both = _together(old, samples)
    scans = _both_scans(report.scan, found)
    new = np.r_[np.zeros(m, bool), np.ones(n, bool)]
    near = near_copies(both, scans, only=new, threshold=options.near_threshold, folder=folder, progress=progress)
    # Names are read relative to each root: the new files may lie anywhere.
    rule = infer((*old.names, *samples.names), both.labels, both.classes)
    proposed, by_name, notes = inferred(both, rule, options.names)
    parts = [identical_bytes(scans), identical_pixels(scans), near.links, *([by_name] if options.names else [])]
    crossing = [p.take(np.flatnonzero(new[p.a] | new[p.b])) for p in parts]
    held = Links.from_codes(np.r_[report.grouping.codes, np.full(n, -1)], "known", "group of the audit")
    attested = np.r_[report.grouping.codes >= 0, proposed[m:] != ""] if options.names else ~new
    merged = merge(m + n, [held, *crossing], attested, [*notes, *near.notes])
    return _joined(report, samples, merged)


def _joined(report: AuditReport, samples: Samples, merged: Grouping) -> Groups:
    m = len(report.samples)
    old_ids = report.grouping.group_ids(report.samples.ids)
    paths = paths_of(samples)
    fresh = merged.group_ids([*(f"known/{i}" for i in report.samples.ids), *paths])
    of_code: dict[int, list[str]] = {}
    for code, name in zip(merged.codes[:m].tolist(), old_ids, strict=True):
        if name not in of_code.setdefault(code, []):
            of_code[code].append(name)
    ids = tuple(of_code.get(int(merged.codes[m + k]), [fresh[m + k]])[0] for k in range(len(samples)))
    joined = _joins(report, paths, ids, merged.links)
    text = f"{len(joined)} of {len(samples)} files join {len({j.group for j in joined})} groups of the audit"
    notes = [*merged.notes, Note("info", "joined", text, len(joined))]
    bridges = [k for k in range(len(samples)) if len(of_code.get(int(merged.codes[m + k]), ())) > 1]
    if bridges:
        text = "new files join groups that the audit keeps apart; the first group is named"
        examples = tuple(f"{paths[k]}: {', '.join(of_code[int(merged.codes[m + k])])}" for k in bridges[:5])
        notes.append(Note("problem", "bridge", text, len(bridges), examples))
    own = merged.links.take(np.flatnonzero(merged.links.a >= m))
    inside = dataclasses.replace(own, a=own.a - m, b=own.b - m)
    return Groups(paths, Grouping(merged.codes[m:], inside, tuple(notes)), ids, (), joined)


def _joins(report: AuditReport, paths: Sequence[str], ids: Sequence[str], links: Links) -> tuple[Join, ...]:
    """The best link of each new file to a known one."""
    m = len(report.samples)
    best: dict[int, int] = {}
    for row in np.flatnonzero(links.accepted & (links.a < m) & (links.b >= m)).tolist():
        b = int(links.b[row])
        if b not in best or links.score[row] > links.score[best[b]]:
            best[b] = row
    return tuple(
        Join(
            path=paths[b - m],
            group=ids[b - m],
            known=report.samples.ids[int(links.a[row])],
            source=str(links.source[row]),
            rule=str(links.rule[row]),
            score=float(links.score[row]),
            partition=str(report.samples.split[int(links.a[row])]),
        )
        for b, row in sorted(best.items())
    )


def _together(old: Samples, new: Samples) -> Samples:
    classes = tuple(dict.fromkeys((*old.classes, *new.classes)))
    place = np.array([classes.index(c) for c in new.classes] or [0], np.int32)
    labels = np.r_[old.labels, np.where(new.labels >= 0, place[np.maximum(new.labels, 0)], -1)]
    ids = (*(f"known/{i}" for i in old.ids), *new.ids)
    return Samples(ids, (*old.paths, *new.paths), labels, classes, np.r_[old.split, new.split], {}, "/")


def _both_scans(old: Scan, new: Scan) -> Scan:
    return Scan(
        (*old.content, *new.content),
        (*old.pixels, *new.pixels),
        (*old.failure, *new.failure),
        np.r_[old.width, new.width],
        np.r_[old.height, new.height],
    )
