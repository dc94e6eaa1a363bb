"""What a training is built from: machine, network, weights of classes, and generators that are put back afterwards."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..descriptors._network import digest_of
from ..descriptors._timm_networks import network
from ..errors import MissingExtraError
from ..model import Floats
from ._job import Job
from ._recipes import Recipe

MOST_WORKERS = 16


@contextlib.contextmanager
def surroundings() -> Iterator[None]:
    """The generators of the process are left as they were found; out of memory has one name."""
    try:
        import accelerate  # noqa: F401
        import timm  # noqa: F401
        import torch
    except ImportError as error:
        raise MissingExtraError(
            f"training of networks needs torch, timm and accelerate ({error})",
            advice='pip install "fiftyone-hsd[train]"',
        ) from error
    before = random.getstate()
    try:
        with torch.random.fork_rng(), torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
            yield
    except torch.OutOfMemoryError as error:
        raise MemoryError(f"out of memory on the GPU ({str(error).splitlines()[0][:160]})") from error
    except RuntimeError as error:
        text = str(error)
        if any(
            sign in text for sign in ("t allocate memory", "not enough memory", "bad_alloc", "could not create a mem")
        ):
            raise MemoryError(f"out of memory ({text.splitlines()[0][:160]})") from error
        raise
    finally:
        random.setstate(before)


def accelerator(r: Recipe) -> Any:
    import torch
    from accelerate import Accelerator

    precision = r.precision
    if precision == "auto":
        half = "bf16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "fp16"
        precision = half if torch.cuda.is_available() else "no"
    return Accelerator(
        cpu=not torch.cuda.is_available(),
        mixed_precision=precision,
        gradient_accumulation_steps=r.accumulate,
        step_scheduler_with_optimizer=False,
    )


def model_of(job: Job) -> tuple[Any, str]:
    """The network with a new last layer, and where its weights come from."""
    r = job.recipe
    model, source, licence = network(job.network, **({"drop_path_rate": r.drop_path} if r.drop_path else {}))
    digest = digest_of(model)
    if r.size and r.size != data_config(model, 0)["input_size"][-1] and hasattr(model, "set_input_size"):
        model.set_input_size(img_size=r.size)
    model.reset_classifier(len(job.samples.classes))
    return model, f"weights {source} (licence {licence}, digest {digest})"


def data_config(model: Any, size: int) -> dict[str, Any]:
    from timm.data import resolve_model_data_config

    config: dict[str, Any] = resolve_model_data_config(model)
    if size:
        config["input_size"] = (3, size, size)
    return config


def class_weight(job: Job, device: Any) -> Any:
    """float32 (C,): ones, or inverse to the shares of train with mean 1 over train."""
    import torch

    weight = np.ones(len(job.samples.classes))
    if job.recipe.class_weights == "balanced":
        counts: Floats = np.bincount(job.samples.labels[job.todo.train], minlength=len(weight)).astype(float)
        weight = len(job.todo.train) / (len(job.todo.present) * np.maximum(counts, 1))
    return torch.as_tensor(weight, dtype=torch.float32, device=device)


def readers(r: Recipe, device: str) -> int:
    """Processes that read and augment; without a GPU they would only take cores from the network."""
    if r.workers >= 0:
        return r.workers
    return max(1, min(MOST_WORKERS, (os.cpu_count() or 2) - 1)) if device == "cuda" else 0
