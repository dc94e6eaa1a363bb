from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fiftyone_hsd.model import AuditReport, Links, Samples, sha256_json
from fiftyone_hsd.report import sections
from fiftyone_hsd.report.json_file import digests, report_json


def load(report: AuditReport) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    text = report_json(report, sections.build(report), {"samples.csv": "0" * 64})
    value: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return value


def test_numbers_are_those_of_the_report(report: AuditReport) -> None:
    value = load(report)
    assert value["schema"] == 1
    assert value["verdict"] == report.verdict
    assert value["corpus"]["usable"] == 60
    assert value["corpus"]["images"] == 62
    assert value["corpus"]["existing_split"] == {"test": 20, "train": 40}
    assert value["groups"]["groups_of_two_or_more"] == 20
    assert value["groups"]["links_turned_down"] == 1
    assert value["failures"][0]["reason"] == "truncated, 3 of 5 bytes"
    assert value["files"] == {"samples.csv": "0" * 64}
    existing = value["splits"][0]
    assert (existing["n"], existing["exposed"], existing["groups_crossing"]) == (20, 20, 20)


def test_gaps_are_null(report: AuditReport) -> None:
    gaps = [e for e in load(report)["effects"] if e["method"].startswith("not estimable")]
    assert gaps
    assert all(g["estimate"] is None and g["low"] is None for g in gaps)
    assert len(load(report)["effects"]) == len(report.effects)
    assert not any(math.isnan(v) for e in load(report)["effects"] for v in e.values() if isinstance(v, float))


def test_hostile_text_survives(report: AuditReport, nasty: str) -> None:
    assert list(load(report)["corpus"]["classes"])[1] == nasty


def test_settings_of_any_kind_are_written(report: AuditReport) -> None:
    odd = dataclasses.replace(
        report,
        settings={"a": float("inf"), "b": np.int64(3), "c": Path("x"), "d": (1, np.float32(0.5)), "e": {3: None}},
    )
    assert load(odd)["settings"] == {"a": None, "b": 3, "c": "x", "d": [1, 0.5], "e": {"3": None}}


def test_digests_follow_content_and_not_order(report: AuditReport, case: Callable[..., AuditReport]) -> None:
    first = digests(report)
    samples = report.samples
    ids = samples.ids
    assert first["samples"] == sha256_json(
        [
            [
                ids[i],
                samples.classes[samples.labels[i]] if samples.labels[i] >= 0 else "",
                str(samples.split[i]),
                report.scan.content[i],
            ]
            for i in sorted(range(len(ids)), key=ids.__getitem__)
        ]
    )
    order = np.arange(len(ids))[::-1]
    turned = dataclasses.replace(
        report,
        samples=samples.take(order),
        scan=report.scan.take(order),
        grouping=dataclasses.replace(report.grouping, codes=report.grouping.codes[order], links=Links.of([], [], "")),
        plans=(),
        exposures=(),
    )
    assert digests(turned)["samples"] == first["samples"]
    assert digests(turned)["groups"] == first["groups"]
    labels = samples.labels.copy()
    labels[0] = (labels[0] + 1) % 3
    other = Samples(ids, samples.paths, labels, samples.classes, samples.split, {}, samples.root)
    assert digests(dataclasses.replace(report, samples=other))["samples"] != first["samples"]
