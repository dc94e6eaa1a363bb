"""LeNet-5 as Dhar & Shamir (2021) trained it to look at pictures without an object."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, MissingExtraError
from ..images import read_image
from ..model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from ..pixel_rows import holds_pixels, pixels_of
from ..progress import Progress, guarded
from . import task, train_shares

EPOCHS, RATE, BATCH, SIDE = 120, 1e-3, 32, 32
SMALLEST = 16
"""Below this many pixels a side nothing is left behind two rounds of convolution and pooling."""

Batch = NDArray[np.float32]


def lenet5(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """Train LeNet-5 on small pictures and predict everything outside train; nothing outside train is looked at.

    As the paper states: LeNet-5, ReLU, Adam, 120 epochs; one sigmoid output and binary cross-entropy for two classes.
    Our choices where it is silent: softmax and cross-entropy beyond two classes, learning rate 1e-3, batches of 32,
    grey values in [0, 1], max pooling, as many input channels as the pictures have, no augmentation, no early stop.

    Args:
        samples, plan, descriptors, config: one task. Descriptors made by `pixel_rows` are the pictures themselves, at
            their own size; for any others the files are read in grey at 32 x 32 (option `side`).
        progress: called after each epoch.

    Options: `epochs`, `lr`, `batch`, `scaling` ("unit" = [0, 1]; "standard" = mean 0, deviation 1 over train), `side`.

    Raises:
        EmptyError: no labelled sample in train, or none outside.
        InputError: an option is out of range.
        MissingExtraError: torch is not installed.
    """
    torch = _torch()
    start = time.perf_counter()
    todo = task(samples, plan)
    x, seen = _pictures(samples, descriptors, int(config.option("side", SIDE)))
    x = _scaled(x, todo.train, str(config.option("scaling", "unit")))
    y = np.searchsorted(todo.present, samples.labels[todo.train])
    tell = guarded(progress)
    with _seeded(torch, config.seed):
        network = _network(torch, x.shape[1:], len(todo.present))
        _fit(torch, network, x[todo.train], y, config, tell)
        found = _predict(torch, network, x[todo.predict], len(todo.present))
    probabilities = np.zeros((len(todo.predict), len(samples.classes)), np.float32)
    probabilities[:, todo.present] = found
    probabilities[~seen[todo.predict]] = train_shares(samples, todo)
    seconds = time.perf_counter() - start
    versions = {"numpy": np.__version__, "torch": str(torch.__version__)}
    return Run(config, plan.condition, plan.seed, todo.predict, probabilities, versions, seconds, todo.notes)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch is not installed", advice='pip install "fiftyone-hsd[train]"') from error
    return torch


class _seeded:
    """The global generator of torch is set for the time of a training and put back."""

    def __init__(self, torch: Any, seed: int) -> None:
        self._torch, self._seed = torch, seed

    def __enter__(self) -> None:
        self._state = self._torch.random.get_rng_state()
        self._torch.random.default_generator.manual_seed(self._seed)

    def __exit__(self, *_: object) -> None:
        self._torch.random.set_rng_state(self._state)


def _pictures(samples: Samples, descriptors: Descriptors, side: int) -> tuple[Batch, NDArray[np.bool_]]:
    """(float32 (n, c, h, w) in [0, 1], bool (n,) whether there is a picture)."""
    seen = (descriptors.values != 0).any(axis=1)
    if holds_pixels(descriptors):
        x = pixels_of(descriptors)
    else:
        if side < SMALLEST:
            raise InputError(f"side = {side}", f"{SMALLEST} or more")
        x = np.stack([_grey(p, side) for p in samples.paths]) if len(samples) else np.zeros((0, side, side, 1), "f4")
    if min(x.shape[1:3]) < SMALLEST:
        import cv2

        h, w = (max(SMALLEST, s) for s in x.shape[1:3])
        x = np.stack([cv2.resize(p, (w, h), interpolation=cv2.INTER_LINEAR).reshape(h, w, -1) for p in x])
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2), np.float32), seen


def _grey(path: str, side: int) -> Batch:
    import cv2

    small = cv2.resize(read_image(path), (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)[..., None] / np.float32(255), np.float32)


def _scaled(x: Batch, train: NDArray[np.int64], scaling: str) -> Batch:
    if scaling == "unit":
        return x
    if scaling != "standard":
        raise InputError(f"scaling = {scaling!r}", "'unit' or 'standard'")
    return np.asarray((x - x[train].mean()) / max(float(x[train].std()), 1e-6), np.float32)


def _network(torch: Any, shape: tuple[int, ...], classes: int) -> Any:
    """6 and 16 maps of 5 x 5, each with 2 x 2 max pooling, then 120 and 84 units (LeCun et al. 1998), with ReLU."""
    channels, h, w = shape
    left = [((s - 4) // 2 - 4) // 2 for s in (h, w)]
    layers = torch.nn
    return layers.Sequential(
        *(layers.Conv2d(channels, 6, 5), layers.ReLU(), layers.MaxPool2d(2)),
        *(layers.Conv2d(6, 16, 5), layers.ReLU(), layers.MaxPool2d(2), layers.Flatten()),
        *(layers.Linear(16 * left[0] * left[1], 120), layers.ReLU(), layers.Linear(120, 84), layers.ReLU()),
        layers.Linear(84, 1 if classes == 2 else classes),
    )


def _fit(torch: Any, network: Any, x: Batch, y: NDArray[np.int64], config: TrainConfig, tell: Progress) -> None:
    epochs, batch = int(config.option("epochs", EPOCHS)), int(config.option("batch", BATCH))
    rate = float(config.option("lr", RATE))
    if epochs < 1 or batch < 1 or not 0 < rate < float("inf"):
        raise InputError(f"epochs = {epochs}, batch = {batch}, lr = {rate}", "numbers above 0")
    two = network[-1].out_features == 1 and y.max(initial=0) > 0
    loss_of = torch.nn.BCEWithLogitsLoss() if two else torch.nn.CrossEntropyLoss()
    inputs, truth = torch.from_numpy(x), torch.from_numpy(y.astype(np.float32 if two else np.int64))
    adam = torch.optim.Adam(network.parameters(), lr=rate, fused=True)
    network.train()
    for epoch in range(epochs):
        tell(epoch, epochs, "LeNet-5 epochs")
        for at in torch.randperm(len(x)).split(batch):
            adam.zero_grad(set_to_none=True)
            out = network(inputs[at])
            loss_of(out[:, 0] if two else out, truth[at]).backward()
            adam.step()
    tell(epochs, epochs, "LeNet-5 epochs")


def _predict(torch: Any, network: Any, x: Batch, classes: int) -> Batch:
    network.eval()
    parts = []
    with torch.inference_mode():
        for at in range(0, len(x), 1024):
            out = network(torch.from_numpy(x[at : at + 1024]))
            if classes == 2:
                p = torch.sigmoid(out[:, :1])
                parts.append(torch.cat([1 - p, p], dim=1).numpy())
            else:
                parts.append(torch.softmax(out, dim=1).numpy())
    return np.concatenate(parts) if parts else np.zeros((0, classes), np.float32)
