"""What the network descriptors share: preparing in threads, batches sized by memory, half precision on a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 1
_CPU_BATCH = 32
_GPU_BATCH = 512
_LONGEST = 16


@dataclass(frozen=True)
class Weights:
    """Where a network's numbers come from.

    Attributes:
        source: URL, package or file.
        licence: as its publisher states it, "unknown" if nobody does.
        digest: first 12 hex of the SHA-256 over all parameters and buffers.
    """

    source: str
    licence: str
    digest: str


class Network:
    """A network without its last layer, as a `Descriptor`.

    Attributes:
        name: kind, architecture, digest of the weights and preprocessing.
        dim: length of a vector.
        weights: source, licence and digest.
        batch: images in one forward pass; halved when memory runs out.
    """

    def __init__(
        self, name: str, model: Any, forward: Callable[[Any, Any], Any], transform: Any, weights: Weights, dim: int
    ) -> None:
        import torch

        self.name, self.weights, self.dim = name, weights, dim
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._forward, self._transform = forward, transform
        self._model = model.eval().to(self._device, memory_format=torch.channels_last)
        for parameter in self._model.parameters():
            parameter.requires_grad_(False)
        self.batch = _GPU_BATCH if self._device.type == "cuda" else _CPU_BATCH

    def prepare(self, image: NDArray[np.uint8]) -> NDArray[Any]:
        """The network's own preprocessing: uint8 (h, w, 3) to (3, size, size)."""
        from PIL import Image

        height, width = image.shape[:2]
        if max(height, width) > _LONGEST * min(height, width):
            # Networks look at the middle; scaling all of a thin strip could take more memory than there is.
            side = _LONGEST * min(height, width)
            top, left = max(0, (height - side) // 2), max(0, (width - side) // 2)
            image = image[top : top + side, left : left + side]
        return np.asarray(self._transform(Image.fromarray(image)))

    def encode(self, batch: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        """float32 (b, dim) of prepared images."""
        import torch

        result = np.empty((len(batch), self.dim), np.float32)
        at = 0
        while at < len(batch):
            some = batch[at : at + self.batch]
            try:
                result[at : at + len(some)] = self._run(np.stack(some))
            except torch.OutOfMemoryError:
                if self.batch <= _SMALLEST:
                    raise
                self.batch //= 2
                torch.cuda.empty_cache()
                continue
            at += len(some)
        return result

    def _run(self, images: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        kind = self._device.type
        half = torch.bfloat16 if kind == "cuda" and torch.cuda.is_bf16_supported() else torch.float16
        with torch.inference_mode(), torch.autocast(kind, half, enabled=kind == "cuda"):
            x = torch.from_numpy(images).to(self._device).contiguous(memory_format=torch.channels_last)
            vectors: NDArray[np.float32] = self._forward(self._model, x).float().cpu().numpy()
        return vectors


def digest_of(model: Any) -> str:
    """First 12 hex of the SHA-256 over names, shapes and values of all parameters and buffers."""
    state = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        state.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        state.update(np.ascontiguousarray(tensor.detach().cpu().float().numpy()).tobytes())
    return state.hexdigest()[:12]


def normalised(x: Any, mean: Sequence[float], std: Sequence[float]) -> Any:
    """Bytes 0..255 to what the network was trained on."""
    import torch

    shift = torch.tensor([255 * v for v in mean], device=x.device).view(1, -1, 1, 1)
    scale = torch.tensor([255 * v for v in std], device=x.device).view(1, -1, 1, 1)
    return (x.float() - shift) / scale
