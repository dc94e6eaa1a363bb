"""What the panel shows of an audit: small counts and estimates, no entry a sample. Needs no fiftyone.

The value is plain JSON: it is stored beside the marks, so that a panel reads it and computes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model import SCHEMA, AuditReport, Bools, Effect, Exposure, SplitPlan
from ..report import lookup
from ..splitting import Repair
from .marks import field_names, field_part
from .overview_groups import groups_overview

BINS = 200
"""Bins of the stored histogram of similarities: a threshold is moved over them without asking the samples."""
LOWEST = 0.0
MOST_CLASSES = 200
CLASS_METRICS = ("recall", "f1")


def overview(report: AuditReport, *, label: str = "", seconds: float = math.nan) -> dict[str, Any]:
    """The panel's value of a report.

    Args:
        label: path of the class names in the dataset ("" = the samples have none).
        seconds: wall time of the audit, nan = not measured.
    """
    notes = lookup.all_notes(report)
    value = {
        "schema": SCHEMA,
        "verdict": report.verdict,
        "images": len(report.samples),
        "failures": len(report.failures),
        "label": label,
        "seconds": seconds,
        "groups": groups_overview(report),
        "leaks": [_leaks(report, c) for c in (lookup.EXISTING, *lookup.conditions(report)) if _plan(report, c)],
        "ladder": ladder_overview(report, lookup.models(report)),
        "not_evaluated": [n.text for n in notes if n.level == "not evaluated"],
        "problems": [_said(n.text, n.count) for n in notes if n.level == "problem"],
    }
    return finite(value)  # type: ignore[no-any-return]


def repair_overview(repair: Repair) -> dict[str, Any]:
    """The panel's value of a repair."""
    words = [
        f"{a} to {b}: {r}"
        for a, b, r in zip(repair.before.tolist(), repair.after.tolist(), repair.reason.tolist(), strict=True)
    ]
    return {
        "moved": repair.moved,
        "set_aside": repair.set_aside,
        "optimal": repair.optimal,
        "least": repair.least,
        "freeze": repair.freeze,
        "notes": [n.text for n in repair.plan.notes],
        "sizes": [{"partition": p, "before": a, "after": b} for p, (a, b) in repair.sizes.items()],
        "reasons": Counter(words).most_common(),
        "views": [],
    }


def _plan(report: AuditReport, condition: str) -> tuple[SplitPlan, Exposure] | None:
    return lookup.primary(report, condition)


def _said(text: str, count: int) -> str:
    return f"{text} ({count:,})" if count else text


def _leaks(report: AuditReport, condition: str) -> dict[str, Any]:
    """Exposure of the readout partition of one condition at its primary seed."""
    found = _plan(report, condition)
    assert found is not None  # noqa: S101 - the caller asks only for conditions with a plan
    plan, exposure = found
    partition = lookup.readout(plan)
    rows = (plan.partition == partition) & exposure.evaluated
    crossing = lookup.crossing(plan, report.grouping.codes)
    rate = lookup.effects(report, "exposure_rate", condition=condition, partition=partition, pooled=False)
    names = field_names(condition)
    exposed = rows & exposure.exposed
    similarity = np.asarray(exposure.nearest_similarity[rows], np.float64)
    return {
        "condition": condition,
        "seed": plan.seed,
        "partition": partition,
        "partitions": lookup.partition_sizes(plan),
        "fields": names,
        "n": int(rows.sum()),
        "exposed": int(exposed.sum()),
        "interval": _interval([e for e in rate if e.seed in (None, plan.seed)]),
        "crossing": [crossing.groups, crossing.of_groups],
        "dose": float(np.median(exposure.mates_in_train[exposed])) if exposed.any() else None,
        "classes": _classes(report, rows, exposure.exposed),
        "models": _correct(report, plan, rows, exposure.exposed),
        "histogram": _histogram(similarity, exposure.exposed[rows]),
    }


def _interval(found: list[Effect]) -> list[float]:
    return [found[0].low, found[0].high] if found else [math.nan, math.nan]


def _classes(report: AuditReport, rows: Bools, exposed: Bools) -> list[dict[str, Any]]:
    """Classes of the readout partition, the most exposed first."""
    labels, names = report.samples.labels, report.samples.classes
    known = rows & (labels >= 0)
    n = np.bincount(labels[known], minlength=len(names))
    k = np.bincount(labels[known & exposed], minlength=len(names))
    there = np.flatnonzero(n)
    order = there[np.lexsort((there, -(k[there] / np.maximum(1, n[there]))))]
    return [{"class": names[c], "n": int(n[c]), "exposed": int(k[c])} for c in order[:MOST_CLASSES].tolist()]


def _correct(report: AuditReport, plan: SplitPlan, rows: Bools, exposed: Bools) -> list[dict[str, Any]]:
    """For each model how many exposed and unexposed images of the readout it gets right."""
    result = []
    for run in report.runs:
        if (run.condition, run.seed) != (plan.condition, plan.seed):
            continue
        right = np.zeros(len(rows), bool)
        right[run.rows] = run.predicted == report.samples.labels[run.rows]
        seen = np.zeros(len(rows), bool)
        seen[run.rows] = True
        seen &= rows
        counts = {
            word: [int((seen & side & right).sum()), int((seen & side).sum())]
            for word, side in (("exposed", exposed), ("unexposed", ~exposed))
        }
        field = f"hsd_{field_part(plan.condition)}_pred_{field_part(run.config.model)}"
        result.append({"model": lookup.model_name(run.config.model), "field": field, **counts})
    return result


def _histogram(similarity: Any, exposed: Bools) -> dict[str, Any] | None:
    """Counts in `BINS` equal bins of cosine similarity from `LOWEST` to 1; None if nothing was searched."""
    known = ~np.isnan(similarity)
    if not known.any():
        return None
    # The same comparison as a filter of the samples makes, so that counts and filters agree to the image.
    place = np.clip(np.searchsorted(np.array(edges()), similarity[known], side="right") - 1, 0, BINS - 1)
    sides = {"exposed": exposed[known], "unexposed": ~exposed[known]}
    return {word: np.bincount(place[side], minlength=BINS).tolist() for word, side in sides.items()}


def edges() -> list[float]:
    """The low ends of the bins, and 1."""
    return [LOWEST + (1 - LOWEST) * k / BINS for k in range(BINS + 1)]


def above(histogram: Mapping[str, Any], threshold: float) -> dict[str, int]:
    """Images on each side (exposed, unexposed) whose nearest train image is at least as similar as an edge of a bin."""
    first = min(range(BINS + 1), key=lambda k: abs(edges()[k] - threshold))
    return {word: sum(histogram[word][first:]) for word in ("exposed", "unexposed")}


def ladder_overview(report: AuditReport, wanted: Sequence[str]) -> dict[str, Any]:
    """Score against exposure, inflation and gains per class of the wanted models."""
    steps, metric, end = lookup.conditions(report), lookup.metric(report), lookup.endpoint(report)
    models = []
    for model in wanted:
        rows = [_step(report, step, model, metric) for step in steps]
        known = [r for r in rows if r["score"] is not None]
        if known:
            gains = _gains(report, model, end)
            models.append({"model": model, "name": lookup.model_name(model), "rows": rows, **gains})
    return {"metric": metric, "endpoint": end, "steps": steps, "models": models}


def _step(report: AuditReport, step: str, model: str, metric: str) -> dict[str, Any]:
    rate, n = lookup.exposed_rate(report, step)
    values = {
        what: lookup.estimate(lookup.effects(report, what, model=model, condition=step, metric=metric))
        for what in ("score", "inflation")
    }
    said = {k: None if v is None else [v.value, v.low, v.high] for k, v in values.items()}
    return {"condition": step, "exposure": rate, "n": n, **said}


def _gains(report: AuditReport, model: str, end: str) -> dict[str, Any]:
    """Change per class from intact to the end of the ladder, the largest first."""
    for metric in CLASS_METRICS:
        found = lookup.effects(report, "class_inflation", model=model, condition=end, metric=metric, class_name=None)
        named = [e for e in found if e.class_name]
        if named:
            named.sort(key=lambda e: (not math.isfinite(e.estimate), -e.estimate, e.class_name))
            rows = [
                {"class": e.class_name, "gain": [e.estimate, e.low, e.high], "n": e.n} for e in named[:MOST_CLASSES]
            ]
            return {"gain_metric": metric, "gains": rows}
    return {"gain_metric": "", "gains": []}


def finite(value: Any) -> Any:
    """Plain JSON without nan: what is not known is None."""
    if isinstance(value, Mapping):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, np.generic):
        return finite(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
