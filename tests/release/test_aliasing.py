"""Every part of a report follows its samples to their new names."""

from __future__ import annotations

import dataclasses

import numpy as np

from fiftyone_hsd.model import AuditReport, ControlSheet, LabCheck, LabelIssues, Run, TrainConfig
from fiftyone_hsd.release.aliasing import ORDERED, alias_of, aliased, renamed
from fiftyone_hsd.report.stored import load_report


def test_every_field_of_a_report_was_thought_of():
    """A new field: say in ORDERED whether it holds rows of samples, and let `renamed` bring them along."""
    assert {f.name for f in dataclasses.fields(AuditReport)} == {*ORDERED[0], *ORDERED[1]}


def full(private) -> AuditReport:
    """The audit with label issues and controls beside it."""
    report = load_report(private.out)
    n = len(report.samples)
    number = np.arange(n)
    checks = (LabCheck("outlier", number % 3 == 0, number / n),)
    half = (number % 2 == 0, number % 5 == 0)
    issues = LabelIssues("m", number.astype(str), number % 2, number / n, *half, number / n, number / n, (), checks)
    rows = np.array([3, 7])
    sheet = ControlSheet(
        "crop", "corner", rows, np.full((2, 4, 4, 3), rows[:, None, None, None], np.uint8), ("", ""), ""
    )
    run = Run(TrainConfig("m"), "intact", 0, rows, rows[:, None] / 100 + np.zeros((2, 2)), {}, 0.0)
    return dataclasses.replace(report, label_results=(issues,), control_sheets=(sheet,), control_runs=(run,))


def test_renaming_moves_every_row_with_its_sample(private):
    report = full(private)
    ids = report.samples.ids
    new = [alias_of(b"key", i) for i in ids]
    result = renamed(report, new, [alias_of(b"key", i) for i, _, _ in report.failures])
    assert list(result.samples.ids) == sorted(new)
    at = {i: result.samples.ids.index(n) for i, n in zip(ids, new, strict=True)}
    back = [at[i] for i in ids]  # row of result that was row i
    assert [result.samples.paths[r] for r in back] == list(report.samples.paths)
    assert result.samples.labels[back].tolist() == report.samples.labels.tolist()
    assert [result.scan.content[r] for r in back] == list(report.scan.content)
    codes = result.grouping.codes[back]
    assert len({*zip(codes.tolist(), report.grouping.codes.tolist(), strict=True)}) == report.grouping.n_groups
    links = {frozenset((ids[a], ids[b])) for a, b in zip(report.grouping.links.a, report.grouping.links.b, strict=True)}
    names = dict(zip(new, ids, strict=True))
    ends = zip(result.grouping.links.a, result.grouping.links.b, strict=True)
    assert {frozenset((names[result.samples.ids[a]], names[result.samples.ids[b]])) for a, b in ends} == links
    for old, moved in zip(report.plans, result.plans, strict=True):
        assert moved.partition[back].tolist() == old.partition.tolist()
        assert moved.digest != old.digest
    for old, moved in zip(report.exposures, result.exposures, strict=True):
        assert moved.mates_in_train[back].tolist() == old.mates_in_train.tolist()
        near = [-1 if i < 0 else at[ids[i]] for i in old.nearest_train]
        assert moved.nearest_train[back].tolist() == near
    for old, moved in zip((*report.runs, *report.control_runs), (*result.runs, *result.control_runs), strict=True):
        was = {at[ids[r]]: p for r, p in zip(old.rows, old.probabilities.tolist(), strict=True)}
        assert dict(zip(moved.rows.tolist(), moved.probabilities.tolist(), strict=True)) == was
    (old,), (moved,) = report.label_results, result.label_results
    for field in ("mechanism", "suggested", "score", "by_group", "by_random", "score_group", "score_random"):
        assert getattr(moved, field)[back].tolist() == getattr(old, field).tolist()
    assert moved.checks[0].flagged[back].tolist() == old.checks[0].flagged.tolist()
    (sheet,) = result.control_sheets
    assert {names[result.samples.ids[r]] for r in sheet.rows} == {ids[3], ids[7]}


def test_an_alias_depends_on_key_and_path_and_shows_neither():
    names = {alias_of(key, path) for key in (b"a", b"b") for path in ("x/Anna 1.PNG", "x/Anna 2.PNG")}
    assert len(names) == 4
    assert all(n.startswith("s") and n.endswith(".png") and len(n) == 21 for n in names)
    assert len(alias_of(b"a", "subject01.glasses")) == 17  # a suffix that is no image's may tell something


def test_sentences_lose_names_and_keep_words(private):
    report = load_report(private.out)
    name = report.samples.ids[5]
    person = private.patient[name]
    report = dataclasses.replace(report, verdict=f"The images of train are fine, {name} ({person} shot1.png) is not.")
    result = aliased(report, b"key")
    assert "The images of train are fine, " in result.verdict
    assert alias_of(b"key", name) in result.verdict
    assert person not in result.verdict
    assert result.samples.metadata == {}
    assert not any(n.examples for n in (*result.notes, *result.samples.notes, *result.grouping.notes))
    assert result.samples.classes == report.samples.classes


def test_paths_of_other_files_go_from_texts_and_settings(private):
    report = load_report(private.out)
    settings = {
        **report.settings,
        "models": ["timm:/home/anna/net.pth", "timm:hf-hub:org/net"],
        "descriptor": "open_clip_model:ViT-B-32/openai",
        "labels": "elsewhere/Labels of Anna.csv",
        "pattern": r"(?P<group>p\d+)/x",
    }
    text = "and/or 3/4 of <b>x</b> stay; the weights /home/anna/net v2.pth and C:/Users/anna/x do not"
    result = aliased(dataclasses.replace(report, settings=settings, verdict=text), b"key")
    assert result.settings["models"] == ["timm:FILE", "timm:hf-hub:org/net"]
    assert result.settings["descriptor"] == "open_clip_model:ViT-B-32/openai"
    assert result.settings["labels"] == "FILE"
    assert result.settings["pattern"] == settings["pattern"]
    assert result.verdict.startswith("and/or 3/4 of <b>x</b> stay; the weights FILE")
    assert "anna" not in str(dict(result.settings)) + result.verdict
