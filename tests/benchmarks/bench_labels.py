"""Label errors put in on purpose, and how many are found by which folds.

    python tests/benchmarks/bench_labels.py [--data FOLDER] [--flips 5] [--seeds 3] [--draws 300] [CORPUS ...]

Labels of 5 % of the images are flipped to another class, image by image or by whole groups, under `--flips` seeds. For
group-disjoint folds, random folds and both together: average precision of the belief in the given label (an interval
from one weight a group in all flips, plus the spread over flips), recall and precision of what is flagged. Without
flips: the flagged share, all of it false alarms as far as the published labels are right.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from fiftyone_hsd.audit import read_images
from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.drawn import DEMO, INDEPENDENT, SIXTY, UNRELATED, draw, vectors
from fiftyone_hsd.folder import from_folder, read_groups
from fiftyone_hsd.label_issues import label_issues
from fiftyone_hsd.model import Grouping, Links, Samples
from fiftyone_hsd.progress import guarded
from fiftyone_hsd.stats import Support, seed_interval

SHARE = 0.05
NONE = Links.of([], [], "")
DATA = os.environ.get("HSD_TEST_DATA", "")
LEARNABLE = replace(
    DEMO, patients=120, classes_per_patient=1, fields=3, duplicates=0, patient_look=1.0, cue=0.0, names="hash"
)
"""Patients of one class each, whose look is about as strong as the class."""


def files(root, truth, descriptor):
    """(samples, groups, vectors) of a folder of images."""
    samples = from_folder(root)
    groups = read_groups(Path(truth), samples)
    _, found = read_images(samples, by_name(descriptor), None, guarded(None))
    return samples, np.unique(groups, return_inverse=True)[1].astype(np.int64), found


def real(name, descriptor="colour_histogram"):
    folder = Path(DATA) / name
    samples, groups, found = files(folder, folder / "groups.csv", descriptor)
    with (folder / "groups.csv").open(newline="") as file:
        label = {r["path"]: r["label"] for r in csv.DictReader(file)}
    names = [label[i] for i in samples.ids]
    classes = tuple(sorted(set(names)))
    codes = np.array([classes.index(n) for n in names], np.int32)
    return replace(samples, labels=codes, classes=classes), groups, found


def pictures(recipe):
    with tempfile.TemporaryDirectory() as folder:
        images = draw(Path(folder), recipe)
        return files(images, Path(folder) / "truth.csv", "colour_histogram")


def plain(recipe, **options):
    found = vectors(recipe, **options)
    return found.samples, found.groups, found.descriptors


CORPORA = {
    "blood_cells": lambda: real("blood_cells"),
    "blood_cells, network": lambda: real("blood_cells", "timm_model"),
    "learnable": lambda: plain(LEARNABLE, dim=256),
    "learnable, two classes a patient": lambda: plain(replace(LEARNABLE, classes_per_patient=2), dim=256),
    "learnable, no room to remember": lambda: plain(LEARNABLE, dim=24, signal=1.5),
    "chest_xray": lambda: real("chest_xray"),
    "drawn demo": lambda: pictures(DEMO),
    "drawn independent": lambda: pictures(INDEPENDENT),
    "drawn unrelated": lambda: pictures(UNRELATED),
    "drawn sixty": lambda: pictures(SIXTY),
}
FLIPPED = tuple(CORPORA)[:5]


def flip(labels, groups, classes, how, seed):
    """Labels with 5 % of the images moved to another class, by image or by group."""
    rng = np.random.default_rng([seed, 11])
    given, n = labels.copy(), len(labels)
    if how == "image":
        rows = rng.permutation(n)[: round(SHARE * n)]
        given[rows] = (given[rows] + rng.integers(1, classes, len(rows))) % classes
        return given
    done = 0
    for g in rng.permutation(np.unique(groups)).tolist():
        if done >= SHARE * n:
            break
        inside = groups == g
        given[inside] = (given[inside] + rng.integers(1, classes)) % classes
        done += int(inside.sum())
    return given


def issues_of(samples: Samples, groups, found, given, seeds):
    return label_issues(replace(samples, labels=given), Grouping(groups, NONE), found, seeds=seeds)


def interval(values, drawn, support, paired=False):
    got = seed_interval(float(np.mean(values)), values, np.mean(drawn, axis=0), support, paired=paired)
    got = got.within(-1.0 if paired else 0.0, 1.0)
    return f"{got.estimate:.3f} [{got.low:.3f}, {got.high:.3f}]"


def measure(name, samples, groups, found, how, options):
    """One line of the table."""
    classes = len(samples.classes)
    n_groups = int(groups.max()) + 1
    weights = np.random.default_rng(5).exponential(size=(options.draws, n_groups))
    kinds = ("group", "random", "both")
    value, drawn = ({k: [] for k in kinds} for _ in range(2))
    recall, precision = ({k: [] for k in (*kinds, "listed", "likely")} for _ in range(2))
    wrong_groups = []
    for seed in range(options.flips):
        given = flip(np.asarray(samples.labels), groups, classes, how, seed)
        bad = given != samples.labels
        wrong_groups.append(groups[bad])
        issues = issues_of(samples, groups, found, given, options.seeds)
        beliefs = {"group": issues.score_group, "random": issues.score_random, "both": issues.score}
        flags = {"group": issues.by_group, "random": issues.by_random, "both": issues.by_group | issues.by_random}
        for k in kinds:
            belief = np.nan_to_num(beliefs[k], nan=1.0)
            value[k].append(average_precision_score(bad, -belief))
            drawn[k].append([average_precision_score(bad, -belief, sample_weight=w[groups]) for w in weights])
        for k, flagged in {**flags, "listed": issues.flagged, "likely": issues.likely}.items():
            recall[k].append(flagged[bad].mean())
            precision[k] += [bad[flagged].mean()] if flagged.any() else []
    every = np.concatenate(wrong_groups)
    support = Support.of(every, np.zeros(len(every), np.int64))
    cells = [interval(value[k], drawn[k], support) for k in kinds]
    difference = np.array(value["group"]) - np.array(value["random"])
    cells.append(interval(difference, np.array(drawn["group"]) - np.array(drawn["random"]), support, True))
    cells += ["/".join(f"{np.mean(recall[k]):.3f}" for k in recall)]
    cells += ["/".join(f"{np.mean(v):.2f}" if v else "-" for v in precision.values())]
    print(f"| {name} | {how} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpora", nargs="*", default=None)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--flips", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=300)
    options = parser.parse_args()
    globals()["DATA"] = options.data
    names = options.corpora or list(CORPORA)
    corpora = {name: CORPORA[name]() for name in names}
    print("Without flips; skill = balanced accuracy under group/random folds")
    print("flagged = by group folds/by random folds/listed/likely\n")
    print("| corpus | images | groups | skill | flagged | not evaluated |\n|---|---|---|---|---|---|")
    for name, (samples, groups, found) in corpora.items():
        issues = issues_of(samples, groups, found, samples.labels, options.seeds)
        skill = "/".join(f"{e.estimate:.2f}" for e in issues.effects if e.metric == "balanced_accuracy")
        shares = (issues.by_group.mean(), issues.by_random.mean(), issues.flagged.mean(), issues.likely.mean())
        said = "; ".join(n.text.split(":")[0] for n in issues.notes if n.level == "not evaluated")
        row = (name, len(samples), len(np.unique(groups)), skill, "/".join(f"{s:.1%}" for s in shares))
        print("| " + " | ".join(map(str, (*row, said))) + " |", flush=True)
    print("\nAverage precision [95 %], and recall and precision of group folds/random folds/either/listed/likely\n")
    print("| corpus | flips | group folds | random folds | both | group - random | recall | precision |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [n for n in FLIPPED if n in corpora]:
        for how in ("image", "group"):
            measure(name, *corpora[name], how, options)


if __name__ == "__main__":
    main()
