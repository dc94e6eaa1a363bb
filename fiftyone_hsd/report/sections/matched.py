"""Own mates in train: the effect of the matched swap, and the naive difference beside its overlap."""

from __future__ import annotations

import math

from ...matched_swap import COVERAGE, DOSE, EFFECT
from ...model import AuditReport
from .. import lookup
from ..blocks import Block, Cell, Column, Estimate, Fact, Facts, Section, Table, Text
from ..wording import interval, number

TITLE = "Own mates in train: the matched swap"
WORDS = (
    "Pairs of groups of one class and like size each give a test part and a reserve of equal content. A coin puts one "
    "of the two reserves into train; a second model is trained with the other one. Test images, size of train, class "
    "counts and number of groups are the same in both, so exposed and unexposed test images differ by the coin alone. "
    "What is estimated: the accuracy that this many own mates in train add, against as many unrelated files, about "
    "groups that can be paired. It is not the inflation of a random split, where the number of groups in train "
    "changes too."
)
NAIVE = (
    "Exposed minus unexposed inside random compares different images (large groups are exposed, singletons are not). "
    "It says little where few images had a real chance to be either; no interval can repair that."
)


def section(report: AuditReport) -> Section | None:
    """Effect, coverage and dose; None unless a model was run under both plans or the swap was refused."""
    missing = [n for n in lookup.all_notes(report) if n.topic == "matched swap"]
    found = lookup.effects(report, EFFECT, pooled=False)
    refused = [n for n in missing if n.level == "not evaluated"]
    if not found:
        return Section("matched", TITLE, 42, "", tuple(lookup.notices(refused))) if refused else None
    blocks: list[Block] = [Text(WORDS, "meaning"), _table(report), _facts(report)]
    blocks += lookup.notices(missing, "info", "warning", "problem")
    return Section("matched", TITLE, 42, _lead(report), tuple(blocks))


def _lead(report: AuditReport) -> str:
    said = []
    for e in lookup.effects(report, EFFECT, pooled=False)[:2]:
        value = Estimate(e.estimate, e.low, e.high, e.n)
        words = f"{lookup.model_name(e.model)} {number(e.estimate, 'change')} {interval(value, 'change')}".strip()
        if not math.isfinite(e.low):
            words += ", without an interval"
        elif e.low <= 0 <= e.high:
            words += ", an interval that covers 0"
        said.append(words)
    return f"Accuracy that own mates in train add, by {_pairs(report)} pairs of groups: {'; '.join(said)}."


def _pairs(report: AuditReport) -> str:
    return f"{lookup.effects(report, EFFECT, pooled=False)[0].n:,}"


def _table(report: AuditReport) -> Table:
    columns = (
        Column("model"),
        Column("effect of own mates", "change", "with 95 % interval and the number of pairs, the unit of the coin"),
        Column("exposed minus unexposed", "change", "inside random, naive: not an effect"),
        Column("overlap", "share", "of the test images of random had a chance between .1 and .9 to be exposed"),
        Column("unexposed singletons", "share", "of the unexposed of random have no mate at all"),
    )
    used = lookup.effects(report, EFFECT, pooled=False)
    rows: list[tuple[Cell, ...]] = []
    for e in used:
        naive = ("naive_exposed_minus_unexposed", "exposure_overlap", "unexposed_singleton_share")
        values = [_first(report, what, e.model) for what in naive]
        rows.append((lookup.model_name(e.model), Estimate(e.estimate, e.low, e.high, e.n), *values))
    return Table("Accuracy", columns, tuple(rows), file="effects.csv", notes=(NAIVE, *lookup.methods(used)[:1]))


def _first(report: AuditReport, what: str, model: str) -> float | None:
    found = lookup.effects(report, what, model=model, pooled=False)
    return found[0].estimate if found else None


def _facts(report: AuditReport) -> Facts:
    facts = []
    for what, label, kind in (
        (COVERAGE, "Coverage of the matches", "share"),
        (DOSE, "Own mates in train when exposed", "number"),
    ):
        for e in lookup.effects(report, what, pooled=False)[:1]:
            facts.append(Fact(label, e.estimate, e.method, kind))  # type: ignore[arg-type]
    return Facts(tuple(facts))
