"""Blocks of classes in time, counted over groups."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from PIL import Image
from scipy.stats import binomtest
from scipy.stats.contingency import association

from fiftyone_hsd.controls._association import cramers_v
from fiftyone_hsd.controls._sequence import sequence
from fiftyone_hsd.controls.acquisition_order import _changes, _permuted, acquisition_order


def timed(corpus, order, **more):
    """The corpus with an acquisition time for each of its 120 images."""
    return corpus(metadata={"time": [str(t) for t in order]}, order_field="time", **more)


def index(outcome):
    return next(r.effect for r in outcome.results if r.effect.what == "blocking_index")


def test_class_by_class_is_near_one(corpus) -> None:
    labels = corpus().samples.labels
    found = acquisition_order(timed(corpus, np.argsort(np.argsort(labels, kind="stable"))))
    assert index(found).estimate > 0.95
    assert index(found).p < 0.001
    assert index(found).n == 60
    assert "acquired in blocks" in found.notes[0].text


def test_shuffled_is_near_zero(corpus) -> None:
    found = acquisition_order(timed(corpus, np.random.default_rng(1).permutation(120)))
    assert abs(index(found).estimate) < 0.3
    assert index(found).p > 0.05
    assert found.notes[0].text.startswith("no sign")


def test_repeated_images_of_one_patient_do_not_look_like_blocks(corpus) -> None:
    """Patients in random order, each with all its images at once: over images the index would be 1 - 1/5."""
    patients = np.random.default_rng(2).permutation(24)
    order = patients.repeat(5) * 5 + np.tile(np.arange(5), 24)
    study = timed(corpus, order, groups=24, images=5)
    found = index(acquisition_order(study))
    assert abs(found.estimate) < 0.4
    assert found.n == 24
    assert found.p > 0.05


def test_runs_against_counting_by_hand(corpus) -> None:
    """AABAB over five groups: 3 changes; E = 5 (1 - .6^2 - .4^2) = 2.4."""
    study = corpus(groups=5, images=1, share=0.4, seeds=1, fractions={"train": 0.5, "test": 0.5})
    wanted = [0, 0, 1, 0, 1]
    zeros, ones = (iter(np.flatnonzero(study.samples.labels == c).tolist()) for c in (0, 1))
    rows = [next(zeros) if c == 0 else next(ones) for c in wanted]
    order = np.empty(5, int)
    order[rows] = np.arange(5)
    samples = dataclasses.replace(study.samples, metadata={"time": np.array([str(v) for v in order])})
    options = dataclasses.replace(study.settings, order_field="time")
    found = acquisition_order(dataclasses.replace(study, samples=samples, settings=options))
    assert index(found).estimate == pytest.approx(1 - 3 / 2.4)
    assert found.notes[0].level == "not evaluated"


def test_p_is_calibrated() -> None:
    rng = np.random.default_rng(0)
    p = []
    for _ in range(120):
        classes = rng.permutation(30) % 3
        p.append(_permuted(np.arange(30), classes, int((classes[1:] != classes[:-1]).sum()))[0])
    hits = int((np.array(p) <= 0.05).sum())
    assert binomtest(hits, 120, 0.05, alternative="greater").pvalue > 0.01


def test_groups_of_one_time_have_no_order_among_themselves() -> None:
    """The mean over all orders, by all orders: 2 groups at one time, 3 at the next, then 1."""
    place, classes = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 0, 1, 1])
    every = [
        [*a, *b, classes[5]] for a in itertools.permutations(classes[:2]) for b in itertools.permutations(classes[2:5])
    ]
    changes = [sum(x != y for x, y in itertools.pairwise(order)) for order in every]
    assert _changes(place, classes[None])[0] == pytest.approx(np.mean(changes))
    assert _changes(np.arange(6), classes[None])[0] == sum(x != y for x, y in itertools.pairwise(classes))


def test_one_date_for_all_says_nothing_and_dates_are_calibrated(corpus) -> None:
    """Files lie in order of class, so an order of files among equal times would look like blocks."""
    found = acquisition_order(timed(corpus, np.zeros(120, int)))
    assert found.notes[0].level == "not evaluated"
    assert index(found).estimate == pytest.approx(0)
    p, rng = [], np.random.default_rng(3)
    labels = corpus().samples.labels
    for _ in range(60):
        day = rng.integers(0, 4, 60).repeat(2)  # the two images of a group on one day
        p.append(index(acquisition_order(timed(corpus, day))).p)
    assert binomtest(int((np.array(p) <= 0.05).sum()), 60, 0.05, alternative="greater").pvalue > 0.01
    by_class = acquisition_order(timed(corpus, labels))
    assert index(by_class).p < 0.001
    assert "60 groups have" in by_class.notes[0].text


def test_counters_and_exif(corpus, tmp_path) -> None:
    named = corpus()
    assert sequence(named).origin == "counter in file names (p#_#)"
    assert np.array_equal(sequence(named).rank, np.arange(120))
    apart = [f"/nowhere/{'abc'[k % 3]}_{k}.png" for k in range(120)]
    told = sequence(dataclasses.replace(named, samples=dataclasses.replace(named.samples, paths=tuple(apart))))
    assert "3 patterns" in told.reason
    again = [f"/nowhere/o{k // 10}__{k % 10}.png" for k in range(120)]
    told = sequence(dataclasses.replace(named, samples=dataclasses.replace(named.samples, paths=tuple(again))))
    assert "repeat" in told.reason
    exif, paths = Image.Exif(), []
    for k in range(120):
        exif[306] = f"2020:01:01 00:{(119 - k) // 60:02d}:{(119 - k) % 60:02d}"
        Image.new("L", (4, 4)).save(tmp_path / f"{k}.jpg", exif=exif)
        paths.append(str(tmp_path / f"{k}.jpg"))
    told = sequence(dataclasses.replace(named, samples=dataclasses.replace(named.samples, paths=tuple(paths))))
    assert told.origin == "EXIF time"
    assert np.array_equal(told.rank, np.arange(120)[::-1])


def test_cramers_v_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 5, 50)
    table = np.zeros((3, 5), int)
    np.add.at(table, (a, b), 1)
    assert cramers_v(a, b) == pytest.approx(association(table, method="cramer"))
    assert cramers_v(a, a) == pytest.approx(1)
    assert np.isnan(cramers_v(a, a * 0))


def test_class_and_session(corpus) -> None:
    labels = corpus().samples.labels
    same = {"session": np.where(labels == 0, "monday", "tuesday")}
    found = acquisition_order(corpus(metadata=same, session_field="session"))
    v = next(r.effect for r in found.results if r.effect.what == "cramers_v")
    assert (v.estimate, v.n) == (pytest.approx(1), 60)
    assert found.notes[-1].level == "problem"
    rng = np.random.default_rng(101)
    mixed = {"session": np.array(["monday", "tuesday"])[rng.integers(0, 2, 60)].repeat(2)}
    found = acquisition_order(corpus(metadata=mixed, session_field="session"))
    assert found.notes[-1].text.startswith("no sign")
