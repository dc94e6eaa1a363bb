"""The image tower of an open_clip model as a descriptor."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from ..errors import FieldError, InputError, MissingExtraError, PathError
from . import Descriptor
from ._network import Network, Weights, digest_of, normalised

_TAG = "ViT-B-32@laion2b_s34b_b79k"


def open_clip_model(name: str = _TAG) -> Descriptor:
    """Image features of an open_clip model with its own preprocessing.

    Args:
        name: `MODEL@TAG` with weights that open_clip fetches once, `MODEL@FILE` for weights in a local file, or MODEL
            for its first tag.

    Raises:
        MissingExtraError: torch or open_clip is not installed, or the weights cannot be had here.
        FieldError: open_clip knows no such model or tag.
        PathError: there is no such file.
        InputError: the file does not fit the model.
    """
    try:
        import open_clip
    except ImportError as error:
        raise MissingExtraError(
            f"open_clip descriptors need open_clip_torch ({error})", advice='pip install "fiftyone-hsd[train]"'
        ) from error
    architecture, _, tag = name.partition("@")
    if architecture not in open_clip.list_models():
        raise FieldError(
            f"open_clip knows no model {architecture!r}", ", ".join(open_clip.list_models()[:20]) + ", ..."
        )
    tags = open_clip.list_pretrained_tags_by_model(architecture)
    tag = tag or (tags[0] if tags else "")
    local = tag not in tags
    if local and not Path(tag).is_file():
        if "/" in tag or "\\" in tag or "." in tag:
            raise PathError(f"there is no file {tag}", "MODEL@FILE with a file of weights")
        raise FieldError(f"{architecture} has no weights {tag!r}", ", ".join(tags) or "a local file: MODEL@FILE")
    model, transform = _load(architecture, tag, local)
    told = {} if local else open_clip.get_pretrained_cfg(architecture, tag)
    source = Path(tag).name if local else str(told.get("hf_hub") or told.get("url") or tag)
    return _network(architecture, model, transform, Weights(source, "unknown", digest_of(model.visual)))


def _load(architecture: str, tag: str, local: bool) -> tuple[Any, Any]:
    import open_clip

    try:
        model, _, transform = open_clip.create_model_and_transforms(architecture, pretrained=tag, weights_only=True)
    except (OSError, RuntimeError, ValueError, KeyError, pickle.UnpicklingError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if local:
            raise InputError(f"{tag} does not fit {architecture}: {reason}", "weights of that model") from error
        raise MissingExtraError(
            f"the weights {tag} of {architecture} cannot be had ({reason})",
            advice=f"connect to the internet once, or give a local file: open_clip_model:{architecture}@FILE",
        ) from error
    return model, transform


def _network(architecture: str, model: Any, transform: Any, weights: Weights) -> Descriptor:
    import torch
    from torchvision.transforms import Normalize, PILToTensor, ToTensor

    # Bytes travel to the device and are normalised there: a quarter of the memory of finished floats.
    steps = [t for t in transform.transforms if not isinstance(t, (Normalize, ToTensor))]
    norm = next(t for t in transform.transforms if isinstance(t, Normalize))
    to_tensor = PILToTensor()
    visual = model.visual

    def prepare(image: Any) -> Any:
        for step in steps:
            image = step(image)
        return to_tensor(image)

    def forward(network: Any, x: Any) -> Any:
        vectors = network(normalised(x, norm.mean, norm.std))
        return vectors[0] if isinstance(vectors, tuple) else vectors

    size = visual.image_size
    side = size[0] if isinstance(size, (tuple, list)) else size
    with torch.inference_mode():
        dim = int(forward(visual.eval(), torch.zeros((1, 3, side, side), dtype=torch.uint8)).shape[1])
    name = f"open_clip_model:{architecture},weights={weights.digest},{side}px"
    return Network(name, visual, forward, prepare, weights, dim)
