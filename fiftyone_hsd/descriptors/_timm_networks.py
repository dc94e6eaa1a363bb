"""Networks of timm without their last layer: packaged, from a local file, or fetched once by timm."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

from ..errors import FieldError, InputError, MissingExtraError, PathError
from ..places import cache_folder
from ._lite0 import ARCHITECTURE, LICENCE, SOURCE, weights_file


def network(name: str = "", **options: Any) -> tuple[Any, str, str]:
    """A network with its trained weights, num_classes = 0.

    Args:
        name: a timm name (`resnet50.a1_in1k`, `hf-hub:user/model`), whose weights timm fetches once; or `NAME@FILE` for
            weights in a local file (safetensors, or a state dict that torch reads without pickled code); or "" for the
            packaged EfficientNet-Lite0, which needs no network.
        options: for timm.create_model (drop_path_rate, ...).

    Returns:
        (network, source, licence).

    Raises:
        MissingExtraError: torch or timm is not installed, or weights cannot be had here.
        FieldError: timm knows no such network.
        PathError: there is no such file.
        InputError: the file does not fit the network.
    """
    architecture, _, file = (name or ARCHITECTURE).partition("@")
    check(architecture)
    import timm

    if file:
        return _from_file(architecture, Path(file), options), Path(file).name, "unknown"
    if not name:
        bare = timm.create_model(ARCHITECTURE, pretrained=False, num_classes=1000)
        return _from_file(ARCHITECTURE, weights_file(cache_folder(), bare), options), SOURCE, LICENCE
    return _fetched(architecture, options)


def check(architecture: str) -> None:
    """Whether timm knows a network of that name; loads no weights.

    Raises:
        MissingExtraError, FieldError: as `network`.
    """
    try:
        import timm
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"networks need torch and timm ({error})", advice='pip install "fiftyone-hsd[train]"'
        ) from error
    if not architecture.startswith(("hf-hub:", "hf_hub:", "local-dir:")) and not timm.is_model(architecture):
        near = ", ".join(timm.list_models(f"*{architecture.split('.')[0][:12]}*")[:8]) or "see timm.list_models()"
        raise FieldError(f"timm knows no network {architecture!r}", near)


def _from_file(architecture: str, file: Path, options: dict[str, Any]) -> Any:
    import timm

    if not file.is_file():
        raise PathError(f"there is no file {file}", "NAME@FILE with a file of weights")
    # Without the last layer, so that weights of any number of classes fit; what is missing must not stay random.
    model = timm.create_model(architecture, pretrained=False, num_classes=0, **options)
    try:
        loaded = timm.models.load_checkpoint(model, str(file), strict=False, weights_only=True)
        missing = list(loaded.missing_keys) if loaded is not None else []
        reason = f"{len(missing)} tensors are missing, for instance {missing[0]}" if missing else ""
    except (RuntimeError, ValueError, KeyError, OSError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    if reason:
        raise InputError(f"{file} does not fit {architecture}: {reason}", "weights of that network")
    return model


def _fetched(architecture: str, options: dict[str, Any]) -> tuple[Any, str, str]:
    import timm

    log = logging.getLogger("timm.models")
    before, log.level = log.level, logging.ERROR
    try:
        model = timm.create_model(architecture, pretrained=True, num_classes=0, **options)
    except (OSError, RuntimeError, ValueError) as error:
        raise MissingExtraError(
            f"the weights of {architecture} cannot be had ({str(error)[:200]})",
            advice=f"connect to the internet once, or give a local file: {architecture}@FILE",
        ) from error
    finally:
        log.level = before
    told = model.pretrained_cfg
    source = f"https://huggingface.co/{told['hf_hub_id']}" if told.get("hf_hub_id") else str(told.get("url") or "timm")
    return model, source, str(told.get("license") or "unknown")
