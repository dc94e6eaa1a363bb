"""The verb and its command: from a folder to label_issues.csv, beside an audit or alone."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import inspect
import json
import shutil

import numpy as np
import pytest
import typer

import fiftyone_hsd as hsd
from fiftyone_hsd import cli
from fiftyone_hsd.drawn import PATTERN
from fiftyone_hsd.errors import EmptyError, InputError, StaleError
from fiftyone_hsd.report.stored import load_report
from fiftyone_hsd.settings import Settings

needs_cleanlab = pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")
QUICK = {"model": "nearest_neighbour", "seeds": 1, "folds": 3}


@pytest.fixture(scope="module")
def mislabelled(small_corpus, tmp_path_factory):
    """The small corpus with a copy of one image in a wrong class: (folder, id of the image, id of the copy)."""
    folder = tmp_path_factory.mktemp("mislabelled") / "images"
    shutil.copytree(small_corpus / "images", folder)
    image = next(folder.glob("TRAIN/monocyte/*"))
    copy = folder / "TRAIN" / "lymphocyte" / image.name
    shutil.copy(image, copy)
    return folder, *(p.relative_to(folder).as_posix() for p in (image, copy))


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@needs_cleanlab
def test_a_folder_becomes_a_list_and_a_report(mislabelled, tmp_path):
    folder, image, copy = mislabelled
    report = hsd.labels(folder, pattern=PATTERN, out=tmp_path, checks=("outlier", "split_leak"), **QUICK)
    rows = rows_of(tmp_path / "label_issues.csv")
    assert len(rows) == len(report.samples)
    flagged = [r for r in rows if r["issue"] == "true"]
    assert rows[: len(flagged)] == flagged
    likely = [r for r in rows if r["likely"] == "true"]
    assert rows[: len(likely)] == likely
    assert {r["path"] for r in rows if r["mechanism"] == "cross-class duplicate"} == {image, copy}
    (issues,) = report.label_results
    assert len(flagged) == int(issues.flagged.sum())
    assert [c.reason for c in issues.checks] == ["", ""]
    page = (tmp_path / "report.html").read_text()
    assert "Labels that may be wrong" in page
    told = json.loads((tmp_path / "report.json").read_text())
    assert "label_issues.csv" in told["files"]
    assert "labels" in [s["key"] for s in told["sections"]]
    assert any("hsd audit" in n["text"] for n in told["not_evaluated"])
    command = page[page.index("hsd labels") :].splitlines()[0]
    assert "--model nearest_neighbour" in command
    assert "--folds 3" in command
    assert "--seeds 1" in command
    assert "--checks outlier,split_leak" in command
    assert "hsd audit /" not in page


@needs_cleanlab
def test_an_audit_that_is_there_keeps_its_results(mislabelled, tmp_path):
    folder, *_ = mislabelled
    audit = hsd.audit(folder, pattern=PATTERN, out=tmp_path, models=("nearest_neighbour",), seeds=1)
    hsd.labels(folder, pattern=PATTERN, out=tmp_path, **QUICK)
    both = load_report(tmp_path)
    assert both.verdict == audit.verdict
    assert len(both.effects) == len(audit.effects)
    assert [r.model for r in both.label_results] == ["nearest_neighbour"]
    assert rows_of(tmp_path / "label_issues.csv")
    with pytest.raises(StaleError, match="groups"):
        hsd.labels(folder, names=False, out=tmp_path, **QUICK)
    assert load_report(tmp_path).label_results
    hsd.audit(folder, pattern=PATTERN, out=tmp_path, models=("nearest_neighbour",), seeds=1)
    assert rows_of(tmp_path / "label_issues.csv")
    assert [r.model for r in load_report(tmp_path).label_results] == ["nearest_neighbour"]
    other = hsd.audit(folder, names=False, out=tmp_path, models=("nearest_neighbour",), seeds=1)
    assert not (tmp_path / "label_issues.csv").exists()
    assert any("label results of the earlier report spoke of other groups" in n.text for n in other.notes)


@needs_cleanlab
def test_without_an_audit_none_is_pretended(mislabelled, tmp_path):
    hsd.labels(mislabelled[0], pattern=PATTERN, out=tmp_path, **QUICK)
    assert not (tmp_path / ".hsd" / "report.npz").exists()


@needs_cleanlab
def test_no_labels_is_not_evaluated(small_corpus, tmp_path):
    for path in sorted((small_corpus / "images").rglob("*.jpg"))[:20]:
        shutil.copy(path, tmp_path / path.name)
    report = hsd.labels(tmp_path, **QUICK)
    assert "not evaluated" in report.verdict
    assert not report.label_results[0].flagged.any()


@needs_cleanlab
def test_what_cannot_be_used(tmp_path, small_corpus):
    with pytest.raises(InputError, match="fractions has no meaning"):
        hsd.labels(small_corpus / "images", fractions={"train": 0.5, "test": 0.5})
    with pytest.raises(InputError, match="unknown setting"):
        hsd.labels(small_corpus / "images", nonsense=1)
    with pytest.raises(InputError, match="no model"):
        hsd.labels(small_corpus / "images", model="resnet")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    with pytest.raises(EmptyError):
        hsd.labels(tmp_path)


def test_options_and_defaults_are_those_of_the_function():
    group = typer.main.get_command(cli.app)
    options = {p.name: p for p in group.commands["labels"].params}
    parameters = inspect.signature(hsd.labels).parameters
    for name in ("model", "folds"):
        assert options[name].default == parameters[name].default
    settings = {f.name: f.default for f in dataclasses.fields(Settings) if f.name in options}
    assert set(settings) == {f.name for f in dataclasses.fields(Settings)} - {"models", "fractions", "truth"}
    assert {name: options[name].default for name in settings} == settings
    assert set(options) - set(settings) == {"path", "model", "folds", "checks", "out", "quiet"}
    assert all(p.help for p in options.values() if p.name != "path")


@needs_cleanlab
def test_the_command(mislabelled, tmp_path, capfd):
    folder = mislabelled[0]
    words = [
        "labels",
        str(folder),
        "--pattern",
        PATTERN,
        "--model",
        "nearest_neighbour",
        "--seeds",
        "1",
        "--folds",
        "3",
    ]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--checks", "outlier, dark", "--out", str(tmp_path), "-q"])
    out, err = capfd.readouterr()
    assert (int(ended.value.code or 0), err) == (0, "")
    assert "likely to be wrong" in out
    assert "cross-class duplicate: 2" in out
    assert "Datalab's outlier" in out
    assert "label_issues.csv" in out
    assert (tmp_path / "label_issues.csv").is_file()


def test_without_cleanlab_it_says_what_to_install(small_corpus, monkeypatch):
    from fiftyone_hsd.errors import MissingExtraError

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None)
    with pytest.raises(MissingExtraError, match="datalab"):
        hsd.labels(small_corpus / "images", **QUICK)


@pytest.mark.data
@needs_cleanlab
def test_flips_in_real_images_rise_to_the_top(real_data, tmp_path):
    """A tenth of blood_cells, 5 % of the labels flipped: the suspected ones hold most of them."""
    rows = [r for i, r in enumerate(rows_of(real_data / "blood_cells" / "groups.csv")) if hash_of(r["group"]) % 4 == 0]
    rng = np.random.default_rng(0)
    classes = sorted({r["label"] for r in rows})
    wrong = set(rng.permutation(len(rows))[: round(0.05 * len(rows))].tolist())
    with (tmp_path / "corpus.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "group"])
        for i, r in enumerate(rows):
            label = classes[(classes.index(r["label"]) + 1) % len(classes)] if i in wrong else r["label"]
            writer.writerow([real_data / "blood_cells" / r["path"], label, r["group"]])
    report = hsd.labels(tmp_path / "corpus.csv", model="linear_probe", seeds=1)
    flagged = report.label_results[0].flagged
    bad = np.isin(np.arange(len(rows)), list(wrong))
    assert flagged[bad].mean() > 2 * flagged[~bad].mean()
    assert flagged[bad].mean() > 0.5


def hash_of(text):
    return sum(text.encode())


@needs_cleanlab
def test_an_audit_folder_is_a_source(mislabelled, tmp_path):
    folder, *_ = mislabelled
    audit = hsd.audit(folder, pattern=PATTERN, out=tmp_path, models=("nearest_neighbour",), seeds=1)
    report = hsd.labels(tmp_path, out=tmp_path, **QUICK)
    assert report.grouping.codes.tolist() == audit.grouping.codes.tolist()
    assert load_report(tmp_path).label_results


@needs_cleanlab
def test_a_report_is_a_source_and_keeps_its_groups(mislabelled, tmp_path):
    folder, *_ = mislabelled
    audit = hsd.audit(folder, pattern=PATTERN, out=tmp_path, models=("nearest_neighbour",), seeds=1)
    halves = np.arange(len(audit.samples)) // 2
    other = dataclasses.replace(audit, grouping=dataclasses.replace(audit.grouping, codes=halves))
    report = hsd.labels(other, **QUICK)
    assert report.grouping.codes.tolist() == halves.tolist()
    assert report.verdict == audit.verdict
    assert len(report.label_results) == 1
    with pytest.raises(StaleError, match="other groups"):
        hsd.labels(other, out=tmp_path, **QUICK)
    hsd.labels(audit, out=tmp_path, **QUICK)
    assert len(load_report(tmp_path).effects) == len(audit.effects)
