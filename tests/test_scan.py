"""One pass: bad images are rows, finished blocks are not read again."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

import fiftyone_hsd.scan as module
from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.scan import scan, unit_rows


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(7):
        Image.fromarray(rng.integers(0, 256, (6 + k, 9, 3), dtype=np.uint8)).save(tmp_path / f"{k}.png")
    (tmp_path / "3.png").write_bytes((tmp_path / "3.png").read_bytes()[:60])
    return from_folder(tmp_path)


def test_rows_and_failures(corpus):
    found, (vectors,) = scan(corpus, [by_name("colour_histogram")])
    assert [bool(f) for f in found.failure] == [k == 3 for k in range(7)]
    assert found.usable.sum() == 6
    assert found.height.tolist() == [6, 7, 8, 0, 10, 11, 12]
    with open(corpus.paths[3], "rb") as file:  # noqa: PTH123
        assert found.content[3] == sha256(file.read()).hexdigest()
    assert found.pixels[3] == ""
    assert not vectors.values[3].any()
    assert np.allclose(np.linalg.norm(np.delete(vectors.values, 3, 0), axis=1), 1)


def test_result_does_not_depend_on_blocks_or_workers(corpus, monkeypatch):
    whole = scan(corpus, [by_name("colour_histogram")])
    monkeypatch.setattr(module, "BLOCK", 2)
    parts = scan(corpus, [by_name("colour_histogram")], workers=3)
    assert parts[0].pixels == whole[0].pixels
    assert np.array_equal(parts[1][0].values, whole[1][0].values)


def test_an_interrupted_pass_goes_on_where_it_was(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    cache, read = tmp_path / "cache", []

    def stop(done, total, label):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(corpus, cache=cache, progress=stop)
    real = module._read_one
    monkeypatch.setattr(module, "_read_one", lambda path, d: read.append(path) or real(path, d))
    again = scan(corpus, cache=cache)[0]
    assert read == list(corpus.paths[4:])
    assert again.content == scan(corpus)[0].content


def test_changed_or_damaged_blocks_are_made_again(corpus, tmp_path):
    cache = tmp_path / "cache"
    before = scan(corpus, cache=cache)[0]
    Image.fromarray(np.zeros((3, 3, 3), np.uint8)).save(corpus.paths[0])
    assert scan(corpus, cache=cache)[0].content[0] != before.content[0]
    for block in cache.iterdir():
        block.write_bytes(b"damaged")
    assert scan(corpus, cache=cache)[0].content == scan(corpus)[0].content


def test_failing_progress_does_not_end_the_pass(corpus):
    assert len(scan(corpus, progress=lambda *_: 1 / 0)[0].content) == 7


def test_unit_rows():
    rows = unit_rows(np.array([[3.0, 4], [0, 0], [np.nan, 1]]))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0], [0, 0]]


@pytest.mark.data
def test_both_corrupt_files_and_no_other(real_data):
    samples = from_folder(real_data / "duplicates")
    found, _ = scan(samples)
    bad = [samples.ids[i] for i in np.flatnonzero(~found.usable)]
    assert bad == ["mixed_images/ukbench09268_corrupt.jpg", "mixed_nested_images/ukbench09268_corrupt.jpg"]
