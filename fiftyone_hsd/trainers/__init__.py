"""Trainers: one a file, each file with one public function of its own name.

The function takes (samples, plan, descriptors, config) and returns a Run that predicts every labelled sample outside
train and unused, on the one fixed class list.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyError, FieldError
from ..model import TRAIN, UNUSED, Descriptors, Ints, Note, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress
from ._recipes import NETWORKS, is_network


class Trainer(Protocol):
    """Train under one plan and predict everything outside train."""

    def __call__(
        self,
        samples: Samples,
        plan: SplitPlan,
        descriptors: Descriptors,
        config: TrainConfig,
        *,
        progress: Progress | None = None,
    ) -> Run: ...


def names() -> list[str]:
    """The trainers there are, by file name."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def by_name(name: str) -> Trainer:
    """The trainer of a model: a file's name, or a network (`timm:NAME[@FILE]`, `vit`, `resnet50`, `lite0`).

    Raises:
        FieldError: there is no such trainer.
    """
    file = "timm_finetune" if is_network(name) else name
    if file not in names():
        more = [n for n in NETWORKS if n not in names()]
        raise FieldError(f"there is no model {name!r}", ", ".join([*names(), *more, "timm:NAME", "timm:NAME@FILE"]))
    trainer: Trainer = getattr(importlib.import_module(f"{__name__}.{file}"), file)
    return trainer


@dataclass(frozen=True, eq=False)
class Task:
    """What a plan asks a trainer to do.

    Attributes:
        train: int64, labelled train rows, in order of sample ids so that results do not depend on the order of rows.
        predict: int64 (t,), labelled rows outside train and unused.
        present: int64, the classes that occur in train.
        notes: the classes that do not.
    """

    train: Ints
    predict: Ints
    present: Ints
    notes: tuple[Note, ...]


def task(samples: Samples, plan: SplitPlan) -> Task:
    """The rows to train on and to predict.

    Raises:
        EmptyError: train holds no labelled sample, or nothing is left to predict.
    """
    labelled = samples.labels >= 0
    train = np.flatnonzero(labelled & (plan.partition == TRAIN))
    predict = np.flatnonzero(labelled & (plan.partition != TRAIN) & (plan.partition != UNUSED))
    if not len(train) or not len(predict):
        raise EmptyError(
            f"{plan.condition}, seed {plan.seed}: {len(train)} labelled samples in train, {len(predict)} outside",
            "at least one on each side",
        )
    train = np.array(sorted(train.tolist(), key=lambda i: samples.ids[i]), np.int64)
    present = np.unique(samples.labels[train]).astype(np.int64)
    return Task(train, predict, present, tuple(_absent(samples.classes, present, samples.labels[predict])))


def train_shares(samples: Samples, todo: Task) -> NDArray[np.float32]:
    """float32 (C,), the class shares of train: what is known about a sample without a vector."""
    counts = np.bincount(samples.labels[todo.train], minlength=len(samples.classes))
    return np.asarray(counts / len(todo.train), np.float32)


def _absent(classes: tuple[str, ...], present: Ints, tested: NDArray[np.int32]) -> Iterable[Note]:
    absent = [classes[c] for c in sorted(set(np.unique(tested).tolist()) - set(present.tolist()))]
    if absent:
        text = "classes that are tested but absent from train; they get probability 0"
        yield Note("warning", "class absent from train", text, len(absent), tuple(absent))
