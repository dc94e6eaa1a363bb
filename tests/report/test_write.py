from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fiftyone_hsd.errors import StoreError
from fiftyone_hsd.model import AuditReport, Links
from fiftyone_hsd.report import write
from fiftyone_hsd.report.blocks import Section, Text


def digest_of(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file()
    }


def test_the_same_report_gives_the_same_bytes(report: AuditReport, tmp_path: Path) -> None:
    assert write(report, tmp_path / "one") == tmp_path / "one" / "report.html"
    write(report, tmp_path / "two")
    assert digest_of(tmp_path / "one") == digest_of(tmp_path / "two")
    write(report, tmp_path / "one")
    assert digest_of(tmp_path / "one") == digest_of(tmp_path / "two")


def test_report_json_knows_every_other_file(report: AuditReport, tmp_path: Path) -> None:
    write(report, tmp_path / "out")
    there = digest_of(tmp_path / "out")
    del there["report.json"]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["files"] == there


def test_files_without_successor_go_and_everything_else_stays(report: AuditReport, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(report, out)
    (out / "mine.csv").write_text("a\n")
    (out / "splits" / "q75.csv").write_text("edited by hand\n")
    short = dataclasses.replace(report, plans=report.plans[:1], exposures=report.exposures[:1], runs=())
    write(short, out)
    assert not (out / "splits" / "intact.csv").exists()
    assert (out / "splits" / "existing.csv").exists()
    assert (out / "splits" / "q75.csv").read_text() == "edited by hand\n"
    assert (out / "mine.csv").exists()


def test_a_forged_list_of_files_removes_nothing_outside(report: AuditReport, tmp_path: Path) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim.csv"
    out.mkdir()
    victim.write_text("x\n")
    digest = hashlib.sha256(victim.read_bytes()).hexdigest()
    (out / "report.json").write_text(json.dumps({"files": {"../victim.csv": digest, str(victim): digest}}))
    write(report, out)
    assert victim.exists()


def test_a_third_party_section_is_shown(report: AuditReport, tmp_path: Path) -> None:
    def mine(report: AuditReport) -> Section:
        return Section("mine", "My own", 15, f"{len(report.samples)} <i>images</i>", (Text("more"),))

    text = write(report, tmp_path / "out", extra=[mine]).read_text("utf-8")
    assert '<section id="mine">' in text
    assert "60 &lt;i&gt;images&lt;/i&gt;" in text


def test_a_folder_that_cannot_be_written_is_said(report: AuditReport, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write(report, tmp_path / "file")


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("split", [True, False])
def test_poorer_corpora_have_a_true_report(
    case: Callable[..., AuditReport], tmp_path: Path, labelled: bool, grouped: bool, split: bool
) -> None:
    report = case(tmp_path / "images", n=40, labelled=labelled, grouped=grouped, split=split)
    text = write(report, tmp_path / "out").read_text("utf-8")
    value = json.loads((tmp_path / "out" / "report.json").read_text())
    assert ("no dependence detectable" in text) == (not grouped)
    assert ("no labels" in text) == (not labelled)
    assert ("existing split: there is none" in text) == (not split)
    assert len(value["not_evaluated"]) == (not labelled) + (not split)
    assert ("splits/intact.csv" in value["files"]) == labelled


def test_two_samples_and_nothing_else(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    report = case(tmp_path / "images", n=60)
    rows = [0, 1]
    tiny = dataclasses.replace(
        report,
        samples=report.samples.take(rows),
        scan=report.scan.take(rows),
        grouping=dataclasses.replace(report.grouping, codes=[0, 1], links=Links.of([], [], "")),
        plans=(),
        exposures=(),
        runs=(),
        effects=(),
        failures=(),
        notes=(),
    )
    assert write(tiny, tmp_path / "out").exists()
