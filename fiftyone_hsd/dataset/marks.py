"""What an audit leaves on the samples of a dataset, as plain values: fields, tags, saved views. Needs no fiftyone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..model import TRAIN, UNUSED, AuditReport, Exposure, Grouping, Ints, Run, SplitPlan
from ..splitting import Repair

EXISTING = "existing"
TAG = "hsd:"
VIEW = "hsd-"
MAX_PAIRS = 500
"""Pairs in the saved view of pairs: 1,000 ids, far below what one view stage may hold."""

Kind = Literal["str", "int", "float", "bool", "class"]


@dataclass(frozen=True)
class Column:
    """One sample field. `values` has one entry a sample, None = no value; a class is (label, confidence)."""

    name: str
    kind: Kind
    description: str
    values: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Tagging:
    """One sample tag and the rows that carry it."""

    tag: str
    rows: Ints


@dataclass(frozen=True)
class ViewPlan:
    """One saved view: the samples that carry all `tags`, or `ids` in that order, or (neither) those with a mate."""

    name: str
    description: str
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """One evaluation run of FiftyOne's own: predictions against labels, on the samples that have a value in `within`.

    Attributes:
        name: its key, which is also the field that says of each of these samples whether it is right.
        predicted, truth: classification fields.
        classes: the fixed class list.
    """

    name: str
    predicted: str
    truth: str
    within: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Marks:
    """Everything an audit writes; row i of every column belongs to `ids[i]`."""

    ids: tuple[str, ...]
    columns: tuple[Column, ...]
    tags: tuple[Tagging, ...]
    views: tuple[ViewPlan, ...]
    evaluations: tuple[Evaluation, ...] = ()


def marks(report: AuditReport) -> Marks:
    """The marks of a report: groups, then the lowest seed of every condition."""
    ids = report.samples.ids
    columns = list(group_columns(report.grouping, ids))
    tags: list[Tagging] = []
    views: list[ViewPlan] = []
    if (report.grouping.sizes > 1).any():
        views.append(ViewPlan(f"{VIEW}groups", "Images that share a group with another, group by group"))
    for plan, exposure in primary(report):
        columns += _plan_columns(plan, exposure, ids)
        columns += [_prediction(plan, run, report.samples.classes) for run in _runs_of(report.runs, plan)]
        tags += _plan_tags(plan, exposure)
        views += _plan_views(plan, exposure, ids)
    return Marks(ids, tuple(_unique(columns)), tuple(tags), tuple(_unique(views)))


def repair_marks(report: AuditReport, repair: Repair, exposure: Exposure) -> Marks:
    """The marks of a repaired split: its partition, why a sample changes, and views of what moves and is set aside."""
    ids, plan = report.samples.ids, repair.plan
    why: list[str | None] = [None] * len(ids)
    for row, before, after, reason in zip(
        repair.rows.tolist(), repair.before.tolist(), repair.after.tolist(), repair.reason.tolist(), strict=True
    ):
        why[row] = f"{before} to {after}: {reason}"
    name = f"hsd_{field_part(plan.condition)}"
    columns = [*_plan_columns(plan, exposure, ids), Column(f"{name}_reason", "str", "Why the repair changes it", why)]
    tags, views = list(_plan_tags(plan, exposure)), list(_plan_views(plan, exposure, ids))
    for word, rows in (("moved", repair.after != UNUSED), ("set-aside", repair.after == UNUSED)):
        if rows.any() and word not in repair.sizes:
            tags.append(Tagging(f"{TAG}{plan.condition}:{word}", repair.rows[rows]))
            views.append(
                ViewPlan(f"{VIEW}{plan.condition}-{word}", f"{int(rows.sum())} images {word}", (tags[-1].tag,))
            )
    return Marks(ids, tuple(_unique(columns)), tuple(tags), tuple(_unique(views)))


def field_part(text: str) -> str:
    """A condition or model name as part of a field name: letters, digits and underscores."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "unnamed"


def field_names(condition: str) -> dict[str, str]:
    """The fields that say something about one condition."""
    name = f"hsd_{field_part(condition)}"
    if condition != EXISTING:
        return {"partition": name, "exposed": f"{name}_exposed", "similarity": f"{name}_nearest_similarity"}
    return {"partition": name, "exposed": "hsd_exposed", "similarity": "hsd_nearest_similarity"}


def _unique(items: Iterable[Any]) -> list[Any]:
    """The items, the first of each name: two odd names may become one when they are made safe."""
    named: dict[str, Any] = {}
    for item in items:
        named.setdefault(item.name, item)
    return list(named.values())


def group_columns(grouping: Grouping, ids: Sequence[str]) -> Iterable[Column]:
    """The fields that say which group a sample is in, why, and how large it is."""
    evidence = _evidence(grouping)
    codes = grouping.codes.tolist()
    names = [name or None for name in grouping.group_ids(ids)]
    yield Column("hsd_group", "str", "Group of images that are not independent of each other", names)
    words = "What links the image to its group; empty without a mate"
    yield Column("hsd_evidence", "str", words, [evidence[c] if c >= 0 else None for c in codes])
    sizes = grouping.sizes.tolist()
    yield Column("hsd_group_size", "int", "Images in its group", [sizes[c] if c >= 0 else None for c in codes])


def _evidence(grouping: Grouping) -> list[str | None]:
    """For each group its evidence sources, sorted and joined by "+"; None for a group of one."""
    links = grouping.links
    sources: list[set[str]] = [set() for _ in range(grouping.n_groups)]
    for code, other, source, accepted in zip(
        grouping.codes[links.a].tolist(),
        grouping.codes[links.b].tolist(),
        links.source.tolist(),
        links.accepted.tolist(),
        strict=True,
    ):
        if accepted and code == other and code >= 0:
            sources[code].add(source)
    return ["+".join(sorted(s)) if s else None for s in sources]


def primary(report: AuditReport) -> Iterable[tuple[SplitPlan, Exposure]]:
    """Plan and exposure of the lowest seed of each condition, in the report's order."""
    best: dict[str, tuple[SplitPlan, Exposure]] = {}
    for plan, exposure in zip(report.plans, report.exposures, strict=True):
        if plan.condition not in best or plan.seed < best[plan.condition][0].seed:
            best[plan.condition] = (plan, exposure)
    return best.values()


def _runs_of(runs: Iterable[Run], plan: SplitPlan) -> Iterable[Run]:
    return (r for r in runs if r.condition == plan.condition and r.seed == plan.seed)


def _plan_columns(plan: SplitPlan, exposure: Exposure, ids: Sequence[str]) -> Iterable[Column]:
    name = f"hsd_{field_part(plan.condition)}"
    existing = plan.condition == EXISTING
    drawn = "the split as published" if existing else f"condition {plan.condition}, seed {plan.seed}"
    yield Column(name, "str", f"Partition: {drawn}", plan.partition.tolist())
    pairs = zip(exposure.exposed.tolist(), exposure.evaluated.tolist(), strict=True)
    said = [e if evaluated else None for e, evaluated in pairs]
    words = f"At least one mate in train; empty for train and unused images: {drawn}"
    yield Column("hsd_exposed" if existing else f"{name}_exposed", "bool", words, said)
    similarity = [None if s != s else s for s in exposure.nearest_similarity.tolist()]
    if existing or any(s is not None for s in similarity):
        field = field_names(plan.condition)["similarity"]
        yield Column(field, "float", f"Cosine similarity to the most similar train image: {drawn}", similarity)
    if not existing:
        return
    yield Column("hsd_mates_in_train", "int", f"Mates in train: {drawn}", exposure.mates_in_train.tolist())
    near = [ids[i] if i >= 0 else None for i in exposure.nearest_train.tolist()]
    yield Column("hsd_nearest_train", "str", f"Id of the most similar train image: {drawn}", near)


def _prediction(plan: SplitPlan, run: Run, classes: Sequence[str]) -> Column:
    values: list[tuple[str, float] | None] = [None] * len(plan)
    best = run.predicted.tolist()
    sure = run.probabilities.max(1).tolist() if len(run.rows) else []
    for row, label, confidence in zip(run.rows.tolist(), best, sure, strict=True):
        values[row] = (classes[label], confidence)
    name = f"hsd_{field_part(plan.condition)}_pred_{field_part(run.config.model)}"
    return Column(name, "class", f"Predicted by {run.config.model}: {plan.condition}, seed {plan.seed}", values)


def _plan_tags(plan: SplitPlan, exposure: Exposure) -> Iterable[Tagging]:
    for partition in np.unique(plan.partition).tolist():
        yield Tagging(f"{TAG}{plan.condition}:{partition}", plan.rows(partition))
    for word, rows in (
        ("exposed", exposure.exposed & exposure.evaluated),
        ("unexposed", ~exposure.exposed & exposure.evaluated),
    ):
        if rows.any():
            yield Tagging(f"{TAG}{plan.condition}:{word}", np.flatnonzero(rows).astype(np.int64))


def _plan_views(plan: SplitPlan, exposure: Exposure, ids: Sequence[str]) -> Iterable[ViewPlan]:
    condition = plan.condition
    for partition in sorted(set(plan.partition.tolist()) - {TRAIN, UNUSED}):
        inside = (plan.partition == partition) & exposure.evaluated
        for word, rows in (("exposed", inside & exposure.exposed), ("unexposed", inside & ~exposure.exposed)):
            # A partition named in odd characters only would leave a name that says nothing.
            safe = re.sub(r"[^A-Za-z0-9]+", "-", partition).strip("-")[:80]
            if rows.any() and safe:
                has = "with a mate in train" if word == "exposed" else "without a mate in train"
                tags = (f"{TAG}{condition}:{partition}", f"{TAG}{condition}:{word}")
                name = f"{VIEW}{field_part(condition).replace('_', '-')}-{safe}-{word}"
                yield ViewPlan(name, f"{int(rows.sum())} {partition} images {has}", tags)
    pairs = _pairs(exposure, ids)
    if condition == EXISTING and pairs:
        yield ViewPlan(f"{VIEW}{EXISTING}-pairs", "Exposed images, each before its most similar train image", ids=pairs)


def _pairs(exposure: Exposure, ids: Sequence[str]) -> tuple[str, ...]:
    """Exposed images, most similar first, each followed by its nearest train image; no image twice."""
    rows = np.flatnonzero(exposure.exposed & (exposure.nearest_train >= 0))
    order = rows[np.argsort(-exposure.nearest_similarity[rows], kind="stable")]
    taken: set[int] = set()
    result: list[str] = []
    for row in order.tolist():
        near = int(exposure.nearest_train[row])
        if near not in taken and row not in taken:
            taken |= {row, near}
            result += [ids[row], ids[near]]
        if len(result) >= 2 * MAX_PAIRS:
            break
    return tuple(result)
