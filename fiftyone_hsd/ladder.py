"""The ladder as a verb: five conditions from whole groups to single files, with exposure; nothing is trained."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from .audit import ladder_plans
from .errors import InfeasibleError, InputError
from .exposure import exposure
from .grouped import grouped
from .model import AuditReport, Note
from .progress import Progress, guarded
from .settings import Settings

__all__ = ["ladder"]

NOT_TRAINED = Note("not evaluated", "training", "scores and inflation: only splits were asked for; `hsd audit` trains")


def ladder(
    corpus: Any,
    *,
    source: str | None = None,
    sentinel: float = 0.0,
    conditions: int = 5,
    validation: str = "cross",
    out: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> AuditReport:
    """Draw the ladder of a corpus, with the exposure of every condition and seed.

    Args:
        corpus: what `audit` takes, or a folder that `audit(..., out=...)` wrote.
        source: metadata column or FiftyOne field with the site or source of each sample; files then change places
            only within their source, where such a cell can take it.
        sentinel: share of groups that are in no partition in any condition.
        conditions: number of conditions, 2 or more.
        validation: "cross": the files of `val` change places like all others; "intact": `val` keeps whole groups.
        out: folder for the report and the CSV files; not that of an audit, whose models it would lose.
        progress: `progress(done, total, label)`.
        settings: fields of `Settings`: how the corpus is read, `seeds` and `fractions`.

    Returns:
        an AuditReport without models.

    Raises:
        InfeasibleError: no split of whole groups exists.
        InputError, FieldError: as `audit`; there is no column `source`; `out` holds an audit with models.
    """
    from .effects import effects
    from .verdict import verdict

    tell, options = guarded(progress), Settings.of(settings)
    _refuse_audit(out)
    base = grouped(corpus, options, tell, columns=[] if source is None else [source])
    samples, grouping = base.samples, base.grouping
    column = None if source is None else samples.column(source)
    notes: list[Note] = []
    drawn = {"sentinel": sentinel, "conditions": conditions, "validation": validation}
    plans = tuple(ladder_plans(samples, grouping, options, notes, tell, source=column, **drawn))
    if not plans:
        raise InfeasibleError(notes[-1].text, "labels, and two or more groups of a class")
    kept = [p for p in base.plans if p.condition == "existing"]
    notes += [n for n in base.notes if n.topic in ("existing split", "unlabelled")]
    plans = (*kept, *plans)
    tell(0, 0, "exposure")
    exposures = tuple(exposure(p, grouping) for p in plans)
    numbers = tuple(effects(samples, grouping, plans, exposures, ()))
    report = AuditReport(
        samples=samples,
        failures=base.failures,
        scan=base.scan,
        grouping=grouping,
        plans=plans,
        exposures=exposures,
        runs=(),
        effects=numbers,
        settings={
            **base.settings,
            **{k: v for k, v in dataclasses.asdict(options).items() if k in ("seeds", "fractions")},
            **{"verb": "ladder", "source_column": source, "models": []},
            **drawn,
        },
        versions=base.versions,
        verdict=verdict(samples, grouping, plans, exposures, numbers),
        notes=tuple(dict.fromkeys((*notes, NOT_TRAINED))),
    )
    if out is not None:
        from .report import write
        from .report.stored import forget_report, store_report

        forget_report(out)
        write(report, Path(out))
        store_report(report, out)
    return report


def _refuse_audit(out: str | Path | None) -> None:
    """InputError where `out` holds an audit with models."""
    from .report.stored import load_report, stored_path

    if out is not None and stored_path(out).is_file() and load_report(out).runs:
        raise InputError(f"{out} holds an audit with models", "a folder of its own", "choose another --out")
