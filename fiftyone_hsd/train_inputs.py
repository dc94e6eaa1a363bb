"""What a training starts from: an audit of this session or of a folder, the splits to train under, the grid."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import descriptors as descriptor_folder
from . import trainers
from .audit import corpus, evaluate, existing_plan, ladder_plans, read_images, source_name, trainable
from .effects import FURTHER
from .errors import HsdError, InfeasibleError, InputError, PathError, StaleError
from .exposure import exposure
from .launch import Forecast, Ticket, forecast, tickets
from .matched_swap import design_of
from .model import AuditReport, Descriptors, Effect, Note, SplitPlan, TrainConfig, sha256_json
from .progress import Progress
from .report.stored import load_report
from .settings import Settings
from .splitting import CONDITIONS, SHUFFLE
from .splitting.matched import MatchedDesign
from .trainers._recipes import is_network, recipe

MODELS = ("lite0",)
MATCHED, SWAP_TOPIC = "matched", "matched swap"
ENDPOINTS = ("existing", CONDITIONS[0], CONDITIONS[-1], SHUFFLE)


def checked_networks(models: Sequence[str], options: Mapping[str, Any] | None) -> list[TrainConfig]:
    """The networks among some models, with the options of their recipes.

    Raises:
        FieldError: there is no such model.
        InputError: an option is unknown or out of range.
    """
    if not models:
        raise InputError("no model was named", "linear_probe, nearest_neighbour, lite0, vit, resnet50, timm:NAME")
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options = {options!r}", "a mapping of names to values, such as {'steps': 500}")
    for model in models:
        trainers.by_name(model)
    if options and not any(map(is_network, models)):
        raise InputError(f"the options {', '.join(options)} without a network", "options of the recipe of a network")
    networks = [TrainConfig(m, 0, tuple((options or {}).items())) for m in models if is_network(m)]
    for config in networks:
        recipe(config)
    return networks


def outlook(
    report: AuditReport,
    *,
    out: str | Path,
    models: Sequence[str],
    conditions: str = "all",
    seeds: int,
    options: Mapping[str, Any] | None = None,
) -> list[Forecast]:
    """The grid that `train` would work off for the splits that an audit holds, at once: nothing is run or written.

    Time and memory are known where an earlier call has tried the model; cheap models have none.

    Raises:
        FieldError, InputError, PathError: a model, an option or a condition that does not exist.
        InfeasibleError: there is nothing to train under.
    """
    networks = checked_networks(models, options)
    plans, _ = plans_of(report, conditions, seeds)
    nan = float("nan")
    cheap = [Forecast(m, len(plans), len(plans), 0, nan, nan) for m in models if not is_network(m)]
    grid = grid_of(report, plans, networks)
    return [*cheap, *forecast(Path(out) / ".hsd" / "runs", grid, report.samples, measure=False)]


def grid_of(report: AuditReport, plans: Sequence[SplitPlan], networks: Sequence[TrainConfig]) -> list[Ticket]:
    samples = report.samples
    data = sha256_json([samples.ids, samples.labels.tolist(), samples.classes, report.scan.content])
    return tickets(samples, plans, networks, data)


def planned(
    source: Any, asked: Settings, plain: Settings, state: Path, tell: Progress
) -> tuple[AuditReport, Descriptors | None]:
    """A report without models, with the splits to train under; and the descriptors, where a model looks at them."""
    if not isinstance(source, AuditReport):
        parts = corpus(source, asked, state, tell)
        return evaluate(*parts, plain, state, tell), parts[3]
    vectors = None
    if not all(map(is_network, asked.models)):
        found, vectors = read_images(source.samples, descriptor_folder.by_name(asked.descriptor), state, tell)
        changed = sum(a != b for a, b in zip(found.content, source.scan.content, strict=True))
        if changed:
            raise StaleError(f"since the audit {changed} images changed", advice="run the audit again")
    return _replanned(source, plain, tell), vectors


def _replanned(report: AuditReport, options: Settings, tell: Progress) -> AuditReport:
    """An audit without models, and with the splits of its groups: these may have changed since, by verdicts."""
    notes: list[Note] = []
    plans = (
        *existing_plan(report.samples, notes),
        *ladder_plans(report.samples, report.grouping, options, notes, tell),
    )
    known = {p.digest: e for p, e in zip(report.plans, report.exposures, strict=True)}
    exposures = []
    for plan in plans:
        found, old = exposure(plan, report.grouping), known.get(plan.digest)
        if old is not None:
            found = dataclasses.replace(
                found, nearest_train=old.nearest_train, nearest_similarity=old.nearest_similarity
            )
        exposures.append(found)
    return dataclasses.replace(
        report,
        plans=plans,
        exposures=tuple(exposures),
        runs=(),
        effects=(),
        run_records=(),
        notes=tuple(dict.fromkeys((*report.notes, *notes))),
    )


def plans_of(report: AuditReport, conditions: str, seeds: int) -> tuple[list[SplitPlan], MatchedDesign | None]:
    """The plans to train under, and the matched swap if it is asked for, whose two plans are then among them.

    Raises:
        InputError: a condition has no plan.
        InfeasibleError: no plan has labelled images to train and test on, or no two groups can be paired for the
            matched swap.
    """
    if not any(trainable(report.samples, p) for p in report.plans):
        said = [n.text for n in report.notes if n.topic == "ladder"]
        why = said[0] if said else "no split has labelled images of two classes in train and others to test on"
        allowed = "" if "Allowed: " in why else "labels, and two or more groups of a class"
        raise InfeasibleError(why, allowed)
    if not isinstance(conditions, str):
        raise InputError(f"conditions = {conditions!r}", "one text, names joined by commas")
    words = [c.strip() for c in conditions.split(",") if c.strip()]
    plain = ",".join(w for w in words if w != MATCHED)
    design = design_of(report.samples, report.grouping) if MATCHED in words else None
    found = chosen(report.plans, plain) if plain or design is None else []
    found += [] if design is None else design.plans
    return [p for p in found if p.seed < seeds and trainable(report.samples, p)], design


def with_further(report: AuditReport, effects: Iterable[Effect], notes: Iterable[Note]) -> AuditReport:
    """The report with effects of other plans; those that it holds of the same name and model are replaced."""
    new = {(e.what, e.model): e for e in effects if e.what.startswith(FURTHER)}
    rest = [e for e in report.effects if (e.what, e.model) not in new]
    said = [n for n in notes if n.topic == SWAP_TOPIC]
    return dataclasses.replace(
        report, effects=(*rest, *new.values()), notes=tuple(dict.fromkeys((*report.notes, *said)))
    )


def chosen(plans: Sequence[SplitPlan], conditions: str) -> list[SplitPlan]:
    """The plans of the conditions asked for.

    Raises:
        InputError: a condition has no plan.
    """
    there = list(dict.fromkeys(p.condition for p in plans))
    names = {"all": there, "endpoints": [c for c in there if c in ENDPOINTS]}.get(conditions)
    if names is None:
        names = [c.strip() for c in conditions.split(",") if c.strip()]
    wrong = [c for c in names if c not in there]
    if wrong or not names:
        raise InputError(f"conditions {conditions!r}", ", ".join(["all", "endpoints", *there]))
    return [p for p in plans if p.condition in names]


def stored(folder: Path, source: Any) -> AuditReport | None:
    """The report of an earlier audit of this source in the folder."""
    try:
        report = load_report(folder)
    except (PathError, HsdError):
        return None
    return report if report.settings.get("source") == source_name(source) else None


def merged(settings: Mapping[str, Any], before: AuditReport | None) -> Settings:
    """What was asked for, and where nothing was, what the stored audit was asked for."""
    default = dataclasses.asdict(Settings())
    old = {} if before is None else {k: v for k, v in before.settings.items() if k in default and k != "models"}
    if any(k in settings for k in ("groups", "group_field", "pattern", "names")):
        old = {k: v for k, v in old.items() if k not in ("groups", "group_field", "pattern", "names")}
    return Settings.of({**old, **settings, "models": settings.get("models", MODELS)})
