"""Groups from names that nobody described, and the right words where there are none."""

from __future__ import annotations

import csv
import json
import os
import uuid
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.agreement import agreement
from fiftyone_hsd.grouping._user_pattern import pattern_groups
from fiftyone_hsd.grouping.names import infer, name_links

CLASSES = ("benign", "malignant", "normal")


def slides(rng):
    for p in range(1, 31):
        for s in range(1, 1 + int(rng.integers(1, 4))):
            for t in range(int(rng.integers(3, 12))):
                x, y = rng.integers(0, 60, 2) * 256
                yield f"P{p:03d}_S{s}_tile{t}_{x}_{y}.png", p, p % 3


def subjects(rng):
    for p in range(1, 25):
        for s in range(1, 1 + int(rng.integers(1, 3))):
            for r in range(1, 4):
                yield f"subj-{p:02d}_ses-{s:02d}_run-{r}_bold.nii.gz", p, p % 2


def directories(rng):
    for p in range(1, 40):
        for eye in ("left", "right"):
            for i in range(1, 1 + int(rng.integers(1, 4))):
                yield f"P{p:03d}/{eye}/IMG_{i:04d}.jpg", p, int(rng.integers(0, 3))


def clips(rng):
    for c in range(1, 30):
        for f in range(int(rng.integers(10, 30))):
            yield f"clip{c}_frame{f:06d}.png", c, c % 3


def barcodes(rng):
    for p in rng.choice(9000, 40, replace=False) + 1000:
        for s in range(1, 1 + int(rng.integers(1, 4))):
            yield f"TCGA-02-{p}-01Z-00-DX{s}.png", int(p), int(p) % 3


def wrapped(rng):
    for p in range(1, 60):
        for k in range(3):
            yield f"patient{p:04d}_view1_png.rf.{sha256(f'{p}.{k}'.encode()).hexdigest()[:32]}.jpg", p, p % 3


def hashes(rng):
    for k in range(400):
        yield f"{sha256(str(k).encode()).hexdigest()[:32]}.png", None, k % 3


def uuids(rng):
    for k in range(400):
        yield f"{uuid.UUID(bytes=rng.bytes(16))}.jpg", None, k % 3


def counters(rng):
    for k in range(500):
        yield f"ISIC_{24306 + k:07d}.jpg", None, int(rng.integers(3))


def class_index(rng):
    for k in range(400):
        yield f"{CLASSES[k % 3]}_{k // 3:05d}.png", None, k % 3


def keras(rng):
    for k in range(500):
        yield f"_{int(rng.integers(0, 120))}_{int(rng.integers(0, 10000))}.jpeg", None, k % 3


def shots(rng):
    number = 100
    for thing in range(60):
        number += int(rng.integers(4, 12))
        for _ in range(int(rng.integers(3, 7))):
            number += 1
            yield f"IMG_{number:04d}.JPG", thing, thing // 10 % 3


def plates(rng):
    for plate in range(1, 7):
        for well in rng.choice([f"{a}{b:02d}" for a in "ABCDEFGH" for b in range(1, 13)], 30, replace=False):
            for field in (1, 2, 3):
                yield f"plate{plate}_{well}_f{field}.tif", f"{plate}{well}", int(rng.integers(3))


def visits(rng):
    for p in range(1, 25):
        for d in rng.choice(28, 3, replace=False) + 1:
            for k in (1, 2):
                yield f"2021-05-{d:02d}/mouse{p:02d}/{k:03d}.png", p, p % 3


def sessions(rng):
    for d in range(1, 29):
        for k in range(1, int(rng.integers(8, 20))):
            yield f"{d:02d}-05-2021/IMG_{k:04d}.jpg", d, int(rng.integers(3))


def gestures(rng):
    for gesture in range(1, 9):
        for subject in range(1, 16):
            for k in (1, 2):
                yield f"gesture{gesture}_subject{subject:02d}_{k}.png", subject, gesture % 3


def arms(rng):
    for number, arm in enumerate(("control", "treated")):
        for p in range(1, 30 + 9 * number):
            for k in (1, 2, 3):
                yield f"{arm}_{p:02d}_img_{k}.tif", f"{arm}{p}", number


def lesions(rng):
    for k in range(1, 60):
        yield f"images/eye_{k:02d}.jpg", k, k % 3
        for w in ("EX", "HE", "MA"):
            yield f"masks/eye_{k:02d}_{w}.tif", k, k % 3


def some_of_a_count(rng):
    for k in np.sort(rng.choice(1500, 700, replace=False)):
        yield f"IMG_{k:04d}.JPG", None, int(k) // 300 % 3


def shelves(rng):
    for c in CLASSES:
        for k in range(0, 2400, 3):
            yield f"{c}/{k // 1000}000-{k // 1000}999/{c}_{k:05d}.jpg", None, CLASSES.index(c)


def turntable(rng):
    for o in range(3):
        for a in range(0, 360, 5):
            yield f"{CLASSES[o]}/{a:03d}.png", None, o


def prefixed_keras(rng):
    for _ in range(600):
        yield f"aug_{int(rng.integers(0, 300))}_{int(rng.integers(0, 10000))}.jpeg", None, int(rng.integers(3))


TO_GROUP = (
    slides, subjects, directories, clips, barcodes, wrapped, shots, plates, visits, sessions, gestures, arms, lesions,
)  # fmt: skip
TO_ABSTAIN = (
    hashes, uuids, counters, class_index, keras, some_of_a_count, shelves, turntable, prefixed_keras,
)  # fmt: skip


def told(convention):
    names, groups, labels = zip(*convention(np.random.default_rng(0)), strict=True)
    return list(names), groups, np.array(labels, np.int64)


@pytest.mark.parametrize("convention", TO_GROUP, ids=lambda c: c.__name__)
def test_conventions_with_groups(convention):
    names, groups, labels = told(convention)
    rule = infer(names, labels, CLASSES)
    assert not rule.abstained, rule.reason
    assert rule.rule
    true = np.unique(groups, return_inverse=True)[1]
    assert agreement(rule.codes, true).f1 >= 0.97
    links = name_links(rule)
    assert set(links.source) == {"name"}
    assert len(links) == (rule.codes >= 0).sum() - rule.groups
    if rule.pattern:
        read = np.unique(pattern_groups(names, rule.pattern), return_inverse=True)[1]
        assert agreement(read, rule.codes).f1 >= 0.97


@pytest.mark.parametrize("convention", TO_ABSTAIN, ids=lambda c: c.__name__)
def test_conventions_without_groups(convention):
    names, _, labels = told(convention)
    rule = infer(names, labels, CLASSES)
    assert rule.abstained
    assert rule.reason
    assert (rule.codes == -1).all()
    assert len(name_links(rule)) == 0


@pytest.mark.parametrize(
    ("convention", "words"),
    [
        (arms, "the text before `_img_` (such as `control_01`)"),
        (clips, "the number after `clip` (such as `1`)"),
        (directories, "the number after `p` (such as `001`)"),
        (shots, "runs of consecutive numbers in the number after `img`"),
        (sessions, "folder 1 (such as `01-05-2021`)"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_rule_points_at_the_text_around_the_key(convention, words):
    names, _, labels = told(convention)
    assert infer(names, labels, CLASSES).rule.startswith(words)


def test_losing_rules_say_why_and_levels_are_nested():
    names, _, labels = told(subjects)
    rule = infer(names, labels, CLASSES)
    assert rule.matched == 1
    assert 0 < rule.confidence <= 1
    assert all(r.why for r in rule.runners_up)
    for level in rule.levels:
        assert level.groups > rule.groups
        assert len(np.unique(np.stack([level.codes, rule.codes]), axis=1)[0]) == level.groups
    assert [level.groups for level in rule.levels] == sorted({level.groups for level in rule.levels})


def test_mixed_conventions_keep_their_groups_apart():
    one, two = told(slides), told(directories)
    names = [f"labA/{n}" for n in one[0]] + [f"labB/{n}" for n in two[0]]
    rule = infer(names, np.concatenate([one[2], two[2]]), CLASSES)
    true = np.unique([*(f"a{g}" for g in one[1]), *(f"b{g}" for g in two[1])], return_inverse=True)[1]
    assert agreement(rule.codes, true).f1 >= 0.97


def test_order_of_names_does_not_matter():
    names, _, labels = told(slides)
    order = np.random.default_rng(1).permutation(len(names))
    one, two = infer(names, labels, CLASSES), infer([names[i] for i in order], labels[order], CLASSES)
    assert agreement(two.codes, one.codes[order]).f1 == 1


@pytest.mark.parametrize("names", [[], ["a.png"], ["a.png", "b.png"], ["x\udcff.png"] * 3])
def test_tiny_and_odd_corpora(names):
    assert len(infer(names).codes) == len(names)


def lists():
    folder = Path(os.environ.get("HSD_TEST_NAMES") or Path(os.environ.get("HSD_TEST_DATA", "/none")) / ".." / "names")
    index = folder / "index.json"
    return [(folder, entry) for entry in json.loads(index.read_text())] if index.exists() else []


@pytest.mark.data
def test_real_lists():
    scores = []
    assert lists(), "the name lists lie beside HSD_TEST_DATA, or where HSD_TEST_NAMES says"
    for folder, entry in lists():
        with (folder / f"{entry['name']}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        classes = sorted({r["label"] for r in rows})
        labels = np.array([classes.index(r["label"]) for r in rows])
        rule = infer([r["name"] for r in rows], labels, classes)
        if entry["recoverable_from_name"] == "yes":
            true = np.unique([r["group"] for r in rows], return_inverse=True)[1]
            scores.append(agreement(rule.codes, true).f1)
            assert scores[-1] >= 0.90, entry["name"]
        elif entry["recoverable_from_name"] == "no":
            assert rule.abstained, entry["name"]
            assert rule.reason
    assert len(scores) >= 9
    assert np.mean(scores) >= 0.97


@pytest.mark.data
@pytest.mark.parametrize("running", [True, False], ids=["as published", "without the running number"])
def test_two_counters_of_persons_stay_apart_in_a_real_folder(real_data, running):
    """Bacteria and virus count their persons each for itself; the folders only say pneumonia or not."""
    with (real_data / "chest_xray" / "groups.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    seen: dict[str, int] = {}
    names = []
    for row in rows:
        seen[row["group"]] = seen.get(row["group"], 0) + 1
        head, _, tail = row["path"].rpartition("_")
        again = f"{head}_{seen[row['group']]}.jpeg"
        names.append(row["path"] if running or "person" not in row["path"] else again)
        assert tail
    labels = np.array(["PNEUMONIA" in n for n in names], np.int64)
    rule = infer(names, labels, ("NORMAL", "PNEUMONIA"))
    found = agreement(rule.codes, np.unique([r["group"] for r in rows], return_inverse=True)[1])
    assert (found.precision, found.recall) == (1, 1)
    assert "bacteria" in rule.rule or "virus" in rule.rule
