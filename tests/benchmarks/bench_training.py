"""Training throughput against a bare timm forward/backward loop with the data in memory.

    python tests/benchmarks/bench_training.py --model lite0 --size 96 --batch 16 --steps 2

Both do the same optimiser steps on the same network. The bare loop has one batch of finished floats in memory: no
reading, no augmentation, no Accelerate. A few steps of the one and of the other alternate, so that both meet the same
machine. The processor's seconds are counted too: they leave out the time in which other work ran.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
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


class Bare:
    """Forward, backward and step on one batch in memory."""

    def __init__(self, config: TrainConfig, size: int) -> None:
        import torch
        from timm.optim import create_optimizer_v2

        self.recipe = r = recipe(config)
        self.device = device = "cuda" if torch.cuda.is_available() else "cpu"
        model, _, _ = network(network_of(config.model))
        model.reset_classifier(4)
        self.model = model.to(device, memory_format=torch.channels_last).train()
        self.optimizer = create_optimizer_v2(self.model, opt=r.optimizer, lr=r.lr, weight_decay=r.weight_decay)
        images = torch.rand(r.batch // r.accumulate, 3, size, size, device=device)
        self.images = images.contiguous(memory_format=torch.channels_last)
        self.targets = torch.arange(len(images), device=device) % 4

    def steps(self, n: int) -> None:
        import torch

        half = torch.bfloat16 if self.device == "cuda" else None
        for _ in range(n):
            for _ in range(self.recipe.accumulate):
                with torch.autocast(self.device, half, enabled=half is not None):
                    loss = torch.nn.functional.cross_entropy(self.model(self.images).float(), self.targets)
                loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
        _wait(self.device)


class Ours:
    """This package's loop, pictures read before."""

    def __init__(self, config: TrainConfig, samples: Samples, plan: SplitPlan) -> None:
        self.training = _Training(_job(samples, plan, config), None)
        self.training._pictures.keep(self.training._job.todo.train, 2)

    def steps(self, n: int) -> None:
        self.training.steps_to(self.training.step + n, keep=False)
        _wait(self.training._machine.device.type)


def timed(steps: Callable[[int], None], n: int) -> tuple[float, float]:
    """Seconds of the wall and of the processor."""
    begin = (time.perf_counter(), time.process_time())
    steps(n)
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


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
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--workers", type=int, default=-1)
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    options = {"size": given.size, "batch": given.batch, "steps": 1000, "workers": given.workers, "drop_path": 0}
    config = TrainConfig(given.model, 0, tuple(options.items()))
    with tempfile.TemporaryDirectory() as name:
        if given.model != "lite0":
            config = TrainConfig(f"{given.model}@{untrained(given.model, Path(name))}", 0, config.options)
        samples, plan = corpus(Path(name))
        with surroundings():
            bare, ours = Bare(config, given.size), Ours(config, samples, plan)
            timed(bare.steps, 2), timed(ours.steps, 2)
            turns = [(timed(bare.steps, given.steps), timed(ours.steps, given.steps)) for _ in range(given.repeats)]
            ours.training.close()
        limit = reading(samples, plan, config)
    seconds = np.array(turns)  # repeats x (bare, ours) x (wall, processor)
    ratio = np.median(seconds[:, 0] / seconds[:, 1], axis=0)
    total = seconds[:, 0].sum(0) / seconds[:, 1].sum(0)
    rate = given.repeats * given.steps * given.batch / seconds[..., 0].sum(0)
    print(
        f"{given.model} {given.size} px, batch {given.batch}: bare {rate[0]:.1f}, this package {rate[1]:.1f} images/s"
    )
    print(
        f"ratio of all {total[0]:.3f}, of the processor's seconds {total[1]:.3f}; median {ratio[0]:.3f}, {ratio[1]:.3f}"
    )
    print(f"loader alone {limit:.0f} images/s")


if __name__ == "__main__":
    main()
