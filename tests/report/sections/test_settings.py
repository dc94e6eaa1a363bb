from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report import write
from fiftyone_hsd.report.blocks import Code, Table
from fiftyone_hsd.report.sections.settings import _reproduce, section


def test_the_command_leaves_defaults_out_and_quotes(report: AuditReport) -> None:
    odd = dataclasses.replace(
        report,
        samples=dataclasses.replace(report.samples, root="/data/my images"),
        settings={
            "seeds": 2,
            "groups": "it's.csv",
            "models": ("linear_probe", "nearest_neighbour"),
            "labels": None,
            "unknown": "singleton",
            "fractions": {"train": 0.7, "test": 0.3},
        },
    )
    assert shlex.split(_reproduce(odd)) == [
        *("hsd", "audit", "/data/my images", "--fractions", "train=0.7,test=0.3", "--groups", "it's.csv"),
        *("--models", "linear_probe,nearest_neighbour", "--seeds", "2", "--out", "OUT"),
    ]


def test_a_recorded_source_is_named(report: AuditReport) -> None:
    assert _reproduce(dataclasses.replace(report, settings={"source": "table.csv"})) == "hsd audit table.csv --out OUT"


def test_the_files_listed_are_the_files_written(report: AuditReport, tmp_path: Path) -> None:
    table = next(b for b in section(report).blocks if isinstance(b, Table) and b.title == "Files beside this page")
    write(report, tmp_path)
    there = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()} - {"report.html"}
    assert {r[0] for r in table.rows} == {f for f in there if not f.startswith("images/")}


def test_versions_settings_and_digests_are_shown(report: AuditReport) -> None:
    tables = {b.title: b for b in section(report).blocks if isinstance(b, Table)}
    assert ("numpy", "2") in tables["Versions"].rows
    assert ("seeds", "2") in tables["Settings"].rows
    assert ("split intact, seed 1", report.plan("intact", 1).digest) in tables["Digests"].rows
    assert isinstance(section(report).blocks[0], Code)
