"""`ladder` as a verb: the splits of a corpus without any training."""

from __future__ import annotations

import csv
import inspect
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer

import fiftyone_hsd
from fiftyone_hsd import audit, cli, export, ladder, verify
from fiftyone_hsd.errors import FieldError, InfeasibleError, InputError
from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.stored import load_report

LADDER = ("intact", "q25", "q50", "q75", "random")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def drawn(small_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditReport, Path]:
    out = tmp_path_factory.mktemp("ladder")
    found = ladder(small_corpus / "images", groups=small_corpus / "truth.csv", seeds=2, sentinel=0.15, out=out)
    return found, out


def test_the_written_splits_are_a_ladder(drawn: tuple[AuditReport, Path], small_corpus: Path) -> None:
    _, out = drawn
    truth = {r["path"]: r for r in rows_of(small_corpus / "truth.csv")}
    plans: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows_of(out / "splits" / "all.csv"):
        plans.setdefault((row["condition"], row["seed"]), {})[row["path"]] = row["partition"]
    assert {s for c, s in plans if c == "intact"} == {"0", "1"}
    for seed in ("0", "1"):
        rungs = [plans[c, seed] for c in LADDER]
        counts = [Counter((truth[p]["label"], part) for p, part in plan.items()) for plan in rungs]
        assert all(c == counts[0] for c in counts)
        assert (
            {p for p, part in rungs[0].items() if part == "sentinel"}
            == {p for p, part in rungs[4].items() if part == "sentinel"}
            != set()
        )
        sets = []
        for plan in rungs:
            train = {truth[p]["group"] for p, part in plan.items() if part == "train"}
            sets.append({p for p, part in plan.items() if part == "test" and truth[p]["group"] in train})
        assert not sets[0]
        assert all(a <= b for a, b in pairwise(sets))
        assert sets[4]


def test_what_it_writes_is_an_audit_folder_for_other_verbs(drawn: tuple[AuditReport, Path], tmp_path: Path) -> None:
    found, out = drawn
    assert [p.digest for p in load_report(out).plans] == [p.digest for p in found.plans]
    assert not found.runs
    assert any(n.topic == "training" and n.level == "not evaluated" for n in found.notes)
    page = (out / "report.html").read_text("utf-8")
    assert "hsd ladder" in page
    assert "--sentinel 0.15" in page
    assert verify(export(out, tmp_path / "release")).holds


def test_an_audit_folder_gives_the_same_ladder_and_is_not_overwritten(small_corpus: Path, tmp_path: Path) -> None:
    options = {"groups": small_corpus / "truth.csv", "seeds": 1}
    report = audit(small_corpus / "images", models=("nearest_neighbour",), out=tmp_path / "audit", **options)
    again = ladder(tmp_path / "audit", seeds=1)
    assert [p.digest for p in again.plans] == [p.digest for p in report.plans]
    with pytest.raises(InputError, match="audit with models"):
        ladder(tmp_path / "audit", out=tmp_path / "audit")


def test_sources_hold_files_and_validation_keeps_whole_groups(small_corpus: Path, tmp_path: Path) -> None:
    rows = rows_of(small_corpus / "truth.csv")
    table = tmp_path / "table.csv"
    shutil.copytree(small_corpus / "images", tmp_path / "images")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("path", "label", "group", "site"))
        sites = {g: f"s{k % 2}" for k, g in enumerate(sorted({r["group"] for r in rows}))}
        writer.writerows((f"images/{r['path']}", r["label"], r["group"], sites[r["group"]]) for r in rows)
    found = ladder(
        table,
        source="site",
        seeds=1,
        conditions=3,
        validation="intact",
        fractions={"train": 0.6, "val": 0.2, "test": 0.2},
    )
    assert [p.condition for p in found.plans if p.condition != "shuffle"] == ["intact", "q50", "random"]
    first, last = found.plan("intact"), found.plan("random")
    assert (first.rows("val") == last.rows("val")).all()
    assert (first.partition != last.partition).any()
    assert found.settings["source_column"] == "site"
    with pytest.raises(FieldError, match="site"):
        ladder(table, source="sites")


def test_no_labels_no_ladder(tmp_path: Path, small_corpus: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    for k, path in enumerate(sorted((small_corpus / "images").rglob("*.jpg"))[:6]):
        shutil.copy(path, flat / f"{k}.jpg")
    with pytest.raises(InfeasibleError, match="no labels"):
        ladder(flat)


def test_the_splitter_of_that_name_is_untouched() -> None:
    from fiftyone_hsd.splitting import ladder as splitter

    assert splitter is not fiftyone_hsd.ladder
    assert list(inspect.signature(splitter).parameters)[:3] == ["labels", "groups", "fractions"]


def test_the_command_has_the_options_of_the_function(small_corpus: Path, capfd) -> None:
    options = {p.name: p.default for p in typer.main.get_command(cli.app).commands["ladder"].params}
    for name, parameter in inspect.signature(fiftyone_hsd.ladder).parameters.items():
        if name not in ("corpus", "progress", "settings"):
            assert options[name] == parameter.default, name
    words = [str(small_corpus / "images"), "--groups", str(small_corpus / "truth.csv"), "--seeds", "1", "-q"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["ladder", *words])
    assert not ended.value.code
    shown = capfd.readouterr().out
    assert np.all([c in shown for c in LADDER])
    assert "Nothing was written" in shown
