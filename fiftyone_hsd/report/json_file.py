"""report.json: everything the page says, for programs. No nan: what is not known is null."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model import SCHEMA, AuditReport, Note, sha256_json
from . import lookup
from .blocks import Figure, Pictures, Section
from .csv_files import sample_paths


def report_json(report: AuditReport, sections: Sequence[Section], files: Mapping[str, str]) -> str:
    """The text of report.json.

    Args:
        sections: what the page shows; figures as their tables, pictures as their ids and captions.
        files: name -> SHA-256 of the files written beside it.
    """
    value = {
        "schema": SCHEMA,
        "verdict": report.verdict,
        "corpus": _corpus(report),
        "groups": _groups(report),
        "splits": _splits(report),
        "effects": [_effect(e) for e in report.effects],
        "controls": [
            {"control": c.control, "variant": c.variant, "chance": c.chance, **_effect(c.effect)}
            for c in report.control_results
        ],
        "failures": [{"path": i, "reason": reason} for i, _, reason in report.failures],
        "not_evaluated": [_note(n) for n in lookup.all_notes(report) if n.level == "not evaluated"],
        "notes": [_note(n) for n in lookup.all_notes(report) if n.level != "not evaluated"],
        "sections": [_section(s) for s in sections],
        "settings": dict(report.settings),
        "versions": dict(report.versions),
        "digests": digests(report),
        "files": dict(sorted(files.items())),
    }
    return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def digests(report: AuditReport) -> dict[str, Any]:
    """SHA-256 of canonical JSON of the parts that determine the numbers, in order of ids."""
    samples, ids = report.samples, sample_paths(report)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    names = ["", *samples.classes]
    labels, split, content = samples.labels.tolist(), samples.split.tolist(), report.scan.content
    groups = report.grouping.group_ids(samples.ids)
    return {
        "samples": sha256_json([[ids[i], names[labels[i] + 1], split[i], content[i]] for i in order]),
        "groups": sha256_json([[ids[i], groups[i]] for i in order]),
        "plans": [{"condition": p.condition, "seed": p.seed, "sha256": p.digest} for p in report.plans],
    }


def _corpus(report: AuditReport) -> dict[str, Any]:
    samples = report.samples
    counts = np.bincount(samples.labels[samples.labels >= 0], minlength=len(samples.classes)).tolist()
    names, sizes = np.unique(samples.split[samples.split != ""], return_counts=True)
    return {
        "root": samples.root,
        "images": len(samples) + len(report.failures),
        "usable": len(samples),
        "failed": len(report.failures),
        "labelled": int((samples.labels >= 0).sum()),
        "classes": dict(zip(samples.classes, counts, strict=True)),
        "existing_split": dict(zip(names.tolist(), sizes.tolist(), strict=True)),
    }


def _groups(report: AuditReport) -> dict[str, Any]:
    sizes, links = report.grouping.sizes, report.grouping.links
    return {
        "groups": report.grouping.n_groups,
        "groups_of_two_or_more": int((sizes > 1).sum()),
        "images_with_a_mate": int(sizes[sizes > 1].sum()),
        "largest": int(sizes.max(initial=0)),
        "links_accepted": int(links.accepted.sum()),
        "links_turned_down": int((~links.accepted).sum()),
    }


def _splits(report: AuditReport) -> list[dict[str, Any]]:
    rows = []
    for plan, exposure in zip(report.plans, report.exposures, strict=True):
        partition, crossing = lookup.readout(plan), lookup.crossing(plan, report.grouping.codes)
        read = (plan.partition == partition) & exposure.evaluated
        rows.append(
            {
                "condition": plan.condition,
                "seed": plan.seed,
                "partitions": lookup.partition_sizes(plan),
                "read_from": partition,
                "n": int(read.sum()),
                "exposed": int(exposure.exposed[read].sum()),
                "groups_crossing": crossing.groups,
                "groups_of_two_or_more": crossing.of_groups,
            }
        )
    return rows


def _effect(effect: Any) -> dict[str, Any]:
    value = dataclasses.asdict(effect)
    value["class"] = value.pop("class_name")
    return value


def _note(note: Note) -> dict[str, Any]:
    return dataclasses.asdict(note)


def _section(section: Section) -> dict[str, Any]:
    blocks = []
    for block in section.blocks:
        value = dataclasses.asdict(block)
        if isinstance(block, Figure):
            value = {k: value[k] for k in ("title", "caption", "rows")}
        elif isinstance(block, Pictures):
            for row in value["rows"]:
                row["pictures"] = [{k: p[k] for k in ("name", "lines", "tag")} for p in row["pictures"]]
        blocks.append({"block": type(block).__name__.lower(), **value})
    return {"key": section.key, "title": section.title, "lead": section.lead, "blocks": blocks}


def _plain(value: Any) -> Any:
    """The same with plain types only; nan and infinities become null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v) for v in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
