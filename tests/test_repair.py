"""`repair` as a verb: from a corpus or an audit folder to a plan that is shown, then written."""

from __future__ import annotations

import csv
import inspect
import json
from collections import Counter
from pathlib import Path

import pytest
import typer

import fiftyone_hsd
from fiftyone_hsd import audit, cli, repair
from fiftyone_hsd.errors import FieldError, InputError
from fiftyone_hsd.model import UNUSED


@pytest.fixture(scope="module")
def audited(small_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audited")
    audit(small_corpus / "images", groups=small_corpus / "truth.csv", seeds=1, models=(), out=out)
    return out


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file))


def truth_of(corpus: Path) -> dict[str, str]:
    return {r["path"]: r["group"] for r in rows_of(corpus / "truth.csv")}


def test_an_audit_folder_and_the_corpus_itself_give_the_same_plan(audited: Path, small_corpus: Path) -> None:
    one = repair(audited)
    other = repair(small_corpus / "images", groups=small_corpus / "truth.csv")
    assert one.repair.plan.digest == other.repair.plan.digest
    assert len(one.repair.rows)
    assert one.before.exposed.any()
    assert not one.after.exposed.any()


def test_the_written_split_keeps_groups_whole_and_lists_every_change(
    audited: Path, small_corpus: Path, tmp_path: Path
) -> None:
    found = repair(audited, freeze="test", out=tmp_path)
    assert [f.relative_to(tmp_path).as_posix() for f in found.files] == [
        "splits/repaired.csv",
        "repair.csv",
        "repair.json",
    ]
    truth, split = truth_of(small_corpus), rows_of(found.files[0])
    old = {r["path"]: r["partition"] for r in rows_of(audited / "splits" / "existing.csv")}
    places: dict[str, set[str]] = {}
    for row in split:
        if row["partition"] != UNUSED:
            places.setdefault(truth[row["path"]], set()).add(row["partition"])
    assert max(len(p) for p in places.values()) == 1
    new = {r["path"]: r["partition"] for r in split}
    assert {p for p in old if old[p] == "test"} == {p for p in new if new[p] == "test"}
    changes = {r["path"]: (r["before"], r["after"]) for r in rows_of(found.files[1])}
    assert changes == {p: (old[p], new[p]) for p in old if old[p] != new[p]}
    plan = json.loads(found.files[2].read_text())
    assert plan["moved"] + plan["set_aside"] == len(changes)
    assert plan["partitions"]["test"] == {
        "before": Counter(old.values())["test"],
        "after": Counter(new.values())["test"],
    }
    assert plan["settings"]["freeze"] == "test"
    assert plan["digests"]["plan"] == found.repair.plan.digest


def test_another_condition_of_the_audit(audited: Path) -> None:
    assert len(repair(audited, condition="random").repair.rows)
    assert not len(repair(audited, condition="intact").repair.rows)
    with pytest.raises(FieldError, match="intact"):
        repair(audited, condition="nonsense")


def test_a_dry_run_writes_nothing(audited: Path, tmp_path: Path) -> None:
    assert repair(audited, out=tmp_path / "out", dry_run=True).files == ()
    assert not (tmp_path / "out").exists()


def test_marks_need_a_dataset(audited: Path) -> None:
    with pytest.raises(InputError, match="no FiftyOne dataset"):
        repair(audited, write=True)


def test_the_command_has_the_options_of_the_function() -> None:
    options = {p.name: p.default for p in typer.main.get_command(cli.app).commands["repair"].params}
    for name, parameter in inspect.signature(fiftyone_hsd.repair).parameters.items():
        if name not in ("source", "progress", "settings"):
            assert options[name] == parameter.default, name
    assert {"groups", "group_field", "labels", "split_field", "pattern", "names", "unknown", "quiet"} < set(options)


def test_the_command_shows_the_plan_then_says_what_was_written(audited: Path, tmp_path: Path, capfd) -> None:
    def run(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            cli.main(["repair", str(audited), "-q", *words])
        assert not ended.value.code
        return str(capfd.readouterr().out)

    shown = run("--freeze", "test", "--out", str(tmp_path), "--dry-run")
    assert "no smaller change exists" in shown
    assert "Nothing was written" in shown
    assert not list(tmp_path.iterdir())
    shown = run("--freeze", "test", "--out", str(tmp_path))
    assert "Nothing was written" not in shown
    assert (tmp_path / "splits" / "repaired.csv").is_file()
