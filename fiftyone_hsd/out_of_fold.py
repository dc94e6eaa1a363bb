"""Class probabilities of every sample from models that did not see it: whole groups left out, or files one by one.

The two see different things. Where folds keep groups whole, no mate of a sample is in train: a group that is wrong as
a whole cannot vouch for itself. In random folds its mates are in train: correct mates expose a single wrong label.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from . import trainers
from .errors import InfeasibleError, InputError
from .model import UNUSED, Descriptors, Grouping, Note, OutOfFold, Samples, SplitPlan, TrainConfig
from .progress import Progress, guarded
from .splitting.folds import fold_as_split, folds

GROUP, RANDOM = "group", "random"
KINDS = (GROUP, RANDOM)


def out_of_fold(
    samples: Samples,
    grouping: Grouping,
    descriptors: Descriptors,
    model: str = "linear_probe",
    *,
    kind: str = GROUP,
    k: int = 5,
    seeds: int = 1,
    progress: Progress | None = None,
) -> OutOfFold:
    """Out-of-fold probabilities of one trainer.

    A sample whose class is in none of the other folds could only be called wrong: it is not evaluated under that seed
    (nan if under none), and a note names the class.

    Args:
        samples, grouping, descriptors: n rows each; samples without a label take no part; unknown groups count as
            singletons.
        model: a trainer by name.
        kind: "group" or "random".
        k: folds, cut to the number of groups (of samples) there are.
        seeds: number of divisions into folds, with the seeds 0, 1, ...; their probabilities are averaged.
        progress: called once a fold.

    Raises:
        InputError: k below 2, seeds below 1, an unknown kind, or lengths that differ.
        FieldError: there is no such trainer.
        InfeasibleError: fewer than two classes, or no class has two groups.
    """
    if kind not in KINDS or k < 2 or seeds < 1:
        raise InputError(
            f"kind {kind!r}, {k} folds, {seeds} seeds", "group or random, 2 or more folds, 1 or more seeds"
        )
    if not len(samples) == len(grouping) == len(descriptors):
        raise InputError("samples, groups and descriptors differ in length", "one row a sample in each")
    train = trainers.by_name(model)
    tell = guarded(progress)
    plans = group_folds(samples, grouping, k, seeds) if kind == GROUP else random_folds(samples, k, seeds)
    total = np.zeros((len(samples), len(samples.classes)))
    counted = np.zeros(len(samples), np.int64)
    done, steps = 0, sum(len(_names(p)) for p in plans)
    for plan in plans:
        for name in _names(plan):
            tell(done, steps, f"{model}, {kind} folds")
            split = fold_as_split(plan, name, ids=samples.ids)
            run = train(samples, split, descriptors, TrainConfig(model, plan.seed))
            learned = np.unique(samples.labels[(split.partition == "train") & (samples.labels >= 0)])
            kept = np.isin(samples.labels[run.rows], learned)
            total[run.rows[kept]] += run.probabilities[kept]
            counted[run.rows[kept]] += 1
            done += 1
    tell(steps, steps, f"{model}, {kind} folds")
    with np.errstate(invalid="ignore"):
        mean = total / counted[:, None]
    return OutOfFold(kind, model, mean.astype(np.float32), tuple(plans), _notes(samples, counted, kind, plans))


def group_folds(samples: Samples, grouping: Grouping, k: int, seeds: int) -> list[SplitPlan]:
    """Divisions of the labelled samples into at most k folds of whole groups, class-stratified.

    Raises:
        InfeasibleError: fewer than two classes or groups.
    """
    rows = _labelled(samples)
    codes = grouping.with_unknown_as_singletons().codes[rows]
    groups = len(np.unique(codes))
    if groups < 2:
        raise InfeasibleError("all labelled samples are of one group", "two groups or more", "ask with random folds")
    ids = [samples.ids[i] for i in rows]

    def draw(seed: int) -> NDArray[np.str_]:
        found = folds(samples.labels[rows], codes, min(k, groups), seed=seed, ids=ids, names=samples.classes)
        return found[0].partition

    return _plans(samples, rows, seeds, GROUP, draw)


def random_folds(samples: Samples, k: int, seeds: int) -> list[SplitPlan]:
    """Divisions of the labelled samples into at most k folds, file by file; every class is dealt evenly.

    The deal is made in order of ids, so that it does not depend on the order of rows.

    Raises:
        InfeasibleError: fewer than two classes or samples.
    """
    rows = _labelled(samples)
    size = min(k, len(rows))
    ordered = np.array(sorted(range(len(rows)), key=lambda i: samples.ids[rows[i]]), np.int64)
    labels = samples.labels[rows][ordered]

    def draw(seed: int) -> NDArray[np.str_]:
        rng = np.random.default_rng([seed, 7])
        fold = np.zeros(len(rows), np.int64)
        shuffled = rng.permutation(len(rows))
        # One deal through all classes, each in its shuffled order: folds differ by one sample at most.
        dealt = shuffled[np.argsort(labels[shuffled], kind="stable")]
        fold[ordered[dealt]] = np.arange(len(rows)) % size
        return np.array([f"fold{i}" for i in range(size)], np.str_)[fold]

    return _plans(samples, rows, seeds, RANDOM, draw)


def _plans(
    samples: Samples, rows: NDArray[np.int64], seeds: int, kind: str, draw: Callable[[int], NDArray[np.str_]]
) -> list[SplitPlan]:
    plans = []
    for seed in range(seeds):
        found = draw(seed)
        partition = np.full(len(samples), UNUSED, dtype=f"<U{max(len(UNUSED), found.dtype.itemsize // 4)}")
        partition[rows] = found
        plans.append(SplitPlan.of(f"{kind} folds", seed, partition, samples.ids))
    return plans


def _labelled(samples: Samples) -> NDArray[np.int64]:
    rows = np.flatnonzero(samples.labels >= 0)
    classes = len(np.unique(samples.labels[rows]))
    if classes < 2:
        raise InfeasibleError(
            f"{len(rows)} labelled samples of {classes} classes", "two classes or more", "give labels of every class"
        )
    return rows


def _names(plan: SplitPlan) -> list[str]:
    return sorted(set(plan.partition.tolist()) - {UNUSED})


def _notes(samples: Samples, counted: NDArray[np.int64], kind: str, plans: list[SplitPlan]) -> tuple[Note, ...]:
    left = np.flatnonzero((samples.labels >= 0) & (counted < len(plans)))
    if not len(left):
        return ()
    names = tuple(samples.classes[c] for c in np.unique(samples.labels[left]).tolist())
    none = int((counted[left] == 0).sum())
    unit = "group" if kind == GROUP else "image"
    text = (
        f"{kind} folds: images of classes that, without the fold of their own {unit}, nothing could be learned from "
        f"in at least one division ({none} of them in none)"
    )
    return (Note("not evaluated", "label issues", text, len(left), names),)
