"""Datalab's own checks: every one has a result or a reason."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.datalab import check
from fiftyone_hsd.datalab.checking import CHECKS, IMAGES, SPURIOUS
from fiftyone_hsd.drawn import SMALL, vectors
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.model import Descriptors, Grouping, Links, Samples

pytestmark = pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")


@pytest.fixture(scope="module")
def drawn():
    return vectors(SMALL)


def test_every_check_has_a_result_or_a_reason(drawn, capsys):
    n = len(drawn.samples)
    types = {"hidden_group": {"groups": drawn.groups}, "split_leak": {"groups": drawn.groups[:5]}}
    lab = check(drawn.samples, CHECKS, types=types, descriptors=drawn.descriptors, probabilities=np.full((n, 3), 1 / 3))
    assert capsys.readouterr().out == ""
    assert [c.name for c in lab.checks] == list(CHECKS)
    found = {c.name: c for c in lab.checks}
    assert "5 groups for" in found["split_leak"].reason
    for name in ("hidden_group", "label", "outlier", "near_duplicate", "non_iid", "class_imbalance"):
        assert found[name].reason == "", name
        assert f"is_{name}_issue" in lab.lab.issues
    assert all(found[name].reason for name in (*IMAGES, SPURIOUS))  # none of these files exists


def test_what_is_missing_is_said(drawn):
    lab = check(drawn.samples, ["label", "outlier", "underperforming_group"])
    assert all(c.reason for c in lab.checks)
    assert not any(c.flagged.any() for c in lab.checks)
    assert all(np.isnan(c.score).all() for c in lab.checks)
    with pytest.raises(InputError, match="outlier"):
        check(drawn.samples, ["outliers"])
    with pytest.raises(InputError, match="descriptors"):
        check(drawn.samples, ["outlier"], descriptors=drawn.descriptors.take([0, 1]))


def test_every_image_has_a_twin():
    """Left to its own graph, Datalab takes the rounding noise of the twins for their distance and flags none."""
    x = np.random.default_rng(0).normal(size=(100, 32))
    x = np.concatenate([x, x])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    n = len(x)
    ids = tuple(f"{i}.png" for i in range(n))
    samples = Samples(ids, ids, np.arange(n) % 2, ("a", "b"), np.full(n, ""), {}, "/")
    (twins,) = check(samples, ["near_duplicate"], descriptors=Descriptors("drawn", x.astype(np.float32))).checks
    assert twins.flagged.all()
    (none,) = check(
        samples.take(np.arange(100)), ["near_duplicate"], descriptors=Descriptors("drawn", x[:100].astype(np.float32))
    ).checks
    assert not none.flagged.any()


def test_unlabelled_samples_stay_out_and_odd_class_names_come_through(drawn):
    labels = drawn.samples.labels.copy()
    labels[::4] = -1
    names = ("\udcff b", "z", "a$<b>")
    old = drawn.samples
    samples = Samples(old.ids, old.paths, labels, names, old.split, {}, old.root)
    probabilities = np.full((len(labels), 3), np.nan)
    probabilities[labels >= 0] = 0.05
    probabilities[np.flatnonzero(labels >= 0), labels[labels >= 0]] = 0.9
    wrong = int(np.flatnonzero(labels >= 0)[10])
    probabilities[wrong] = np.roll(probabilities[wrong], 1)
    lab = check(samples, ["label"], probabilities=probabilities)
    (found,) = lab.checks
    assert np.flatnonzero(found.flagged).tolist() == [wrong]
    assert np.isnan(found.score[::4]).all()
    assert lab.rows.tolist() == np.flatnonzero(labels >= 0).tolist()


def test_groups_in_every_form_are_cut_to_the_labelled_rows(drawn):
    import pandas as pd

    old, labels = drawn.samples, drawn.samples.labels.copy()
    labels[::3] = -1
    samples = Samples(old.ids, old.paths, labels, old.classes, old.split, {}, old.root)
    expected = None
    names = pd.Series([f"p{g}" for g in drawn.groups], dtype="string").mask(drawn.groups == 0)
    for groups in (drawn.groups, Grouping(drawn.groups, Links.of([], [], "")), drawn.groups.tolist(), names):
        (found,) = check(samples, ["hidden_group"], types={"hidden_group": {"groups": groups}}).checks
        assert found.reason == ""
        flagged = found.flagged & (drawn.groups != 0)
        assert expected is None or flagged.tolist() == expected
        expected = flagged.tolist()
    assert not found.flagged[drawn.groups == 0].any()  # <NA> is no group


def test_without_labels_the_other_checks_run(drawn):
    old = drawn.samples
    samples = Samples(old.ids, old.paths, np.full(len(old), -1), (), old.split, {}, old.root)
    found = check(samples, ["hidden_group", "label"], types={"hidden_group": {"groups": drawn.groups}}).checks
    assert found[0].flagged.any()
    assert found[1].reason


def test_the_baseline_of_spurious_correlations_is_a_share():
    import pandas as pd

    from fiftyone_hsd.datalab.checking import _right_baseline
    from fiftyone_hsd.datalab.undisturbed import undisturbed

    rng = np.random.default_rng(0)
    labels = np.array([0] * 180 + [1] * 20)
    noise = pd.DataFrame({"dark_score": rng.random(200)})
    with undisturbed():
        from cleanlab.datalab.internal.spurious_correlation import SpuriousCorrelations

        wrong = SpuriousCorrelations(noise, labels).calculate_correlations()["score"][0]
        with _right_baseline():
            right = SpuriousCorrelations(noise, labels).calculate_correlations()["score"][0]
        again = SpuriousCorrelations(noise, labels).calculate_correlations()["score"][0]
    assert wrong < 0.3  # cleanlab's own threshold: a property without meaning is called a correlation
    assert right > 0.9
    assert again == wrong


@pytest.mark.skipif(importlib.util.find_spec("cleanvision") is None, reason="cleanvision not installed")
def test_pictures_are_looked_at_and_only_a_real_correlation_is_told(tmp_path, capfd):
    """Two classes, one of them dark; in the same pictures with shuffled labels the darkness means nothing."""
    rng = np.random.default_rng(0)
    for i in range(60):
        pixels = rng.integers(0, 8 if i < 40 else 250, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{i:02d}.png")
    paths = tuple(str(tmp_path / f"{i:02d}.png") for i in range(60))
    labels = (np.arange(60) < 40).astype(np.int32)
    for given, expected in ((labels, True), (rng.permutation(labels), False)):
        samples = Samples(paths, paths, given, ("a", "b"), np.full(60, ""), {}, str(tmp_path))
        lab = check(samples, ["dark", SPURIOUS])
        assert [c.reason for c in lab.checks] == ["", ""]
        assert np.flatnonzero(lab.checks[0].flagged).tolist() == list(range(40))
        assert ("dark" in lab.correlated) == expected
    assert capfd.readouterr() == ("", "")
