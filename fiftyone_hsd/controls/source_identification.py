"""Source identification: can the group, or the source, be read from an image or from its background?"""

from __future__ import annotations

import dataclasses

import numpy as np

from .. import trainers
from ..errors import HsdError
from ..model import (
    TEST,
    TRAIN,
    UNUSED,
    ControlResult,
    Descriptors,
    Effect,
    Floats,
    Ints,
    Note,
    Samples,
    SplitPlan,
    TrainConfig,
)
from ..progress import Progress, guarded
from ..stats import NAN
from ._experiment import crop_look, vectors_of, whole_picture
from ._null import Null, over_seeds
from ._readers import read
from ._study import ALPHA, INTACT, Look, Outcome, Study
from ._study import study as study_of
from ._two_by_two import compared

NAME = "source_identification"
READER = "nearest_neighbour"
DRAWS = 999


def source_identification(study: Study, *, progress: Progress | None = None) -> Outcome:
    """1-NN names the group of an image among all groups; where a source column is named, the source of new groups.

    Groups: images of each group of two or more are dealt to train and test. Chance and p come from permuting the test
    images' groups within their class, so that knowing the class alone counts for nothing. Sources: whole groups are
    dealt, the null is that of every control.

    Raises:
        FieldError: the column does not exist.
    """
    results: list[ControlResult] = []
    notes: list[Note] = []
    for how in (whole_picture(), crop_look(study)):
        vectors = vectors_of(study, how, progress)
        found, said = _groups(study, how, vectors, progress)
        results += found
        notes += said
        if study.settings.source_field is not None:
            found, said = _sources(study, how, vectors, progress)
            results += found
            notes += said
    return Outcome(tuple(results), tuple(dict.fromkeys(notes)))


def _groups(
    study: Study, how: Look, vectors: Descriptors, progress: Progress | None
) -> tuple[list[ControlResult], list[Note]]:
    topic, codes = f"control: {NAME}", study.grouping.codes
    several = (study.grouping.sizes[codes] > 1) & (study.samples.labels >= 0)
    if study.per_image or len(np.unique(codes[several])) < 2:
        why = "each class is one group" if study.per_image else "fewer than two groups hold two images or more"
        return [], [Note("not evaluated", topic, f"can the group be read from an image? Not asked: {why}")]
    target = _relabelled(study.samples, np.where(several, codes, -1), study.grouping.n_groups)
    nulls, scores, sizes = [], [], []
    for seed in range(study.settings.seeds):
        guarded(progress)(seed, study.settings.seeds, "source identification: groups")
        plan = _within(codes, several, seed, study.samples.ids)
        run = trainers.by_name(READER)(target, plan, vectors, TrainConfig(READER, seed))
        truth, guess = codes[run.rows], run.predicted.astype(np.int64)
        nulls.append(_within_class(truth, guess, study.samples.labels[run.rows].astype(np.int64), seed))
        scores.append(float((truth == guess).mean()))
        sizes.append(len(run.rows))
    null, score = over_seeds(nulls), float(np.mean(scores))
    method = (
        f"accuracy, mean of {len(scores)} seeds; p: groups of test images permuted within their class, {DRAWS} times"
    )
    numbers = (score, NAN, NAN, null.p, sizes[0], method)
    effect = Effect("group_identified", READER, "random", None, TEST, "", "accuracy", *numbers)
    result = ControlResult(NAME, f"group from {how.control}", null.mean, effect)
    facts = f"1-NN names the group of {score:.1%} of {sizes[0]} images, {null.mean:.1%} by chance, p {null.p:.2g}"
    if null.p <= ALPHA:
        return [result], [Note("warning", topic, f"groups can be recognised from {how.left}: {facts}")]
    return [result], [Note("info", topic, f"no sign that groups can be recognised from {how.left}: {facts}")]


def _within(codes: Ints, several: np.ndarray, seed: int, ids: tuple[str, ...]) -> SplitPlan:
    """About 70 % of each group in train, at least one image on each side; drawn in order of ids."""
    rng = np.random.default_rng([seed, 10])
    rows = np.array(sorted(np.flatnonzero(several).tolist(), key=lambda i: ids[i]), np.int64)
    order = rows[np.lexsort((rng.random(len(rows)), codes[rows]))]
    _, start, size = np.unique(codes[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(start, size)
    train = np.clip(np.rint(0.7 * size), 1, size - 1)
    partition = np.full(len(codes), UNUSED, dtype="<U6")
    partition[order] = np.where(place < np.repeat(train, size), TRAIN, TEST)
    return SplitPlan.of("random", seed, partition, ids)


def _within_class(truth: Ints, guess: Ints, labels: Ints, seed: int) -> Null:
    rng = np.random.default_rng([seed, 11])
    order = np.argsort(labels, kind="stable")
    y, g, strata = truth[order], guess[order], labels[order]
    drawn: Floats = np.empty(DRAWS)
    for k in range(DRAWS):
        drawn[k] = (y[np.lexsort((rng.random(len(y)), strata))] == g).mean()
    b = int((drawn >= float((y == g).mean()) - 1e-12).sum())
    return Null((1 + b) / (1 + DRAWS), 1 / (1 + DRAWS), float(drawn.mean()))


def _relabelled(samples: Samples, labels: Ints, n: int) -> Samples:
    names = tuple(f"group {k}" for k in range(n))
    return dataclasses.replace(samples, labels=labels.astype(np.int32), classes=names)


def _sources(
    study: Study, how: Look, vectors: Descriptors, progress: Progress | None
) -> tuple[list[ControlResult], list[Note]]:
    """The source in place of the class, everything else as in every control."""
    topic, field = f"control: {NAME}", str(study.settings.source_field)
    column = study.samples.column(field)
    names, code = np.unique(column[column != ""], return_inverse=True)
    labels = np.full(len(column), -1, np.int32)
    labels[column != ""] = code
    if len(names) < 2:
        return [], [Note("not evaluated", topic, f"column {field} has {len(names)} source")]
    target = dataclasses.replace(study.samples, labels=labels, classes=tuple(map(str, names)))
    try:
        there = study_of(target, study.scan, study.grouping, study.settings, study.gallery)
    except HsdError as error:
        return [], [Note("not evaluated", topic, f"sources of column {field} cannot be split: {error}")]
    runs = read(there, vectors, (READER,), (NAME, f"source from {how.control}"), progress)
    renamed = dataclasses.replace(how, control=NAME, variant=f"source from {how.control}")
    results, _ = compared(there, renamed, runs, [])
    main = next(r for r in results if r.effect.what == "score" and r.effect.condition == there.conditions[0])
    e = main.effect
    facts = f"balanced accuracy {e.estimate:.3f}, chance {main.chance:.3f}, p {e.p:.2g}"
    if there.conditions[0] != INTACT:
        text = f"sources are made of single groups, so nothing new is tested: {facts}"
        return results, [Note("not evaluated", topic, text)]
    if e.p <= ALPHA:
        text = f"the source of new groups can be recognised from {how.left}: {facts}"
        return results, [Note("warning", topic, text)]
    text = f"no sign that the source of new groups can be recognised from {how.left}: {facts}"
    return results, [Note("info", topic, text)]
