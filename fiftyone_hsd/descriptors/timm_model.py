"""A network of timm as a descriptor: what its pooled features see."""

from __future__ import annotations

from typing import Any

from . import Descriptor
from ._lite0 import ARCHITECTURE, SIZE
from ._network import Network, Weights, digest_of, normalised
from ._timm_networks import network


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
    model, source, licence = network(name)
    architecture = name.partition("@")[0] or ARCHITECTURE
    return _network(architecture, model, Weights(source, licence, digest_of(model)), SIZE if not name else 0)


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
