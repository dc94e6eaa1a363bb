"""From what an experiment leaves of the pictures to predictions, on the same splits for every experiment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from .. import trainers
from ..errors import StoreError
from ..model import TRAIN, UNUSED, Descriptors, Run, SplitPlan, TrainConfig, sha256_json
from ..pixel_rows import long_rows, pixel_rows
from ..progress import Progress, guarded
from ..store import load, save
from ._study import Study

SLOW = ("lenet5",)
"""Readers whose runs are kept in the output folder; the others take less time than their files would."""
FAST_SIDE = 12
COLOURS = 4
COLOUR_WEIGHT = 4.0
"""A cheap reader sees a picture of 12 x 12 pixels, and how often each of 4 x 4 x 4 colours occurs (our choice)."""
PAPER_SIDE = 32
"""LeNet-5's own input size; crops that are smaller than this keep their size."""

Pixels = NDArray[np.uint8]


def prepared(study: Study, picture: Pixels) -> NDArray[np.generic]:
    """What the readers of the preset need of one picture, uint8 (h, w, 3)."""
    return _for_network(picture) if study.settings.preset == "paper" else _for_cheap(picture)


def described(study: Study, pictures: Sequence[NDArray[np.generic]], name: str) -> Descriptors:
    """Vectors of the pictures of all images, from `prepared`; no vectors where all pictures are the same.

    Among equal vectors a reader would decide by the order of ids, and be above or below chance by luck; without
    vectors it falls back to the classes of train.
    """
    made = _vectors(study, pictures, name)
    same = bool((made.values == made.values[:1]).all())
    return Descriptors(made.name, np.zeros_like(made.values)) if same else made


def _vectors(study: Study, pictures: Sequence[NDArray[np.generic]], name: str) -> Descriptors:
    if study.settings.preset == "paper":
        whole = _of_one_size([np.asarray(p, np.uint8) for p in pictures])
        grey = bool((whole[..., :1] == whole).all())
        return pixel_rows(whole[..., :1] if grey else whole)
    return Descriptors(f"small picture and colours of {name}", long_rows(_balanced(np.stack(pictures))))


def _of_one_size(pictures: Sequence[Pixels]) -> Pixels:
    """(n, h, w, 3): as they are if they are alike, else 32 x 32."""
    import cv2

    if len({p.shape for p in pictures}) > 1:
        size = (PAPER_SIDE, PAPER_SIDE)
        pictures = [np.asarray(cv2.resize(p, size, interpolation=cv2.INTER_AREA), np.uint8) for p in pictures]
    return np.stack(pictures)


def _balanced(values: NDArray[np.generic]) -> NDArray[np.float32]:
    """Places and colours on one scale: each part of unit spread over the corpus, colours four times as heavy.

    Turned and mirrored copies share colours and no places: with equal weights they were not each other's nearest.
    """
    x = np.asarray(values, np.float32)
    parts = []
    for part, weight in ((x[:, : 3 * FAST_SIDE**2], 0.5), (x[:, 3 * FAST_SIDE**2 :], 0.5 * COLOUR_WEIGHT)):
        spread = float(np.sqrt(part.var(axis=0).sum()))
        parts.append((part - part.mean(axis=0)) * (weight / spread if spread > 1e-6 else 1.0))
    return np.concatenate(parts, axis=1)


def _for_network(picture: Pixels) -> Pixels:
    import cv2

    h, w = picture.shape[:2]
    if max(h, w) <= 2 * PAPER_SIDE:
        return np.ascontiguousarray(picture)
    return np.asarray(cv2.resize(picture, (PAPER_SIDE, PAPER_SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def _for_cheap(picture: Pixels) -> NDArray[np.float32]:
    import cv2

    whole = np.ascontiguousarray(picture)
    small = cv2.resize(whole, (FAST_SIDE, FAST_SIDE), interpolation=cv2.INTER_AREA)
    counts = cv2.calcHist([whole], [0, 1, 2], None, [COLOURS] * 3, [0, 256] * 3).ravel() / (whole.size / 3)
    # Square roots weigh rare colours up.
    return np.concatenate([small.ravel().astype(np.float32) / 255, np.sqrt(counts)]).astype(np.float32)


def read(
    study: Study,
    vectors: Descriptors,
    models: Sequence[str],
    names: tuple[str, str],
    progress: Progress | None = None,
    *,
    plans: Sequence[SplitPlan] | None = None,
) -> list[Run]:
    """Train every reader on every split.

    Args:
        names: (control, variant), kept in the recipe of each run.
        plans: other splits than those of the study.
    """
    tell = guarded(progress)
    splits = study.plans if plans is None else plans
    jobs = [(m, p) for m in models for p in splits if _trainable(study, p.partition)]
    runs = []
    digest = sha256(np.ascontiguousarray(vectors.values).data).hexdigest() if study.state is not None else ""
    label = f"{names[0].replace('_', ' ')}: training"
    for done, (model, plan) in enumerate(jobs):
        tell(done, len(jobs), label)
        config = TrainConfig(model, plan.seed, (("control", names[0]), ("variant", names[1])))
        runs.append(_kept(study, plan, vectors, config, digest))
    tell(len(jobs), len(jobs), label)
    return runs


def _kept(study: Study, plan: SplitPlan, vectors: Descriptors, config: TrainConfig, digest: str) -> Run:
    """The run, read back where an interrupted or earlier call of the same version has finished it."""
    from .. import __version__

    trainer = trainers.by_name(config.model)
    if study.state is None or config.model not in SLOW:
        return trainer(study.samples, plan, vectors, config)
    key = [__version__, vectors.name, digest, study.samples.labels.tolist(), plan.digest, dataclasses.asdict(config)]
    path = study.state / f"{sha256_json(key)[:32]}.npz"
    if path.exists():
        try:
            return load(path, Run)
        except StoreError:
            path.unlink(missing_ok=True)
    run = trainer(study.samples, plan, vectors, config)
    save(path, run)
    return run


def _trainable(study: Study, partition: NDArray[np.str_]) -> bool:
    labelled = study.samples.labels >= 0
    train = labelled & (partition == TRAIN)
    test = labelled & (partition != TRAIN) & (partition != UNUSED)
    return bool(test.any()) and len(np.unique(study.samples.labels[train])) > 1


def renamed(runs: Sequence[Run], prefix: str) -> list[Run]:
    """The runs under model names of their own, so that they stand beside others on one scoreboard."""
    return [
        dataclasses.replace(r, config=dataclasses.replace(r.config, model=f"{prefix}|{r.config.model}")) for r in runs
    ]
