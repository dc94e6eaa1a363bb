from __future__ import annotations

import csv
import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.model import AuditReport, ControlResult, Grouping, Links, SplitPlan
from fiftyone_hsd.report import csv_files
from fiftyone_hsd.report.csv_files import cell, encoded, group_evidence, split_files, write_csv_files

COLUMNS = {
    "samples.csv": "path,label,group,split,exposed,mates_in_train,nearest_train,nearest_similarity,failure",
    "links.csv": "path_a,path_b,source,score,rule,accepted",
    "groups.csv": "path,group,evidence,confidence",
    "splits/intact.csv": "path,label,group,partition",
    "splits/all.csv": "path,condition,seed,partition",
    "exposing.csv": "path,condition,seed,train,evidence,through,weakest,similarity,mates_in_train",
    "exposure.csv": "path,condition,seed,exposed,mates_in_train,nearest_train,nearest_similarity",
    "effects.csv": "what,model,condition,seed,partition,class,metric,estimate,low,high,p,n,method",
}


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file, undecodable bytes as in file names."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture
def written(report: AuditReport, tmp_path: Path) -> Path:
    write_csv_files(report, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_those_of_the_format(written: Path, name: str) -> None:
    assert (written / name).read_bytes().split(b"\n", 1)[0].decode() == COLUMNS[name]


def test_every_sample_once_with_its_own_values_then_the_failed_images(written: Path, report: AuditReport) -> None:
    rows, samples = read(written / "samples.csv"), report.samples
    assert [r["path"] for r in rows[: len(samples)]] == list(samples.ids)
    assert [r["label"] for r in rows[: len(samples)]] == [samples.classes[i] if i >= 0 else "" for i in samples.labels]
    assert [r["split"] for r in rows[: len(samples)]] == samples.split.tolist()
    assert [(r["path"], r["failure"]) for r in rows[len(samples) :]] == [(i, why) for i, _, why in report.failures]
    exposure = report.exposures[0]
    for row, evaluated, exposed, mates in zip(
        rows, exposure.evaluated, exposure.exposed, exposure.mates_in_train, strict=False
    ):
        assert row["exposed"] == (("true" if exposed else "false") if evaluated else "")
        assert row["mates_in_train"] == str(mates)
        assert (row["nearest_train"] == samples.ids[0]) == bool(evaluated)


def test_without_an_existing_split_nothing_is_said_about_it(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    report = case(tmp_path / "images", split=False)
    write_csv_files(report, tmp_path / "out")
    for row in read(tmp_path / "out" / "samples.csv"):
        assert (row["exposed"], row["mates_in_train"], row["nearest_train"], row["nearest_similarity"]) == ("",) * 4
    assert not (tmp_path / "out" / "splits" / "existing.csv").exists()


def test_names_come_back_byte_by_byte(written: Path, report: AuditReport) -> None:
    raw = (written / "groups.csv").read_bytes()
    assert b"a/\xff\xfe.png" in raw
    assert b"\n=cmd|' /C calc'!A1.png," in raw
    assert b"\n@SUM(A1).png," in raw
    assert [r["path"] for r in read(written / "groups.csv")] == list(report.samples.ids)


def test_links_groups_and_evidence(written: Path, report: AuditReport) -> None:
    ids, links = report.samples.ids, report.grouping.links
    rows = read(written / "links.csv")
    assert [(r["path_a"], r["path_b"], r["source"]) for r in rows] == [
        (ids[a], ids[b], s) for a, b, s in zip(links.a, links.b, links.source, strict=True)
    ]
    assert [r["accepted"] for r in rows] == ["true" if v else "false" for v in links.accepted]
    groups = read(written / "groups.csv")
    assert groups[0]["evidence"] == "bytes+name"
    assert groups[0]["confidence"] == "0.9"
    assert groups[0]["group"] == groups[1]["group"] == groups[2]["group"] != groups[3]["group"]


def test_singletons_have_a_group_and_no_evidence(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    write_csv_files(case(tmp_path / "images", grouped=False), tmp_path / "out")
    rows = read(tmp_path / "out" / "groups.csv")
    assert len({r["group"] for r in rows}) == len(rows)
    assert {(r["evidence"], r["confidence"]) for r in rows} == {("", "")}


def test_evidence_counts_accepted_links_inside_the_group_only(report: AuditReport) -> None:
    links = Links.concat(
        [
            Links.of([0, 1], [1, 2], "pixels", score=[0.7, 0.8]),
            dataclasses.replace(Links.of([0], [2], "similarity", score=0.1), accepted=np.array([False])),
            Links.of([0], [59], "reviewer", score=0.2),  # cut afterwards: the two are not in one group
        ]
    )
    evidence, confidence = group_evidence(dataclasses.replace(report, grouping=Grouping(report.grouping.codes, links)))
    assert (evidence[0], confidence[0]) == ("pixels", "0.7")
    assert (evidence[1], confidence[1]) == ("", "")


def test_splits_hold_every_condition_and_seed(written: Path, report: AuditReport) -> None:
    rows = read(written / "splits" / "all.csv")
    assert len(rows) == len(report.plans) * len(report.samples)
    told = {(r["path"], r["condition"], r["seed"]): r["partition"] for r in rows}
    for plan in report.plans:
        for name, partition in zip(report.samples.ids, plan.partition, strict=True):
            assert told[name, plan.condition, str(plan.seed)] == partition
    primary = {r["path"]: r["partition"] for r in read(written / "splits" / "q50.csv")}
    assert primary == dict(zip(report.samples.ids, report.plan("q50", 0).partition.tolist(), strict=True))


def test_exposure_rows_are_the_evaluated_ones(written: Path, report: AuditReport) -> None:
    rows = read(written / "exposure.csv")
    assert len(rows) == sum(int(e.evaluated.sum()) for e in report.exposures)
    assert sum(r["exposed"] == "true" for r in rows) == sum(int(e.exposed.sum()) for e in report.exposures)
    assert {r["exposed"] for r in rows} == {"true", "false"}


def test_effects_keep_gaps_empty_and_pooled_seeds_blank(written: Path, report: AuditReport) -> None:
    rows = read(written / "effects.csv")
    assert len(rows) == len(report.effects)
    gap = next(r for r in rows if r["method"].startswith("not estimable"))
    assert (gap["estimate"], gap["low"], gap["p"], gap["seed"]) == ("", "", "", "")
    assert float(next(r for r in rows if r["what"] == "inflation")["estimate"]) == pytest.approx(0.08)
    assert "nan" not in (written / "effects.csv").read_text("utf-8", "surrogateescape")


def test_controls_are_written_only_if_there_are_any(written: Path, report: AuditReport, tmp_path: Path) -> None:
    assert not (written / "controls.csv").exists()
    more = dataclasses.replace(report, control_results=(ControlResult("border", "8 px", 0.25, report.effects[0]),))
    files = write_csv_files(more, tmp_path / "again")
    assert "controls.csv" in files
    (row,) = read(tmp_path / "again" / "controls.csv")
    assert (row["control"], row["variant"], row["chance"], row["what"]) == ("border", "8 px", "0.25", "score")
    assert list(row) == [*COLUMNS["effects.csv"].split(","), "control", "variant", "chance"]


def test_digests_are_those_of_the_files(report: AuditReport, tmp_path: Path) -> None:
    files = write_csv_files(report, tmp_path)
    for name, digest in files.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert set(files) == {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.csv")}


def test_a_condition_with_a_hostile_name_stays_in_its_folder(report: AuditReport, tmp_path: Path) -> None:
    part = report.plans[0].partition
    plans = tuple(SplitPlan.of(c, 0, part) for c in ("../../x", "x/../../x", "all", "..", "left out: site 1"))
    exposures = tuple(dataclasses.replace(report.exposures[0], condition=p.condition) for p in plans)
    odd = dataclasses.replace(report, plans=plans, exposures=exposures)
    files = split_files(odd)
    assert len(set(files.values()) | {"splits/all.csv"}) == 6
    write_csv_files(odd, tmp_path / "deep" / "out")
    assert {p.parent.relative_to(tmp_path / "deep").as_posix() for p in (tmp_path / "deep").rglob("*.csv")} == {
        "out",
        "out/splits",
    }
    assert not list(tmp_path.glob("*.csv"))


def test_fiftyone_samples_are_named_by_their_relative_path(report: AuditReport, tmp_path: Path) -> None:
    ids = tuple(f"{i:024x}" for i in range(len(report.samples)))
    samples = dataclasses.replace(report.samples, ids=ids)
    write_csv_files(dataclasses.replace(report, samples=samples), tmp_path / "out")
    assert read(tmp_path / "out" / "groups.csv")[3]["path"] == "0003.png"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (True, "true"),
        (np.bool_(False), "false"),
        (3, "3"),
        (0.1 + 0.2, "0.3"),
        (1e-12, "1e-12"),
        ("a,b", '"a,b"'),
        ('say "x"', '"say ""x"""'),
        ("a\rb", '"a\rb"'),
        ("=1+1", "=1+1"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


def test_any_text_can_be_encoded() -> None:
    assert encoded("\udcff") == b"\xff"
    assert encoded("\ud83d x \udcff") == b"\\ud83d x \xff"


def test_columns_of_the_module_are_the_documented_ones() -> None:
    assert COLUMNS["samples.csv"] == csv_files.SAMPLES
    assert COLUMNS["effects.csv"] == csv_files.EFFECTS


def test_exposing_names_train_mates_with_their_evidence(written: Path, report: AuditReport) -> None:
    rows = read(written / "exposing.csv")
    ids = {name: i for i, name in enumerate(report.samples.ids)}
    for plan, exposure in zip(report.plans, report.exposures, strict=True):
        mine = [r for r in rows if (r["condition"], r["seed"]) == (plan.condition, str(plan.seed))]
        if plan.seed:
            assert not mine
            continue
        assert {ids[r["path"]] for r in mine} == set(np.flatnonzero(exposure.exposed).tolist())
        for r in mine:
            a, b = ids[r["path"]], ids[r["train"]]
            assert plan.partition[b] == "train"
            assert report.grouping.codes[a] == report.grouping.codes[b]
            assert "name" in r["evidence"].split("+") or r["evidence"] == "bytes"
            assert int(r["mates_in_train"]) == exposure.mates_in_train[a]
            assert bool(r["similarity"]) == (exposure.nearest_train[a] == b)
