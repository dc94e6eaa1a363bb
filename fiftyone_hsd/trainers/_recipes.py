"""What a fine-tuning run does, from the name and the options of its TrainConfig. No torch here."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, PathError
from ..model import TrainConfig

BEST = " (best val)"
"""Ending of a model name: the same training, read out at the step that was best on the validation partition."""
TIMM = "timm:"
NETWORKS: Mapping[str, str] = {
    "timm_finetune": "",
    "lite0": "",
    "vit": "vit_base_patch16_224",
    "resnet50": "resnet50",
}
"""Names with a recipe of their own -> network; "" = the packaged EfficientNet-Lite0."""
PRECISIONS = ("auto", "no", "bf16", "fp16")
HOW = ("workers", "checkpoint_steps", "tensorboard")
"""Options that change how a run is done, not what comes out of it."""


@dataclass(frozen=True)
class Recipe:
    """One recipe a model family, the same in every condition. All values are our choice unless a source is named.

    Attributes:
        steps: optimiser steps; 0 = as many as `epochs` passes over 70 % of the corpus' labelled images take. That
            depends on the corpus and not on the split, so all conditions take equally many.
        epochs: see `steps`.
        batch: images in one optimiser step, over all devices and accumulated parts.
        accumulate: parts in which a batch is worked off.
        size: pixels a side; 0 = those of the network's own data configuration.
        optimizer, lr, weight_decay, layer_decay: of timm's factory; layer_decay 0 = none.
        schedule: of timm's factory, with `warmup` = share of the steps.
        clip: largest norm of the gradient, 0 = none.
        drop_path: stochastic depth.
        smoothing: of labels.
        class_weights: "none", or "balanced" = inverse to the class shares of train.
        crop: smallest share of an image's area that a random crop keeps.
        hflip, vflip, jitter: chances of flips, strength of colour jitter.
        precision: "auto" = bf16 or fp16 on a GPU, full on a CPU; "no", "bf16", "fp16".
        channels_last: memory format.
        validations: how often the validation partition is looked at, evenly over the steps, the last time at the end.
        workers: processes that read images; -1 = up to 16 with a GPU, none without.
        checkpoint_steps: a checkpoint every so many steps besides those at validations; 0 = none besides.
        tensorboard: write the log for TensorBoard too.
    """

    steps: int = 0
    epochs: float = 20.0
    batch: int = 64
    accumulate: int = 1
    size: int = 0
    optimizer: str = "adamw"
    lr: float = 3e-4
    weight_decay: float = 0.05
    layer_decay: float = 0.0
    schedule: str = "cosine"
    warmup: float = 0.1
    clip: float = 1.0
    drop_path: float = 0.0
    smoothing: float = 0.1
    class_weights: str = "none"
    crop: float = 0.5
    hflip: float = 0.5
    vflip: float = 0.0
    jitter: float = 0.2
    precision: str = "auto"
    channels_last: bool = True
    validations: int = 10
    workers: int = -1
    checkpoint_steps: int = 0
    tensorboard: bool = False

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            object.__setattr__(self, f.name, _typed(f.name, getattr(self, f.name), type(f.default)))
        for name, least in (("batch", 1), ("accumulate", 1), ("validations", 1), ("steps", 0), ("size", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} = {getattr(self, name)}", f"at least {least}")
        if self.lr <= 0 or self.weight_decay < 0:
            raise InputError(f"lr = {self.lr}, weight_decay = {self.weight_decay}", "above 0, and 0 or more")
        if not self.steps and not self.epochs > 0:
            raise InputError(f"epochs = {self.epochs}", "above 0")
        if self.batch % self.accumulate:
            raise InputError(f"batch = {self.batch} in {self.accumulate} parts", "a batch that divides evenly")
        if not 0 <= self.warmup < 1 or not 0 < self.crop <= 1:
            raise InputError(f"warmup = {self.warmup}, crop = {self.crop}", "warmup in [0, 1), crop in (0, 1]")
        if self.precision not in PRECISIONS:
            raise InputError(f"precision = {self.precision!r}", ", ".join(PRECISIONS))
        if self.class_weights not in ("none", "balanced"):
            raise InputError(f"class_weights = {self.class_weights!r}", "none, balanced")

    def steps_for(self, labelled: int) -> int:
        """Optimiser steps on a corpus with that many labelled images."""
        return self.steps or max(1, round(self.epochs * 0.7 * labelled / self.batch))


PRESETS: Mapping[str, Mapping[str, Any]] = {
    # The usual fine-tuning of a plain ViT-B: AdamW, layer-wise decay (Clark 2020; Bao 2022), stochastic depth.
    "vit": {"lr": 1.25e-4, "layer_decay": 0.75, "drop_path": 0.1},
    "resnet50": {"lr": 3e-4, "weight_decay": 0.02},
    "lite0": {"lr": 1e-3, "weight_decay": 0.02, "size": 160},
}


def is_network(model: str) -> bool:
    """Whether this trainer knows what to do with a model of that name."""
    plain = model.removesuffix(BEST)
    return plain.partition("@")[0] in NETWORKS or (plain.startswith(TIMM) and len(plain) > len(TIMM))


def network_of(model: str) -> str:
    """The network behind a model name: a timm name, NAME@FILE, or "" for the packaged one."""
    plain = model.removesuffix(BEST)
    if plain.startswith(TIMM):
        return plain.removeprefix(TIMM)
    name, at, file = plain.partition("@")
    return f"{NETWORKS[name] or 'tf_efficientnet_lite0'}{at}{file}" if file else NETWORKS[name]


def in_words(model: str) -> str:
    """A model name as people read it; of a weights file only its name, which need not lead anybody home."""
    if not is_network(model):
        return model.replace("_", " ")
    name, at, file = model.partition("@")
    last = re.split(r"[/\\]", file)[-1]
    return f"{name}{at}{last}"


def recipe(config: TrainConfig) -> Recipe:
    """The recipe of a model, with the options of the config in place of its own.

    Raises:
        InputError: an option is unknown or out of range.
    """
    known = [f.name for f in dataclasses.fields(Recipe)]
    wrong = [name for name, _ in config.options if name not in known]
    if wrong:
        raise InputError(f"{config.model} has no option {', '.join(wrong)}", ", ".join(known))
    name = config.model.removesuffix(BEST).partition("@")[0]
    preset = PRESETS.get("lite0" if name == "timm_finetune" else name, {})
    return Recipe(**{**preset, **dict(config.options)})


def weights_digest(model: str) -> str:
    """SHA-256 (hex) of the weights file that a model name speaks of, "" if it names none.

    Raises:
        PathError: there is no such file.
    """
    file = network_of(model).partition("@")[2] if is_network(model) else ""
    if not file:
        return ""
    if not Path(file).is_file():
        raise PathError(f"there is no file {file}", "NAME@FILE with a file of weights")
    state = Path(file).stat()
    return _digest(file, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _digest(file: str, size: int, changed: int) -> str:  # noqa: ARG001 - what tells one state of a file from another
    """A grid names the same large file many times, and a form at every key stroke."""
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def halved(config: TrainConfig) -> TrainConfig | None:
    """The same training with each batch worked off in twice as many parts, None if it cannot be halved.

    The number of images in an optimiser step stays; only statistics of batch normalisation see fewer at a time.
    """
    if not is_network(config.model):
        return None
    now = recipe(config)
    if now.batch % (2 * now.accumulate):
        return None
    options = {**dict(config.options), "accumulate": 2 * now.accumulate}
    return TrainConfig(config.model, config.seed, tuple(options.items()))


def _typed(name: str, value: Any, kind: type) -> Any:
    """An option as its type; text is read, since options also come from a command line."""
    if kind is bool and str(value).lower() in ("true", "false", "1", "0"):
        return str(value).lower() in ("true", "1")
    try:
        if kind is float and not math.isfinite(float(value)):
            raise ValueError(value)
        if kind is not bool and not (kind is int and float(value) != int(float(value))):
            return kind(float(value)) if kind is int else kind(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{name} = {value!r}", {int: "a whole number", float: "a number", bool: "true or false"}[kind])
