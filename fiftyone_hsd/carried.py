"""What other verbs found, carried over into an audit that is run again on the same images, labels and groups."""

from __future__ import annotations

import dataclasses

import numpy as np

from .model import AuditReport, Note
from .trainers._recipes import is_network

CONTROL = "control"
"""With this begin the topics of a control's notes and the names of its settings."""
TOPIC = "earlier results"
LEFT_OUT = (
    "{found} of the earlier report spoke of other {other} and were left out: run {verbs} again on this audit for them"
)


def carried_over(report: AuditReport, before: AuditReport | None) -> AuditReport:
    """The report with the label results, control results and trained runs of an earlier one.

    They stay if images, labels and groups are the same; a trained run also needs its split to be there again. What does
    not stay is named by a note. Runs that the new report has itself are not replaced.
    """
    there = [] if before is None else held(before)
    if before is None or not there:
        return report
    other = different(report, before)
    if other:
        return dataclasses.replace(report, notes=(*report.notes, left_out(there, other)))
    controls = [n for n in before.notes if n.topic.startswith(CONTROL)]
    more = {k: v for k, v in before.settings.items() if k.startswith(f"{CONTROL}_")}
    kept = dataclasses.replace(
        report,
        label_results=before.label_results,
        control_results=before.control_results,
        control_runs=before.control_runs,
        control_sheets=before.control_sheets,
        notes=(*report.notes, *controls),
        settings={**report.settings, **more},
    )
    return _with_training(kept, before) if before.run_records else kept


def held(before: AuditReport) -> list[tuple[str, str]]:
    """(what an earlier report holds of other verbs, the verb)."""
    results = (
        (before.label_results, "label results", "labels"),
        (before.control_results, "control results", "controls"),
        (before.run_records, "trained runs", "train"),
    )
    return [(words, verb) for found, words, verb in results if found]


def left_out(there: list[tuple[str, str]], other: list[str]) -> Note:
    """What of `held` does not stay, since it speaks of what is `different`."""
    found, verbs = (" and ".join(words) for words in zip(*there, strict=True))
    return Note("warning", TOPIC, LEFT_OUT.format(found=found, other=" and ".join(other), verbs=verbs))


def same_splits(report: AuditReport, before: AuditReport) -> set[tuple[str, int]]:
    """(condition, seed) of the splits that are the same in both."""
    now = {(p.condition, p.seed): p.digest for p in report.plans}
    return {key for p in before.plans if now.get(key := (p.condition, p.seed)) == p.digest}


def different(report: AuditReport, before: AuditReport) -> list[str]:
    """What the two reports speak of that is not the same."""
    now, then = report.samples, before.samples
    images = now.ids == then.ids and report.scan.content == before.scan.content
    labels = now.classes == then.classes and np.array_equal(now.labels, then.labels)
    groups = np.array_equal(report.grouping.codes, before.grouping.codes)
    same = {"images": images, "labels": labels, "groups": groups}
    return [name for name, equal in same.items() if not equal]


def _with_training(report: AuditReport, before: AuditReport) -> AuditReport:
    """With the trained runs whose split is there again, and all numbers made anew."""
    from .effects import FURTHER, effects
    from .verdict import verdict

    same = same_splits(report, before)
    own = {(r.config.model, r.condition, r.seed) for r in report.runs}
    looks = report.settings.get("descriptor") == before.settings.get("descriptor")
    usable = [r for r in before.run_records if (r.condition, r.seed) in same and (looks or is_network(r.model))]
    records = tuple(r for r in usable if (r.model, r.condition, r.seed) not in own)
    trained = {(r.model, r.condition, r.seed) for r in records}
    runs = tuple(r for r in before.runs if (r.config.model, r.condition, r.seed) in trained)
    notes = [n for n in before.notes if n.topic == "training"]
    gone = len(before.run_records) - len(usable)
    if gone:
        text = f"{gone} trained runs were left out: their splits or their descriptor are not those of this audit"
        notes.append(Note("warning", TOPIC, text))
    report = dataclasses.replace(
        report,
        runs=(*runs, *report.runs),
        run_records=records,
        notes=(*report.notes, *notes),
        settings={**report.settings, **{k: v for k, v in before.settings.items() if k == "training"}},
    )
    parts = (report.samples, report.grouping, report.plans, report.exposures)
    further = [e for e in report.effects if e.what.startswith(FURTHER)]
    found = (*effects(*parts, report.runs), *further)
    return dataclasses.replace(report, effects=found, verdict=verdict(*parts, found))
