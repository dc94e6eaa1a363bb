"""Checkpoints of a training: written whole or not at all, read without running pickled code."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import StaleError, StoreError
from ..store import atomic

LAST = "last.pt"
LOG = "log.csv"
COLUMNS = "step,learning_rate,loss,val_balanced_accuracy,seconds"


def write(folder: Path, state: Mapping[str, Any], best: Mapping[str, Any] | None) -> None:
    """Save a training in progress; the weights that are best so far once a step that was best.

    Raises:
        StoreError: the folder cannot be written or the disk is full; the checkpoint before is untouched.
    """
    import torch
    from safetensors.torch import save

    name = _best_name(state["best_step"])
    if best is not None and not (folder / name).exists():
        with atomic(folder / name) as file:
            file.write(save({k: v.contiguous() for k, v in best.items()}))
    with atomic(folder / LAST) as file:
        try:
            torch.save(dict(state), file)
        except RuntimeError as error:  # torch's writer hides the system's reason behind its own error
            raise StoreError(
                f"{folder / LAST} cannot be written ({str(error).splitlines()[0][:200]})",
                advice="free some space or choose another folder",
            ) from error
    for old in folder.glob("best-*.safetensors"):
        if old.name != name:
            old.unlink()
    rows = [",".join("" if v != v else f"{v:.8g}" for v in row) for row in state["history"]]
    with atomic(folder / LOG) as file:
        file.write("\n".join([COLUMNS, *rows, ""]).encode())


def read(folder: Path, key: str) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
    """(state, weights that were best so far) of a training in progress; None if there is none, or a damaged one.

    Raises:
        StaleError: the folder holds another training.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state: dict[str, Any] = torch.load(folder / LAST, map_location="cpu", weights_only=True)
        file = folder / _best_name(state["best_step"])
        best = load_file(file) if state["best_step"] else None
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError, SafetensorError):
        return None
    if state.get("key") != key:
        raise StaleError(f"{folder} holds another training", advice="give each training a folder of its own")
    return state, best


def clear(folder: Path) -> None:
    """Remove what a finished training needs no more; the log stays."""
    for old in (folder / LAST, *folder.glob("best-*.safetensors"), *folder.glob(".*.part")):
        old.unlink(missing_ok=True)


def _best_name(step: int) -> str:
    return f"best-{step}.safetensors"
