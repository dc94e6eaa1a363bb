"""Training throughput against a bare timm forward/backward loop with the data in memory.

    python tests/benchmarks/bench_training.py --model lite0 --size 96 --batch 16 --steps 12

Both do the same optimiser steps on the same network. The bare loop has one batch of finished floats in memory: no
reading, no augmentation, no Accelerate. Repeats alternate, and the median of each counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd.descriptors._timm_networks import network
from fiftyone_hsd.model import Samples, SplitPlan, TrainConfig
from fiftyone_hsd.trainers._building import surroundings
from fiftyone_hsd.trainers._loop import _Training
from fiftyone_hsd.trainers._recipes import network_of, recipe
from fiftyone_hsd.trainers.timm_finetune import _job


def corpus(folder: Path, n: int = 128) -> tuple[Samples, SplitPlan]:
    """Noisy pictures of 320 x 240 pixels as JPEG, the size of common blood cell sets."""
    import cv2

    rng = np.random.default_rng(0)
    names = [f"{i:03d}.jpg" for i in range(n)]
    for name in names:
        small = rng.integers(0, 255, (15, 20, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / name), cv2.resize(small, (320, 240), interpolation=cv2.INTER_CUBIC))
    part = np.where(np.arange(n) % 8 < 6, "train", "test")
    paths = tuple(str(folder / name) for name in names)
    samples = Samples(tuple(names), paths, np.arange(n) % 4, tuple("abcd"), np.full(n, ""), {}, str(folder))
    return samples, SplitPlan.of("intact", 0, part, names)


def untrained(model: str, folder: Path) -> Path:
    """Weights for a network that would have to be fetched: speed does not depend on their values."""
    import timm
    from safetensors.torch import save_file

    state = timm.create_model(network_of(model), pretrained=False).state_dict()
    save_file({k: v.contiguous() for k, v in state.items()}, folder / "untrained.safetensors")
    return folder / "untrained.safetensors"


def bare(config: TrainConfig, size: int, steps: int) -> float:
    """Images a second of forward, backward and step on one batch in memory."""
    import torch
    from timm.optim import create_optimizer_v2

    r = recipe(config)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, _, _ = network(network_of(config.model))
    model.reset_classifier(4)
    model = model.to(device, memory_format=torch.channels_last).train()
    optimizer = create_optimizer_v2(model, opt=r.optimizer, lr=r.lr, weight_decay=r.weight_decay)
    images = torch.rand(r.batch // r.accumulate, 3, size, size, device=device).contiguous(
        memory_format=torch.channels_last
    )
    targets = torch.arange(len(images), device=device) % 4
    half = torch.bfloat16 if device == "cuda" else None
    begin = 0.0
    for step in range(steps + 2):
        if step == 2:
            _wait(device)
            begin = time.perf_counter()
        for _ in range(r.accumulate):
            with torch.autocast(device, half, enabled=half is not None):
                loss = torch.nn.functional.cross_entropy(model(images).float(), targets)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), r.clip)
        optimizer.step()
        optimizer.zero_grad()
    _wait(device)
    return steps * r.batch / (time.perf_counter() - begin)


def ours(config: TrainConfig, samples: Samples, plan: SplitPlan, steps: int) -> float:
    """Images a second of this package's loop, pictures read before."""
    job = _job(samples, plan, config)
    with surroundings():
        training = _Training(job, None)
        training._pictures.keep(job.todo.train, 2)
        training.steps_to(2, keep=False)
        device = training._machine.device.type
        _wait(device)
        begin = time.perf_counter()
        training.steps_to(2 + steps, keep=False)
        _wait(device)
        rate = steps * job.recipe.batch / (time.perf_counter() - begin)
        training.close()
    return rate


def reading(samples: Samples, plan: SplitPlan, config: TrainConfig) -> float:
    """Images a second that one process can augment, pictures in memory: the loader's limit."""
    job = _job(samples, plan, config)
    with surroundings():
        training = _Training(job, None)
        training._pictures.keep(job.todo.train, 2)
        begin, n = time.perf_counter(), 0
        for parts in training._batches(0, 8):
            n += sum(len(p[0]) for p in parts)
        rate = n / (time.perf_counter() - begin)
        training.close()
    return rate


def _wait(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    """Alternate and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="lite0")
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--workers", type=int, default=-1)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    options = {"size": given.size, "batch": given.batch, "steps": 1000, "workers": given.workers, "drop_path": 0}
    config = TrainConfig(given.model, 0, tuple(options.items()))
    with tempfile.TemporaryDirectory() as name:
        if given.model != "lite0":
            config = TrainConfig(f"{given.model}@{untrained(given.model, Path(name))}", 0, config.options)
        samples, plan = corpus(Path(name))
        rates: list[tuple[float, float]] = []
        for _ in range(given.repeats):
            rates.append((bare(config, given.size, given.steps), ours(config, samples, plan, given.steps)))
        limit = reading(samples, plan, config)
    base, own = np.median(rates, axis=0)
    print(
        f"{given.model} {given.size} px, batch {given.batch}: bare {base:.1f}, this package {own:.1f} images/s,",
        end=" ",
    )
    print(f"ratio {own / base:.3f} (each: {[round(o / b, 3) for b, o in rates]}); loader alone {limit:.0f} images/s")


if __name__ == "__main__":
    main()
