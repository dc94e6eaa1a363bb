"""New runs joined with what a folder held before: only what speaks of the same images, labels, splits and recipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from .carried import CONTROL, TOPIC, different, held, left_out, same_splits
from .matched_swap import SWAPPED, matched_numbers
from .model import AuditReport, Note, Run, RunRecord, SplitPlan, sha256_json
from .report.wording import many
from .splitting.matched import MatchedDesign
from .train_inputs import with_further
from .trainers._recipes import BEST, in_words, is_network

KEPT = ("control_results", "control_runs", "control_sheets", "label_results")
"""Results of other verbs, which training leaves alone."""

Keys = Mapping[tuple[str, str, int], str]
"""(model, condition, seed) -> digest that a run of the present recipe has."""


def cheap_digest(plan: SplitPlan, model: str, descriptor: str) -> str:
    """SHA-256 (hex) of what determines a run of a model that looks at descriptors."""
    return sha256_json([plan.digest, model, plan.seed, descriptor])


def joined(
    report: AuditReport,
    before: AuditReport | None,
    runs: Sequence[Run],
    records: Sequence[RunRecord],
    *,
    keys: Keys | None = None,
    descriptor: str = "",
    design: MatchedDesign | None = None,
) -> AuditReport:
    """The report with new runs, and those of before that speak of the same samples and splits.

    A model that is trained again keeps no run of another recipe, other weights or another version: its scores under the
    conditions are compared with each other. Of the runs of the matched swap it holds the records and what they say.

    Args:
        keys: of the networks that were trained now; None = nothing is known of recipes.
        descriptor: what cheap models look at now, "" = nothing is known of it.
        design: the matched swap, if its two plans are among those of `runs`.
    """
    notes: list[Note] = []
    found, other = _usable(report, before, notes)
    old_runs: list[Run] = []
    old_records: list[RunRecord] = []
    if found is not None:
        stale = _of_another_recipe(found, keys or {}, descriptor, notes)
        new = {(r.model, r.condition, r.seed) for r in records} | {(r.config.model, r.condition, r.seed) for r in runs}
        same = same_splits(report, found)
        if "groups" not in other:  # the two plans of the matched swap follow from the groups
            same |= {(r.condition, r.seed) for r in found.run_records if r.condition in SWAPPED}
        old_runs = [r for r in found.runs if _stays(r.config.model, r, same, new, stale)]
        old_records = [r for r in found.run_records if _stays(r.model, r, same, new, stale)]
        if "groups" not in other:
            report = with_further(report, (e for e in found.effects if not stale.get(e.model)), found.notes)
    if design is not None:
        report = with_further(report, matched_numbers(report.samples, report.grouping, design, runs), design.notes)
    kept = report if found is None or other else found
    readings = [n for n in kept.notes if n.topic.startswith(CONTROL)]
    return dataclasses.replace(
        report,
        runs=(*old_runs, *(r for r in runs if r.condition not in SWAPPED)),
        run_records=(*old_records, *records),
        **{name: getattr(kept, name) for name in KEPT},
        notes=tuple(dict.fromkeys((*report.notes, *readings, *notes, *_failures([*old_records, *records])))),
    )


def _usable(report: AuditReport, before: AuditReport | None, notes: list[Note]) -> tuple[AuditReport | None, list[str]]:
    """(the earlier report, None if it is about other images or labels; what is not the same)."""
    if before is None:
        return None, []
    other = different(report, before)
    there = held(before) if other else []
    if other == ["groups"]:  # runs under splits that are the same stay
        there = [one for one in there if one[1] != "train"]
    if there:
        notes.append(left_out(there, other))
    return (before if other in ([], ["groups"]) else None), other


def _stays(
    model: str,
    run: Run | RunRecord,
    same: set[tuple[str, int]],
    new: set[tuple[str, str, int]],
    stale: Mapping[str, set[tuple[str, int]]],
) -> bool:
    at = (run.condition, run.seed)
    return at in same and (model, *at) not in new and at not in stale.get(model, ())


def _of_another_recipe(
    before: AuditReport, keys: Keys, descriptor: str, notes: list[Note]
) -> dict[str, set[tuple[str, int]]]:
    """Model -> (condition, seed) of its earlier runs that are not what a training of now would give."""
    digest = {(r.model, r.condition, r.seed): r.digest for r in before.run_records}
    retrained = {model for model, _, _ in keys}
    looks = bool(descriptor) and descriptor != before.settings.get("descriptor")
    stale: dict[str, set[tuple[str, int]]] = {}
    there = dict.fromkeys((r.config.model, r.condition, r.seed) for r in before.runs)
    for model, condition, seed in {**there, **dict.fromkeys(digest)}:
        at = (model, condition, seed)
        if is_network(model):
            wrong = model in retrained and condition not in SWAPPED and digest.get(at) != keys.get(at, digest.get(at))
        else:
            wrong = looks
        if wrong:
            stale.setdefault(model, set()).add((condition, seed))
    for model in stale:  # its matched swap cannot be told from one of the other recipe
        stale[model] |= {(c, s) for m, c, s in digest if m == model and c in SWAPPED}
    for model, gone in stale.items():
        if not model.endswith(BEST):
            text = f"{many(len(gone), 'run')} of {in_words(model)} by another recipe, weights, version or descriptor"
            notes.append(Note("warning", TOPIC, f"{text} were left out: train it again under the other conditions"))
    return stale


def _failures(records: Iterable[RunRecord]) -> Iterable[Note]:
    for r in records:
        if r.status != "done":
            text = f"{in_words(r.model)}, {r.condition}, seed {r.seed}: {r.status}: {r.reason}"
            yield Note("not evaluated", "training", text)
