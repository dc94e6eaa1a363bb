"""Identical decoded pixels are linked whatever the container."""

from __future__ import annotations

import numpy as np
from PIL import Image

from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.grouping.bytes import identical_bytes
from fiftyone_hsd.grouping.pixels import identical_pixels
from fiftyone_hsd.scan import scan


def test_containers_depth_and_shape(tmp_path):
    rgb = np.random.default_rng(0).integers(0, 256, (5, 8, 3), dtype=np.uint8)
    Image.fromarray(rgb).save(tmp_path / "a.png")
    Image.fromarray(rgb).save(tmp_path / "b.bmp")
    Image.fromarray(rgb[..., 0]).save(tmp_path / "c.png")
    Image.fromarray(rgb[..., 0].astype(np.uint16)).save(tmp_path / "d.png")
    Image.fromarray(np.zeros((4, 2), np.uint8)).save(tmp_path / "e.png")
    Image.fromarray(np.zeros((2, 4), np.uint8)).save(tmp_path / "f.png")
    (tmp_path / "g.jpg").write_text("broken")
    (tmp_path / "h.jpg").write_text("broken")
    result = scan(from_folder(tmp_path))[0]
    links = identical_pixels(result)
    assert (links.a.tolist(), links.b.tolist()) == ([0], [1])
    assert set(links.source) == {"pixels"}
    assert [(a, b) for a, b in zip(*(getattr(identical_bytes(result), k).tolist() for k in "ab"), strict=True)] == [
        (6, 7)
    ]
