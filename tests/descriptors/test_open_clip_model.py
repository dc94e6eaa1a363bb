"""Networks of open_clip from a local file, with their own preprocessing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.descriptors.open_clip_model import open_clip_model
from fiftyone_hsd.errors import FieldError, InputError, PathError

torch, open_clip = pytest.importorskip("torch"), pytest.importorskip("open_clip")
pytestmark = pytest.mark.train

TINY = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 16, "heads": 1, "layers": 1},
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    (folder / "hsd-tiny.json").write_text(json.dumps(TINY))
    open_clip.add_model_config(folder / "hsd-tiny.json")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network, _, transform = open_clip.create_model_and_transforms("hsd-tiny", pretrained=None)
    torch.save(network.state_dict(), folder / "tiny.pt")
    return network.eval(), transform, folder / "tiny.pt"


def test_a_local_file_gives_the_features_of_that_network(tiny):
    from PIL import Image

    network, transform, file = tiny
    descriptor = by_name(f"open_clip_model:hsd-tiny@{file}")
    image = np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8)
    with torch.inference_mode():
        expected = network.encode_image(transform(Image.fromarray(image))[None]).numpy()
    np.testing.assert_allclose(descriptor.encode([descriptor.prepare(image)]), expected, atol=1e-4)
    assert descriptor.dim == 24
    assert descriptor.weights.digest in descriptor.name
    assert descriptor.weights.source == "tiny.pt"


def test_what_is_not_there_is_said(tiny, tmp_path):
    with pytest.raises(FieldError, match="no model"):
        open_clip_model("ViT-Z-1")
    with pytest.raises(FieldError, match="no weights"):
        open_clip_model("ViT-B-32@nobody")
    with pytest.raises(PathError):
        open_clip_model(f"hsd-tiny@{tmp_path / 'none.pt'}")
    torch.save({"a": torch.zeros(1)}, tmp_path / "other.pt")
    with pytest.raises(InputError, match="does not fit"):
        open_clip_model(f"hsd-tiny@{tmp_path / 'other.pt'}")
