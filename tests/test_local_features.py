"""Local features: mirrored descriptors without a second pass, bad files, resuming."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd import local_features as module
from fiftyone_hsd.local_features import MIRROR, keypoints, local_features, reduced, unit


@pytest.fixture(scope="module")
def scene():
    """A random scene of discs and bars."""
    import cv2

    rng = np.random.default_rng(3)
    image = np.full((200, 256, 3), 200, np.uint8)
    for _ in range(120):
        x, y, r = (int(v) for v in rng.integers((0, 0, 3), (256, 200, 14)))
        colour = tuple(int(v) for v in rng.integers(0, 255, 3))
        cv2.circle(image, (x, y), r, colour, -1)
        cv2.rectangle(image, (y, x), (y + r, x + 3), colour, -1)
    return cv2.GaussianBlur(image, (0, 0), 1.0)


def test_the_permuted_descriptor_is_that_of_the_mirrored_image(scene):
    gray = reduced(scene)
    xy, raw = keypoints(gray)
    mirrored_xy, mirrored = keypoints(np.ascontiguousarray(gray[:, ::-1]))
    target = np.stack([gray.shape[1] - 1 - xy[:, 0], xy[:, 1]], axis=1)
    distance = np.linalg.norm(target[:, None] - mirrored_xy[None], axis=2)
    near = distance.min(1) < 0.7
    assert near.mean() > 0.8
    same = np.einsum("ij,ij->i", unit(raw)[near][:, MIRROR], unit(mirrored)[distance.argmin(1)[near]])
    plain = np.einsum("ij,ij->i", unit(raw)[near], unit(mirrored)[distance.argmin(1)[near]])
    assert np.median(same) > 0.99
    assert np.median(plain) < 0.9


def test_bad_files_have_no_features_and_a_second_pass_reads_the_first(tmp_path, scene):
    Image.fromarray(scene).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"no image")
    Image.new("RGB", (30, 30)).save(tmp_path / "blank.png")
    paths = [str(tmp_path / p) for p in ("a.png", "b.png", "blank.png", "gone.png")]
    first = local_features(paths, ["1", "2", "3", "4"], folder=tmp_path / "kept")
    assert first.count[0] > 50
    assert first.count[1:].tolist() == [0, 0, 0]
    (tmp_path / "a.png").unlink()
    again = local_features(paths, ["1", "2", "3", "4"], folder=tmp_path / "kept")
    assert (again.descriptors == first.descriptors).all()
    assert (again.xy == first.xy).all()
    assert local_features(paths, ["1", "2", "3", "5"], folder=tmp_path / "kept").count[0] == 0


def test_many_descriptors_are_kept_in_a_file(tmp_path, scene, monkeypatch):
    Image.fromarray(scene).save(tmp_path / "a.png")
    paths = [str(tmp_path / "a.png")] * 3
    in_memory = local_features(paths, ["1", "1", "1"])
    monkeypatch.setattr(module, "IN_MEMORY", 0)
    on_disk = local_features(paths, ["1", "1", "1"])
    assert isinstance(on_disk.descriptors, np.memmap)
    assert (np.asarray(on_disk.descriptors) == in_memory.descriptors).all()
