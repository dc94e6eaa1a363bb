"""Repair the split of a corpus: the plan first, then files or marks of its own; images and the old split stay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import FieldError, InputError
from .exposure import exposure
from .grouped import grouped
from .model import AuditReport, Exposure, SplitPlan
from .progress import Progress, guarded
from .settings import Settings
from .splitting.repair import Repair
from .splitting.repair import repair as smallest_repair

__all__ = ["Repaired", "repair"]


@dataclass(frozen=True, eq=False)
class Repaired:
    """A repaired split and what it was made from.

    Attributes:
        report: samples, groups, and the plan that was repaired.
        plan: that plan.
        repair: what changes, and the repaired plan.
        before, after: exposure under both plans.
        files: what was written.
    """

    report: AuditReport
    plan: SplitPlan
    repair: Repair
    before: Exposure
    after: Exposure
    files: tuple[Path, ...] = ()


def repair(
    source: Any,
    *,
    condition: str = "existing",
    freeze: str | None = None,
    share_bound: float | None = None,
    class_bound: float | None = None,
    set_aside: str = "forced",
    seed: int = 0,
    out: str | Path | None = None,
    dry_run: bool = False,
    write: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Repaired:
    """The smallest change of a split after which no group lies in two partitions.

    Args:
        source: a folder that `audit(..., out=...)` wrote, the AuditReport itself, or what `audit` takes.
        condition: which split; "existing" = as published, else a condition of an audit folder (its seed `seed`).
        freeze: a partition that no sample may enter or leave, usually "test".
        share_bound, class_bound, set_aside, seed: as `fiftyone_hsd.splitting.repair`.
        out: folder for splits/repaired.csv, repair.csv and repair.json; None = nothing is written.
        dry_run: only the plan; neither `out` nor `write` counts.
        write: mark the samples of the FiftyOne dataset (field hsd_repaired, tags hsd:repaired:PARTITION).
        progress: `progress(done, total, label)`.
        settings: fields of `Settings` that say how to read the corpus and its groups.

    Raises:
        FieldError: there is no such split.
        InputError, InfeasibleError, StaleError, StoreError: as the steps.
    """
    tell = guarded(progress)
    options = Settings.of(settings)
    report = grouped(source, options, tell)
    view = _view(source, report) if write and not dry_run else None
    plan = _plan(report, condition, seed)
    tell(0, 0, "the smallest repair")
    samples = report.samples
    asked = {"freeze": freeze, "share_bound": share_bound, "class_bound": class_bound, "set_aside": set_aside}
    found = smallest_repair(
        samples.labels,
        report.grouping,
        plan.partition,
        freeze=freeze,
        share_bound=share_bound,
        class_bound=class_bound,
        set_aside=set_aside,
        ids=samples.ids,
        seed=seed,
        unknown="singleton",
        names=samples.classes,
    )
    before, after = exposure(plan, report.grouping), exposure(found.plan, report.grouping)
    files: tuple[Path, ...] = ()
    if out is not None and not dry_run:
        from .report.repair_files import write_repair_files

        files = write_repair_files(report, found, {"condition": condition, "seed": seed, **asked}, Path(out))
    if view is not None:
        from .dataset import write_repair

        write_repair(view, report, found, after, progress=tell)
    return Repaired(report, plan, found, before, after, files)


def _plan(report: AuditReport, condition: str, seed: int) -> SplitPlan:
    there = [p for p in report.plans if p.condition == condition]
    if not there:
        have = ", ".join(dict.fromkeys(p.condition for p in report.plans)) or "the corpus comes without a split"
        raise FieldError(f"there is no split {condition!r}", have, "name one as condition")
    return next((p for p in there if p.seed == seed), there[0])


def _view(source: Any, report: AuditReport) -> Any:
    """The FiftyOne collection behind a source."""
    if not isinstance(source, (str, Path, AuditReport)):
        return source
    name = str(source)
    if isinstance(source, AuditReport) or Path(source).exists():
        name = str(report.settings.get("source", ""))
    if not name.startswith("fiftyone:") and Path(name).exists():
        raise InputError(f"{name} is no FiftyOne dataset", "fiftyone:NAME", "leave out write, or give out")
    from .dataset import load

    return load(name.removeprefix("fiftyone:"))
