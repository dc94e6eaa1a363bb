"""The verb: from a folder to controls.csv and a report, in Python and on the command line."""

from __future__ import annotations

import csv
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image

import fiftyone_hsd as hsd
from fiftyone_hsd import cli
from fiftyone_hsd.control_experiments import chosen, given_away
from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.errors import EmptyError, FieldError, InputError
from fiftyone_hsd.model import AuditReport


@pytest.fixture(scope="module")
def tinted(tmp_path_factory) -> Path:
    """40 patients of two images in two classes; the ground of the second class is darker. Names hold hostile text."""
    top, rng = tmp_path_factory.mktemp("tinted"), np.random.default_rng(0)
    rows = ["path,label,group"]
    for patient in range(40):
        label = patient % 2
        for view in range(2):
            ground = rng.normal(150 - 50 * label, 5, 3)
            image = np.clip(ground + rng.normal(0, 2, (40, 40, 3)), 0, 255).astype(np.uint8)
            name = f"p{patient:02d}_{view} <b>$x.png"
            Image.fromarray(image).save(top / name)
            rows.append(f"{name},class {label} <i>,p{patient}")
    (top / "labels.csv").write_text("\n".join(rows) + "\n")
    return top


@pytest.fixture(scope="module")
def done(tinted, tmp_path_factory) -> tuple[AuditReport, Path]:
    out = tmp_path_factory.mktemp("out")
    asked = ("background_crop", "constant")
    return hsd.controls(tinted, labels=tinted / "labels.csv", control=asked, seeds=2, out=out), out


def test_the_verb_is_a_function_and_its_folder_a_package() -> None:
    import importlib

    assert callable(hsd.controls)
    assert "background_crop" in importlib.import_module("fiftyone_hsd.controls").names()
    code = "import fiftyone_hsd as h; h.controls; import fiftyone_hsd.controls.constant; assert callable(h.controls)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_cue_is_said_in_the_verdict(done) -> None:
    report, _ = done
    assert report.verdict.startswith("Classes differ in acquisition")
    assert {r.control for r in report.control_results} == {"background_crop", "constant"}


def test_files(done) -> None:
    report, out = done
    rows = list(csv.DictReader((out / "controls.csv").read_text().splitlines()))
    assert len(rows) == len(report.control_results)
    pooled = [
        r
        for r in rows
        if (r["control"], r["what"], r["metric"], r["condition"], r["seed"])
        == ("background_crop", "score", "balanced_accuracy", "intact", "")
    ]
    assert len(pooled) == 2
    assert all(float(r["estimate"]) > 0.95 and r["chance"] == "0.5" and float(r["p"]) < 0.05 for r in pooled)
    page = (out / "report.html").read_text()
    assert "background crop: what the model saw" in page
    assert page.count("data:image/jpeg") >= 12
    assert "<b>$x" not in page
    told = json.loads((out / "report.json").read_text())
    assert told["settings"]["control_corner"] == "upper-left"
    assert any(s["key"] == "controls" for s in told["sections"])


def test_an_audit_that_is_there_is_kept(tinted, tmp_path) -> None:
    audit = hsd.audit(tinted, labels=tinted / "labels.csv", seeds=1, out=tmp_path)
    first = hsd.controls(tinted, labels=tinted / "labels.csv", control="constant", seeds=1, out=tmp_path)
    both = hsd.controls(tinted, labels=tinted / "labels.csv", control="mean_colour", seeds=1, out=tmp_path)
    assert first.verdict == both.verdict == audit.verdict
    assert str(both.effects) == str(audit.effects)
    assert {r.control for r in both.control_results} == {"constant", "mean_colour"}
    again = hsd.controls(tinted, labels=tinted / "labels.csv", control="constant", seeds=1, out=tmp_path)
    assert len(again.control_results) == len(both.control_results)
    other = hsd.controls(tinted, labels=tinted / "labels.csv", control="constant", seeds=1, out=tmp_path / "new")
    assert {r.control for r in other.control_results} == {"constant"}


def test_images_whose_class_the_background_gives_away(done) -> None:
    report, _ = done
    rows = given_away(report)
    assert len(rows) > 20
    tested = np.unique(np.concatenate([r.rows for r in report.control_runs]))
    assert set(rows) <= set(tested)
    assert len(given_away(report, "constant")) == 0
    with pytest.raises(InputError, match="background_crop"):
        given_away(report, "haar")


@pytest.mark.train
def test_networks_that_are_trained_are_not_trained_again(tinted, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fiftyone_hsd.trainers.lenet5.EPOCHS", 4)
    asked = {"labels": tinted / "labels.csv", "control": "background_crop", "seeds": 1, "preset": "paper"}
    first = hsd.controls(tinted, **asked, out=tmp_path)
    files = sorted((tmp_path / ".hsd" / "control_runs").iterdir())
    assert len(files) == 4  # crop and whole pictures at intact and random
    times = [f.stat().st_mtime_ns for f in files]
    again = hsd.controls(tinted, **asked, out=tmp_path)
    assert [f.stat().st_mtime_ns for f in files] == times
    assert str(again.control_results) == str(first.control_results)


def test_nothing_to_tell_apart(tinted, tmp_path) -> None:
    with pytest.raises(EmptyError, match="two classes"):
        hsd.controls(tinted, control="constant")
    with pytest.raises(FieldError, match="background_crop"):
        chosen(["background"])
    assert chosen(["constant", "background-crop"]) == ["background_crop", "constant"]
    with pytest.raises(InputError, match="seed"):
        hsd.controls(tinted, seed=3)
    for wrong in ({"preset": "slow"}, {"corner": "north"}, {"size": "0x3"}, {"size": "20"}, {"seeds": 0}):
        with pytest.raises(InputError):
            ControlSettings(**wrong)


def test_a_cell_that_holds_no_box_is_named_and_costs_its_own_control_alone(tinted) -> None:
    with (tinted / "labels.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    with (tinted / "boxes.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [[*head, "box"], *([*row, "" if k == 3 else "0,0,8,8"] for k, row in enumerate(rows))]
        )
    how = {"labels": tinted / "boxes.csv", "box_field": "box", "seeds": 1}
    report = hsd.controls(tinted, control=("constant", "background_crop"), **how)
    assert {r.control for r in report.control_results} == {"constant"}
    (said,) = [n for n in report.notes if n.topic == "control: background_crop"]
    assert said.level == "not evaluated"
    assert f"{rows[3][0]}, column box" in said.text
    with pytest.raises(InputError, match="column box"):
        hsd.controls(tinted, control=("background_crop",), **how)
    with pytest.raises(FieldError, match="nothing"):
        hsd.controls(tinted, control=("constant", "background_crop"), **{**how, "box_field": "nothing"})
    with pytest.raises(InputError, match="box 'typed wrong'"):  # an option, no cell
        hsd.controls(tinted, labels=how["labels"], box="typed wrong", seeds=1, control=("constant", "background_crop"))


def test_one_group_of_everything_is_no_alias_of_a_class(tinted, tmp_path) -> None:
    rows = (tinted / "labels.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join(["path,group", *(f"{r.split(',')[0]},all" for r in rows[1:])]) + "\n")
    how = {"labels": tinted / "labels.csv", "groups": tmp_path / "one.csv", "seeds": 1}
    report = hsd.controls(tinted, control=("background_crop",), **how)
    words = " ".join(n.text for n in report.notes)
    assert "one single group holds all classes" in words
    assert "no split keeps groups apart" in words
    assert "they are the same groups" not in words


@pytest.mark.parametrize(
    "wrong", [{"seeds": 1.7}, {"seeds": True}, {"fractions": {"train": 0.5, "val": 0.5}}, {"fractions": {"test": 1.0}}]
)
def test_settings_that_cannot_be(wrong) -> None:
    with pytest.raises(InputError):
        ControlSettings(**wrong)


def test_options_and_defaults_are_those_of_the_settings() -> None:
    options = {p.name: p for p in typer.main.get_command(cli.app).commands["controls"].params}
    for field in dataclasses.fields(ControlSettings):
        option = options[field.name]
        assert f"--{field.name.replace('_', '-')}" in option.opts
        default = option.default
        value = tuple(default.split(",")) if field.name == "control" else getattr(default, "value", default)
        assert value == getattr(ControlSettings(), field.name), field.name
        assert option.help
    assert set(options) - {f.name for f in dataclasses.fields(ControlSettings)} == {"path", "out", "quiet"}


def test_the_command_prints_numbers_and_reading(tinted, capfd) -> None:
    words = ["controls", str(tinted), "--labels", str(tinted / "labels.csv"), "--control", "background_crop"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--seeds", "1", "--corner", "lower-right", "--size", "8x8"])
    assert not ended.value.code
    out, err = capfd.readouterr()
    assert "8x8 lower-right" in " ".join(out.split())
    assert "classes differ in acquisition" in out
    assert "control 1 of 1: background crop" in err
