"""Wrong labels are found, named by how they came about, and right ones left alone."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from fiftyone_hsd import store
from fiftyone_hsd.label_issues import DUPLICATE, ISOLATED, MIXED, WIDE, label_issues
from fiftyone_hsd.model import Descriptors, Grouping, LabelIssues, Links, Samples

pytestmark = pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")
NONE = Links.of([], [], "")


def corpus(groups=60, size=5, classes=3, signal=3.0, look=1.0, seed=0):
    """Groups of one class with a look of their own; (labels, group of each, unit vectors)."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(groups), size)
    labels = (np.arange(groups) % classes)[codes].astype(np.int32)
    means, looks = rng.normal(size=(classes, 16)), rng.normal(size=(groups, 16))
    x = signal * means[labels] + look * looks[codes] + 0.3 * rng.normal(size=(len(codes), 16))
    return labels, codes, (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)


def found(labels, codes, x, links=NONE, **options) -> LabelIssues:
    n = len(labels)
    ids = tuple(f"{i:04d}.png" for i in range(n))
    classes = tuple("abcdef"[: int(max(labels)) + 1])
    samples = Samples(ids, tuple(f"/x/{i}" for i in ids), np.array(labels), classes, np.full(n, ""), {}, "/x")
    return label_issues(samples, Grouping(codes, links), Descriptors("drawn", x), seeds=1, **options)


def test_right_labels_that_can_be_learned_are_left_alone():
    issues = found(*corpus())
    assert not issues.flagged.any()
    assert np.isfinite(issues.score).all()
    assert all(e.estimate > 0.95 for e in issues.effects)


def test_the_errors_of_a_weak_model_are_suspected_but_not_likely():
    issues = found(*corpus(groups=120, signal=0.4, look=2.0))
    assert issues.flagged.mean() > 0.3
    assert issues.likely.mean() < 0.02


def test_single_wrong_labels_among_mates_and_alone():
    labels, codes, x = corpus()
    codes[150:200] = np.arange(100, 150)  # ten groups become fifty singletons
    wrong = [0, 33, 71, 155, 160]
    given = labels.copy()
    given[wrong] = (given[wrong] + 1) % 3
    issues = found(given, codes, x)
    assert np.flatnonzero(issues.flagged).tolist() == wrong
    assert np.flatnonzero(issues.likely).tolist() == wrong
    assert issues.mechanism[wrong].tolist() == [MIXED] * 3 + [ISOLATED] * 2
    assert issues.suggested[wrong].tolist() == labels[wrong].tolist()
    assert set(np.argsort(issues.score)[:5].tolist()) == set(wrong)


def test_a_group_that_is_wrong_as_a_whole_is_seen_by_group_folds_only():
    labels, codes, x = corpus(look=2.0, signal=3.0)
    given = labels.copy()
    wrong = np.isin(codes, [3, 16, 41])
    given[wrong] = (given[wrong] + 1) % 3
    issues = found(given, codes, x, model="nearest_neighbour")
    assert issues.by_random[wrong].mean() < 0.2  # mates vouch for each other
    assert (issues.mechanism[wrong] == WIDE).all()
    assert issues.by_group[wrong].mean() >= 0.5


def test_copies_under_two_labels_need_no_model():
    labels, codes, x = corpus()
    x[150] = x[0]
    links = Links.of([0, 3], [150, 4], "pixels", "identical decoded pixels")
    codes[150] = codes[0]
    issues = found(labels, codes, x, links)
    assert labels[0] == labels[150] or np.flatnonzero(issues.mechanism == DUPLICATE).tolist() == [0, 150]
    given = labels.copy()
    given[150] = (given[0] + 1) % 3
    assert np.flatnonzero(found(given, codes, x, links).mechanism == DUPLICATE).tolist() == [0, 150]
    near = Links.of([0], [150], "similarity", "alike")
    assert not (found(given, codes, x, near).mechanism == DUPLICATE).any()


def test_a_model_that_knows_nothing_does_not_accuse():
    """Labels without any meaning: nothing is flagged, and both kinds of folds say that they were not evaluated."""
    labels, codes, x = corpus(signal=0.0, look=0.0)
    issues = found(labels, codes, x)
    assert not issues.flagged.any()
    said = [n.text for n in issues.notes if n.level == "not evaluated"]
    assert any("group folds" in t and "chance 0.33" in t for t in said)
    assert any("random folds" in t for t in said)
    assert np.isnan(issues.score).all()


def test_a_model_that_only_knows_mates_accuses_by_random_folds_alone():
    labels, codes, x = corpus(signal=0.0, look=2.0)
    given = labels.copy()
    given[7] = (given[7] + 1) % 3
    issues = found(given, codes, x, model="nearest_neighbour")
    assert not issues.by_group.any()
    assert issues.by_random[7]
    assert issues.mechanism[7] == MIXED
    assert any("group folds" in n.text and n.level == "not evaluated" for n in issues.notes)


@pytest.mark.parametrize("labels", [[-1] * 12, [0] * 12])
def test_nothing_to_compare_is_not_evaluated(labels):
    _, codes, x = corpus(groups=4, size=3)
    issues = found(np.array(labels, np.int32), codes, x)
    assert not issues.flagged.any()
    assert {n.level for n in issues.notes} == {"not evaluated"}
    assert len(issues.notes) >= 2


def test_a_class_of_one_group_is_judged_by_random_folds_only():
    labels, codes, x = corpus()
    only = labels == 2
    codes[only] = 999
    issues = found(labels, codes, x)
    assert np.isnan(issues.score_group[only]).all()
    assert np.isfinite(issues.score_random).all()
    assert not issues.by_group[only].any()
    assert any(n.examples == ("c",) for n in issues.notes)


def test_the_result_can_be_kept(tmp_path):
    labels, codes, x = corpus(groups=12)
    issues = found(labels, codes, x)
    store.save(tmp_path / "issues.npz", issues)
    again = store.load(tmp_path / "issues.npz", LabelIssues)
    assert again.mechanism.tolist() == issues.mechanism.tolist()
    assert np.array_equal(again.score, issues.score)
    assert repr(again.effects) == repr(issues.effects)


def flipped(labels, codes, how, seed):
    """5 % of the labels moved to another class, image by image or by whole groups."""
    rng = np.random.default_rng(seed)
    given, classes = labels.copy(), int(labels.max()) + 1
    if how == "image":
        rows = rng.permutation(len(labels))[: len(labels) // 20]
        given[rows] = (given[rows] + rng.integers(1, classes, len(rows))) % classes
        return given
    for g in rng.permutation(int(codes.max()) + 1)[: (int(codes.max()) + 1) // 20].tolist():
        given[codes == g] = (given[codes == g] + rng.integers(1, classes)) % classes
    return given


def test_each_kind_of_folds_sees_what_the_other_does_not():
    """Classes that can be learned across groups, in vectors wide enough to remember them too; three draws each: group
    folds win where whole groups are wrong, and both together find more single errors than either."""
    from sklearn.metrics import average_precision_score

    from fiftyone_hsd.drawn import DEMO, vectors

    drawn = vectors(
        DEMO, dim=256, patients=120, classes_per_patient=1, fields=3, duplicates=0, patient_look=1.0, cue=0.0
    )
    labels, codes = np.asarray(drawn.samples.labels), drawn.groups
    gain, recall = [], []
    for seed in range(3):
        given = flipped(labels, codes, "group", seed)
        issues = found(given, codes, drawn.descriptors.values)
        assert issues.effects[0].low > 0.6  # learnable across groups; chance is 0.25
        scores = [average_precision_score(given != labels, -s) for s in (issues.score_group, issues.score_random)]
        gain.append(scores[0] - scores[1])
        given = flipped(labels, codes, "image", seed)
        issues = found(given, codes, drawn.descriptors.values)
        bad = given != labels
        recall.append([f[bad].mean() for f in (issues.by_group, issues.by_random, issues.by_group | issues.by_random)])
    assert min(gain) > 0.3
    group, random, either = np.mean(recall, axis=0)
    assert either > max(group, random)
