"""What the panel shows of label results: counts, the first suspects, groups that look wrong as a whole. Plain JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import SCHEMA, AuditReport, Effect, Ints, LabCheck, LabelIssues
from ..report import lookup
from ..report.sections.labels import MEANINGS

MOST_SUSPECTS = 60
MOST_GROUPS = 40
MOST_CLASSES = 200
MOST_MATES = 11
"""Mates that are shown beside a suspect."""
MOST_IDS = 200
WIDE = "group-wide"
KINDS = ("group", "random")


def label_overview(report: AuditReport, *, label: str = "") -> dict[str, Any]:
    """The panel's value of the newest label results.

    Args:
        label: path of the class names in the dataset ("" = the samples have none).
    """
    issues = report.label_results[-1]
    known = report.samples.labels >= 0
    return {
        "schema": SCHEMA,
        "model": lookup.model_name(issues.model),
        "options": dict(issues.options),
        "label": label,
        "labelled": int(known.sum()),
        "flagged": int(issues.flagged.sum()),
        "likely": int(issues.likely.sum()),
        "evaluated": bool(np.isfinite(issues.score).any()),
        "mechanisms": _mechanisms(issues),
        "classes": _classes(report, issues),
        "folds": [_folds(issues, kind) for kind in KINDS],
        "groups": _groups(report, issues),
        "suspects": _suspects(report, issues),
        "checks": [_check(report, c) for c in issues.checks],
        "notes": [{"level": n.level, "text": n.text, "count": n.count} for n in issues.notes],
    }


def _mechanisms(issues: LabelIssues) -> list[dict[str, Any]]:
    rows = []
    for name, meaning in MEANINGS.items():
        mine = issues.mechanism == name
        kinds = {"likely": issues.likely, "group": issues.by_group, "random": issues.by_random}
        counts = {word: int((mine & kind).sum()) for word, kind in kinds.items()}
        rows.append({"mechanism": name, "images": int(mine.sum()), **counts, "meaning": meaning})
    return rows


def _classes(report: AuditReport, issues: LabelIssues) -> list[dict[str, Any]]:
    """Classes with a suspected label, those with the largest suspected share first."""
    labels, names = report.samples.labels, report.samples.classes
    inside = labels >= 0
    size, flagged, likely = (
        np.bincount(labels[inside & rows], minlength=len(names)) for rows in (inside, issues.flagged, issues.likely)
    )
    there = np.flatnonzero(flagged)
    order = there[np.lexsort((there, -(flagged[there] / np.maximum(1, size[there]))))]
    return [
        {"class": names[c], "n": int(size[c]), "flagged": int(flagged[c]), "likely": int(likely[c])}
        for c in order[:MOST_CLASSES].tolist()
    ]


def _folds(issues: LabelIssues, kind: str) -> dict[str, Any]:
    """How well the model does under one kind of folds, how much it suspects there, or why it was not asked."""
    score = issues.score_group if kind == "group" else issues.score_random
    by = issues.by_group if kind == "group" else issues.by_random
    head = f"label issues by {kind} folds: "
    reasons = [
        n.text.removeprefix(head) for n in issues.notes if n.level == "not evaluated" and n.text.startswith(head)
    ]
    skill = next((e for e in issues.effects if (e.condition, e.metric) == (f"{kind} folds", "balanced_accuracy")), None)
    return {
        "kind": kind,
        "evaluated": bool(np.isfinite(score).any()),
        "reason": reasons[0] if reasons else "",
        "skill": None if skill is None else _estimate(skill),
        "images": int(by.sum()),
    }


def _estimate(effect: Effect) -> list[float | None]:
    return [_number(v) for v in (effect.estimate, effect.low, effect.high)]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _groups(report: AuditReport, issues: LabelIssues) -> list[dict[str, Any]]:
    """The groups with labels that look wrong as a whole, the largest such part first; one entry a group and label."""
    samples, codes = report.samples, report.grouping.codes
    rows = np.flatnonzero(issues.mechanism == WIDE)
    if not len(rows):
        return []
    keys, inverse = np.unique(np.stack([codes[rows], samples.labels[rows]]), axis=1, return_inverse=True)
    parts = [rows[inverse.ravel() == k] for k in range(keys.shape[1])]
    parts.sort(key=lambda p: (-len(p), samples.ids[p[0]]))
    ids = report.grouping.group_ids(samples.ids)
    found = []
    for part in parts[:MOST_GROUPS]:
        said = issues.suggested[part]
        said = said[said >= 0]
        rather = samples.classes[int(np.bincount(said).argmax())] if len(said) else ""
        found.append(
            {
                "group": ids[part[0]],
                "first": _file(report, int(part[0])),
                "images": len(part),
                "size": int((codes == codes[part[0]]).sum()),
                "label": samples.classes[samples.labels[part[0]]],
                "suggested": rather,
                "likely": int(issues.likely[part].sum()),
                "ids": [samples.ids[r] for r in part[:MOST_IDS].tolist()],
            }
        )
    return found


def _suspects(report: AuditReport, issues: LabelIssues) -> list[dict[str, Any]]:
    """The least believed labels, likely ones first, each with some of its mates."""
    samples, codes = report.samples, report.grouping.codes
    rows = np.flatnonzero(issues.flagged)
    rows = rows[np.lexsort((issues.score[rows], ~issues.likely[rows]))][:MOST_SUSPECTS]
    names = (*samples.classes, "")
    return [
        {
            "id": samples.ids[r],
            "name": _file(report, r),
            "label": names[samples.labels[r]],
            "suggested": names[issues.suggested[r]],
            "mechanism": str(issues.mechanism[r]),
            "likely": bool(issues.likely[r]),
            "belief": _number(float(issues.score[r])),
            "mates": [samples.ids[m] for m in _mates(codes, r)],
        }
        for r in rows.tolist()
    ]


def _mates(codes: Ints, row: int) -> list[int]:
    found = np.flatnonzero(codes == codes[row])
    return [int(m) for m in found[: MOST_MATES + 1] if m != row][:MOST_MATES]


def _file(report: AuditReport, row: int) -> str:
    return report.samples.names[row].rpartition("/")[2]


def _check(report: AuditReport, check: LabCheck) -> dict[str, Any]:
    """One check of Datalab: how many images it flags, some of them, or why it was not evaluated."""
    rows = np.flatnonzero(check.flagged)
    rows = rows[np.argsort(check.score[rows], kind="stable")][:MOST_IDS]
    images = None if check.reason else int(check.flagged.sum())
    return {
        "check": check.name,
        "images": images,
        "reason": check.reason,
        "ids": [report.samples.ids[r] for r in rows.tolist()],
    }
