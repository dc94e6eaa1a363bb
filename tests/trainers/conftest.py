"""A corpus of tiny pictures whose class is their colour, and weights of a tiny network in a local file."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.model import Samples, SplitPlan

PER_CLASS = 30


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained weights of timm's test_vit, 0.4 M parameters, layer norm only."""
    if importlib.util.find_spec("timm") is None:
        pytest.skip("timm not installed")
    import timm
    import torch
    from safetensors.torch import save_file

    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = timm.create_model("test_vit", pretrained=False)
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file({k: v.contiguous() for k, v in network.state_dict().items()}, path)
    return path


@pytest.fixture(scope="session")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Samples, SplitPlan]:
    """90 noisy pictures of 40 x 32 pixels, red, green or blue, with a plan of all partitions. Do not write into it."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("coloured")
    rng = np.random.default_rng(0)
    names = [f"{i:03d}.png" for i in range(3 * PER_CLASS)]
    labels = np.arange(len(names)) % 3
    for name, label in zip(names, labels, strict=True):
        picture = rng.integers(0, 120, (40, 32, 3))
        picture[..., label] += 90
        Image.fromarray(picture.astype(np.uint8)).save(folder / name)
    part = np.array(["train", "train", "train", "train", "val", "test"])[np.arange(len(names)) // 3 % 6]
    part[-3:] = ["unused", "sentinel", "sentinel"]
    paths = [str(folder / n) for n in names]
    samples = Samples(
        tuple(names), tuple(paths), labels, ("red", "green", "blue"), np.full(len(names), ""), {}, str(folder)
    )
    return samples, SplitPlan.of("intact", 0, part, names)
