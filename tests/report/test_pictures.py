from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.report.pictures import SIDE, thumbnail, thumbnails


def opened(uri: str) -> Image.Image:
    head, _, data = uri.partition(",")
    assert head == "data:image/jpeg;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize(
    ("size", "expected"),
    [((600, 300), (SIDE, SIDE // 2)), ((20, 10), (20, 10)), ((5000, 3), (SIDE, 1)), ((3, 900), (1, SIDE))],
)
def test_size(tmp_path: Path, size: tuple[int, int], expected: tuple[int, int]) -> None:
    Image.new("RGB", size, (200, 30, 30)).save(tmp_path / "a.png")
    picture = opened(thumbnail(str(tmp_path / "a.png")))
    assert picture.size == expected
    pixel = np.asarray(picture.convert("RGB")).reshape(-1, 3).mean(0)
    assert np.abs(pixel - (200, 30, 30)).max() < 12


def test_deep_grey_is_not_white(tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (64, 1))
    Image.fromarray(ramp).save(tmp_path / "a.png")
    assert 90 < np.asarray(opened(thumbnail(str(tmp_path / "a.png")))).mean() < 165


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no image")
    assert thumbnails([str(tmp_path / "a.png"), str(tmp_path / "gone.png")]) == {
        str(tmp_path / "a.png"): "",
        str(tmp_path / "gone.png"): "",
    }


def test_the_budget_leaves_the_last_ones_out(tmp_path: Path) -> None:
    paths = []
    for i in range(6):
        noise = np.random.default_rng(i).integers(0, 255, (144, 144, 3), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / f"{i}.png")
        paths.append(str(tmp_path / f"{i}.png"))
    whole = thumbnails(paths)
    sizes = [len(whole[p]) for p in paths]
    some = thumbnails(paths + paths, budget=sum(sizes[:3]))
    assert list(some) == paths[:3]
