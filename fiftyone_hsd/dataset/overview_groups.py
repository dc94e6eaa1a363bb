"""The groups of an audit as the panel shows them: sizes, rules in words, weak links, conflicts. Needs no fiftyone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ..model import AuditReport, Grouping, Ints
from ..report import lookup
from ..report.sections.groups import EDGES

MOST = 50
"""Rows of each list; the fields on the samples hold all of them."""
RULE_TOPICS = ("rule", "names", "copies", "metadata", "similarity", "unknown groups")


def groups_overview(report: AuditReport) -> dict[str, Any]:
    """Counts over all groups, and the first `MOST` of what a reader should look at."""
    grouping = report.grouping
    sizes = grouping.sizes
    several = sizes > 1
    said = _readable(report)
    return {
        "groups": grouping.n_groups,
        "several": int(several.sum()),
        "with_mate": int(sizes[several].sum()),
        "largest": int(sizes.max(initial=0)),
        "sizes": list(_sizes(sizes)),
        "rules": _rules(grouping),
        "said": [
            {"level": n.level, "topic": n.topic, "text": n.text, "count": n.count, "examples": said(n.examples)}
            for n in grouping.notes
            if n.topic in RULE_TOPICS
        ],
        "conflicts": [
            {"topic": n.topic, "text": n.text, "count": n.count, "examples": said(n.examples)}
            for n in grouping.notes
            if n.level == "problem"
        ],
        "turned_down": int((~grouping.links.accepted).sum()),
        **_lists(report),
    }


def grouping_overview(grouping: Grouping, paths: Sequence[str]) -> dict[str, Any]:
    """The same of groups that no audit holds: `paths[i]` is what a reader calls file i."""
    sizes = grouping.sizes
    several = sizes > 1
    links = grouping.links
    weakest = [
        {
            "pair": [paths[int(links.a[r])], paths[int(links.b[r])]],
            "source": str(links.source[r]),
            "rule": str(links.rule[r]),
            "score": float(links.score[r]),
        }
        for r in _weakest(grouping).tolist()
    ]
    return {
        "several": int(several.sum()),
        "with_mate": int(sizes[several].sum()),
        "largest": int(sizes.max(initial=0)),
        "sizes": list(_sizes(sizes)),
        "rules": _rules(grouping),
        "weakest": weakest,
    }


def _readable(report: AuditReport) -> Callable[[Iterable[str]], list[str]]:
    """Examples with file names where they name samples by the ids of a database."""
    names = report.samples.names
    row = {name: i for i, name in enumerate(report.samples.ids)} if len(names) else {}

    def name_of(match: re.Match[str]) -> str:
        return PurePosixPath(names[row[match[0]]]).name if match[0] in row else match[0]

    return lambda examples: [re.sub(r"\b[0-9a-f]{24}\b", name_of, text) for text in examples]


def _sizes(sizes: Ints) -> Iterable[dict[str, Any]]:
    """Groups and images by size of the group, in the report's bins."""
    if not len(sizes):  # no source knows a group
        return
    edges = [e for e in EDGES if e <= sizes.max(initial=0)]
    ends = [*(e - 1 for e in edges[1:]), int(sizes.max(initial=0))]
    for low, high in zip(edges, ends, strict=True):
        inside = (sizes >= low) & (sizes <= high)
        if inside.any():
            yield {"low": low, "high": high, "groups": int(inside.sum()), "images": int(sizes[inside].sum())}


def _rules(grouping: Grouping) -> list[dict[str, Any]]:
    """One row for each rule of a source: its links, the images they touch, the weakest of them."""
    links = grouping.links
    if not len(links):
        return []
    sources, source = np.unique(links.source, return_inverse=True)
    rules, rule = np.unique(links.rule, return_inverse=True)
    kinds, number = np.unique(source * len(rules) + rule, return_inverse=True)
    rows: list[dict[str, Any]] = []
    for k, kind in enumerate(kinds.tolist()):
        taken = (number == k) & links.accepted
        rows.append(
            {
                "source": str(sources[kind // len(rules)]),
                "rule": str(rules[kind % len(rules)]),
                "links": int(taken.sum()),
                "images": len(np.unique(np.r_[links.a[taken], links.b[taken]])),
                "weakest": float(links.score[taken].min()) if taken.any() else None,
                "turned_down": int(((number == k) & ~links.accepted).sum()),
            }
        )
    return sorted(rows, key=lambda r: (-r["links"], r["source"], r["rule"]))[:MOST]


def _lists(report: AuditReport) -> dict[str, Any]:
    """The largest groups, those with several classes, and the weakest accepted links, with group ids."""
    grouping, ids, paths = report.grouping, report.samples.ids, report.samples.names
    sizes, names = grouping.sizes, _names(grouping, ids)
    evidence, weakest = _evidence(grouping)
    labels = report.samples.labels
    known = (labels >= 0) & (grouping.codes >= 0)
    group, label = lookup.pairs_of(grouping.codes[known], labels[known].astype(np.int64))
    classes = np.bincount(group, minlength=len(sizes))

    def row(code: int) -> dict[str, Any]:
        return {
            "group": names[code],
            "size": int(sizes[code]),
            "evidence": evidence[code],
            "weakest": float(weakest[code]) if np.isfinite(weakest[code]) else None,
            "classes": [report.samples.classes[c] for c in label[group == code].tolist()][:6],
        }

    large = [c for c in np.argsort(-sizes, kind="stable")[:MOST].tolist() if sizes[c] > 1]
    torn = np.flatnonzero(classes > 1)
    torn = torn[np.argsort(-sizes[torn], kind="stable")]
    links = grouping.links
    return {
        "list": [row(c) for c in large],
        "across_classes": len(torn),
        "across": [row(c) for c in torn[:MOST].tolist()],
        "weakest": [
            {
                "a": ids[int(links.a[r])],
                "b": ids[int(links.b[r])],
                "names": [paths[int(links.a[r])], paths[int(links.b[r])]],
                "group": names[int(grouping.codes[links.a[r]])],
                "source": str(links.source[r]),
                "rule": str(links.rule[r]),
                "score": float(links.score[r]),
            }
            for r in _weakest(grouping).tolist()
        ],
    }


def _weakest(grouping: Grouping) -> Ints:
    """Rows of the least certain accepted links, the least first."""
    links = grouping.links
    weak = np.flatnonzero(links.accepted & (links.score < 1))
    found: Ints = weak[np.argsort(links.score[weak], kind="stable")][:MOST]
    return found


def _names(grouping: Grouping, ids: tuple[str, ...]) -> list[str]:
    """The id of each group, by code."""
    result = [""] * grouping.n_groups
    for code, name in zip(grouping.codes.tolist(), grouping.group_ids(ids), strict=True):
        if code >= 0:
            result[code] = name
    return result


def _evidence(grouping: Grouping) -> tuple[list[str], Any]:
    """For each group its sources, sorted and joined by +, and the score of its weakest link (nan = none)."""
    links = grouping.links
    n = grouping.n_groups
    taken = links.take(links.accepted)
    code = grouping.codes[taken.a] if len(taken) else np.zeros(0, np.int64)
    weakest = np.full(n, np.inf)
    np.minimum.at(weakest, code, taken.score)
    sources, source = np.unique(taken.source, return_inverse=True)
    held: list[set[str]] = [set() for _ in range(n)]
    for group, kind in zip(*lookup.pairs_of(code, source.astype(np.int64)), strict=True):
        held[int(group)].add(str(sources[int(kind)]))
    return ["+".join(sorted(s)) for s in held], np.where(np.isinf(weakest), np.nan, weakest)
