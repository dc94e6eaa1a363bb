"""What the tab of label results reads agrees with the results, and says what was not evaluated."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from fiftyone_hsd.dataset.label_overview import MOST_IDS, MOST_SUSPECTS, label_overview
from fiftyone_hsd.model import Effect, LabCheck, LabelIssues, Note


def results(report, mechanism, **more):
    """Label results of a report by hand."""
    n = len(report.samples)
    none, score = np.zeros(n, bool), np.full(n, 0.5)
    parts = {"suggested": np.full(n, -1), "score": score, "by_group": none, "by_random": none}
    parts |= {"score_group": score, "score_random": score, **more}
    return dataclasses.replace(report, label_results=(LabelIssues("linear_probe", mechanism, **parts),))


@pytest.fixture(scope="module")
def wide(report):
    """All images of the largest group in one class suspected group-wide, two others isolated, one of them likely."""
    n, codes, labels = len(report.samples), report.grouping.codes, report.samples.labels
    largest = int(report.grouping.sizes.argmax())
    label = int(np.bincount(labels[codes == largest]).argmax())
    mechanism = np.full(n, "", "<U21")
    rows = np.flatnonzero((codes == largest) & (labels == label))
    mechanism[rows] = "group-wide"
    alone = np.flatnonzero(codes != largest)[:2]
    mechanism[alone] = "isolated"
    likely, by_random = np.zeros(n, bool), np.zeros(n, bool)
    likely[alone[1]], by_random[alone] = True, True
    score = np.full(n, 0.5)
    score[alone[0]] = 0.01
    suggested = np.full(n, -1)
    suggested[rows] = (label + 1) % len(report.samples.classes)
    found = results(report, mechanism, likely=likely, by_random=by_random, score=score, suggested=suggested)
    return found, rows, alone, label


def test_counts_by_mechanism_class_and_share(wide):
    report, rows, _alone, label = wide
    shown = label_overview(report, label="ground_truth.label")
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    images = {r["mechanism"]: r["images"] for r in shown["mechanisms"]}
    assert images == {"cross-class duplicate": 0, "mixed group": 0, "group-wide": len(rows), "isolated": 2}
    assert [(r["likely"], r["random"]) for r in shown["mechanisms"] if r["mechanism"] == "isolated"] == [(1, 2)]
    assert (shown["flagged"], shown["likely"], shown["labelled"]) == (len(rows) + 2, 1, len(report.samples))
    assert sum(r["flagged"] for r in shown["classes"]) == len(rows) + 2
    name = report.samples.classes[label]
    (mine,) = (r for r in shown["classes"] if r["class"] == name)
    assert mine["n"] == int((report.samples.labels == label).sum())
    assert shown["label"] == "ground_truth.label"


def test_a_group_that_is_wrong_as_a_whole_is_one_entry(wide):
    report, rows, _, label = wide
    (entry,) = label_overview(report)["groups"]
    assert entry["ids"] == [report.samples.ids[r] for r in rows[:MOST_IDS]]
    assert (entry["images"], entry["size"]) == (len(rows), int(report.grouping.sizes.max()))
    assert entry["label"] == report.samples.classes[label]
    assert entry["suggested"] == report.samples.classes[(label + 1) % len(report.samples.classes)]


def test_suspects_stand_in_order_with_their_mates(wide):
    report, rows, alone, _ = wide
    shown = label_overview(report)["suspects"]
    assert len(shown) == min(MOST_SUSPECTS, len(rows) + 2)
    assert [s["id"] for s in shown[:2]] == [report.samples.ids[alone[1]], report.samples.ids[alone[0]]]
    assert [s["likely"] for s in shown[:2]] == [True, False]
    codes = dict(zip(report.samples.ids, report.grouping.codes.tolist(), strict=True))
    for one in shown:
        assert one["id"] not in one["mates"]
        assert {codes[m] for m in one["mates"]} <= {codes[one["id"]]}


def test_no_issue_and_nothing_evaluated_have_their_own_words(report):
    n = len(report.samples)
    clean = label_overview(results(report, np.full(n, "")))
    assert (clean["flagged"], clean["classes"], clean["groups"], clean["suspects"]) == (0, [], [], [])
    assert clean["evaluated"]
    unknown = np.full(n, np.nan)
    reason = "label issues by group folds: too few groups"
    notes = (Note("not evaluated", "label issues", reason),)
    found = results(report, np.full(n, ""), score=unknown, score_group=unknown, score_random=unknown, notes=notes)
    shown = label_overview(found)
    assert not shown["evaluated"]
    assert [(f["kind"], f["evaluated"], f["reason"]) for f in shown["folds"]] == [
        ("group", False, "too few groups"),
        ("random", False, ""),
    ]
    assert shown["folds"][0]["skill"] is None


def test_skill_and_checks(report):
    n = len(report.samples)
    nan = float("nan")
    head = ("out_of_fold_score", "linear_probe", "group folds", None, "", "", "balanced_accuracy")
    effect = Effect(*head, 0.7, nan, nan, nan, n, "")
    flagged = np.arange(n) < 2
    scores = np.where(np.arange(n) == 0, 0.4, 0.1)
    checks = (LabCheck("outlier", flagged, scores), LabCheck("dark", ~flagged & flagged, scores, "no pictures"))
    shown = label_overview(results(report, np.full(n, ""), effects=(effect,), checks=checks))
    assert shown["folds"][0]["skill"] == [0.7, None, None]
    outlier, dark = shown["checks"]
    assert (outlier["images"], outlier["ids"]) == (2, [report.samples.ids[1], report.samples.ids[0]])
    assert (dark["images"], dark["reason"], dark["ids"]) == (None, "no pictures", [])
