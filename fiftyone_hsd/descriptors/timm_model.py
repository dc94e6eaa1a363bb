"""A network of timm as a descriptor: what its pooled features see."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

from ..errors import FieldError, InputError, MissingExtraError, PathError
from ..places import cache_folder
from . import Descriptor
from ._lite0 import ARCHITECTURE, LICENCE, SIZE, SOURCE, weights_file
from ._network import Network, Weights, digest_of, normalised


def timm_model(name: str = "") -> Descriptor:
    """Pooled features of a timm network with its own preprocessing.

    Args:
        name: a timm name (`resnet50.a1_in1k`, `hf-hub:user/model`), whose weights timm fetches once; or `NAME@FILE` for
            weights in a local file (safetensors, or a state dict that torch reads without pickled code); or "" for the
            packaged EfficientNet-Lite0 at 160 pixels, which needs no network.

    Raises:
        MissingExtraError: torch or timm is not installed, or weights cannot be had here.
        FieldError: timm knows no such network.
        PathError: there is no such file.
        InputError: the file does not fit the network.
    """
    try:
        import timm
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"network descriptors need torch and timm ({error})", advice='pip install "fiftyone-hsd[train]"'
        ) from error
    architecture, _, file = (name or ARCHITECTURE).partition("@")
    if not architecture.startswith(("hf-hub:", "hf_hub:", "local-dir:")) and not timm.is_model(architecture):
        near = ", ".join(timm.list_models(f"*{architecture.split('.')[0][:12]}*")[:8]) or "see timm.list_models()"
        raise FieldError(f"timm knows no network {architecture!r}", near)
    if file:
        model, source, licence = _from_file(architecture, Path(file)), Path(file).name, "unknown"
    elif not name:
        bare = timm.create_model(ARCHITECTURE, pretrained=False, num_classes=1000)
        model = _from_file(ARCHITECTURE, weights_file(cache_folder(), bare))
        source, licence = SOURCE, LICENCE
    else:
        model, source, licence = _fetched(architecture)
    return _network(architecture, model, Weights(source, licence, digest_of(model)), SIZE if not name else 0)


def _from_file(architecture: str, file: Path) -> Any:
    import timm

    if not file.is_file():
        raise PathError(f"there is no file {file}", "NAME@FILE with a file of weights")
    # Without the last layer, so that weights of any number of classes fit; what is missing must not stay random.
    model = timm.create_model(architecture, pretrained=False, num_classes=0)
    try:
        loaded = timm.models.load_checkpoint(model, str(file), strict=False, weights_only=True)
        missing = list(loaded.missing_keys) if loaded is not None else []
        reason = f"{len(missing)} tensors are missing, for instance {missing[0]}" if missing else ""
    except (RuntimeError, ValueError, KeyError, OSError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    if reason:
        raise InputError(f"{file} does not fit {architecture}: {reason}", "weights of that network")
    return model


def _fetched(architecture: str) -> tuple[Any, str, str]:
    import timm

    log = logging.getLogger("timm.models")
    before, log.level = log.level, logging.ERROR
    try:
        model = timm.create_model(architecture, pretrained=True, num_classes=0)
    except (OSError, RuntimeError, ValueError) as error:
        raise MissingExtraError(
            f"the weights of {architecture} cannot be had ({str(error)[:200]})",
            advice=f"connect to the internet once, or give a local file: timm_model:{architecture}@FILE",
        ) from error
    finally:
        log.level = before
    told = model.pretrained_cfg
    source = f"https://huggingface.co/{told['hf_hub_id']}" if told.get("hf_hub_id") else str(told.get("url") or "timm")
    return model, source, str(told.get("license") or "unknown")


def _network(architecture: str, model: Any, weights: Weights, size: int) -> Descriptor:
    import timm

    config = timm.data.resolve_model_data_config(model)
    if size:
        config["input_size"] = (3, size, size)
    transform = timm.data.create_transform(**config, is_training=False, normalize=False)
    mean, std = config["mean"], config["std"]

    def forward(network: Any, x: Any) -> Any:
        return network(normalised(x, mean, std))

    name = (
        f"timm_model:{architecture},weights={weights.digest},{config['input_size'][-1]}px,{config['interpolation']},"
        f"crop={config['crop_pct']:g}"
    )
    return Network(name, model, forward, transform, weights, int(model.num_features))
