"""Fine-tuning of any network of timm, with Accelerate: one recipe a model family, the same in every condition."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..model import VAL, Descriptors, Note, Run, Samples, SplitPlan, TrainConfig, sha256_json
from ..progress import Progress, guarded
from . import _loop, task
from ._job import Job, Trained
from ._recipes import BEST, HOW, in_words, network_of, recipe, weights_digest

PACKAGES = ("torch", "timm", "accelerate", "numpy")
EXAMPLES = 10


def timm_finetune(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
    state: Path | None = None,
) -> Run:
    """Train all layers of a network on train, and predict everything else.

    Models: `timm:NAME` (timm's weights, fetched once), `timm:NAME@FILE` (weights in a local file), `vit`
    (vit_base_patch16_224), `resnet50`, `lite0` (EfficientNet-Lite0 of the package); `vit@FILE` and so on. A name that
    ends in ` (best val)` reads the same training out at the step that had the highest balanced accuracy on the
    validation partition, where the plain name reads out the last step: a leaky validation set leaks selection too.
    Options: fields of `_recipes.Recipe`.

    The number of optimiser steps depends on the corpus and not on the plan. On one CPU with one number of threads, the
    same seed gives the same predictions, also if the training was stopped and went on. An image that cannot be read
    takes no part in training, and gets the class shares of train as its prediction; a note counts them.

    Args:
        samples, plan, config: one task; rows agree.
        descriptors: not looked at.
        progress: called at every step.
        state: folder of this training's checkpoint, log and result: a stopped training goes on from there, a finished
            one is not repeated. Both readouts of one training share it. None = nothing is kept.

    Raises:
        EmptyError: no labelled sample in train, or none outside.
        InputError: an option is unknown or out of range.
        MissingExtraError, FieldError, PathError: the network or its weights cannot be had.
        InfeasibleError: the loss is no number any more.
        StoreError, StaleError: `state` cannot be written, or holds another training.
        MemoryError: the machine or the device has too little memory.
    """
    del descriptors
    begin = time.perf_counter()
    job = _job(samples, plan, config)
    done = _loop.train(job, state, guarded(progress))
    best = config.model.endswith(BEST)
    place = {int(row): i for i, row in enumerate(done.rows)}
    rows = np.sort(done.rows)
    chances = (done.best if best else done.last)[[place[int(r)] for r in rows]]
    seconds = done.seconds if not best or state is None else time.perf_counter() - begin
    notes = (*job.todo.notes, *_notes(samples, done, config.model))
    return Run(config, plan.condition, plan.seed, rows, chances, _versions(), seconds, notes)


def _cost(samples: Samples, plan: SplitPlan, config: TrainConfig) -> dict[str, float]:
    """What a short trial says: steps, and seconds to get ready, for all steps and for all predictions."""
    job = _job(samples, plan, config)
    cost = _loop.measure(job)
    looked = len(job.val) * job.recipe.validations + 2 * len(job.todo.predict)
    return {"steps": job.steps, "start": cost.start, "train": cost.step * job.steps, "predict": cost.image * looked}


def _job(samples: Samples, plan: SplitPlan, config: TrainConfig) -> Job:
    """Everything that determines the training, rows in order of ids."""
    wanted = recipe(config)
    todo = task(samples, plan)
    predict = np.array(sorted(todo.predict.tolist(), key=lambda i: samples.ids[i]), np.int64)
    todo = dataclasses.replace(todo, predict=predict)
    steps = wanted.steps_for(int((samples.labels >= 0).sum()))
    said = {k: v for k, v in dataclasses.asdict(wanted).items() if k not in HOW}
    ids = [[samples.ids[i], int(samples.labels[i])] for i in todo.train]
    key = sha256_json(
        [said, network_of(config.model), weights_digest(config.model), config.seed, plan.digest, samples.classes, ids]
    )
    val = predict[plan.partition[predict] == VAL]
    return Job(wanted, network_of(config.model), config.seed, samples, todo, val, steps, key)


def _notes(samples: Samples, done: Trained, model: str) -> Iterator[Note]:
    yield Note("info", "training", f"{in_words(model.removesuffix(BEST))}: {done.weights}; {done.machine}")
    if model.endswith(BEST) and not done.best_step:
        yield Note(
            "warning", "training", f"{in_words(model)}: there is no validation partition, so this is the last step"
        )
    if len(done.failed):
        text = "images could not be read during training: they taught nothing, and tested ones got the shares of train"
        names = tuple(samples.ids[i] for i in done.failed[:EXAMPLES])
        yield Note("warning", "training", text, len(done.failed), names)


def _versions() -> dict[str, str]:
    there = {}
    for name in PACKAGES:
        try:
            there[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return there
