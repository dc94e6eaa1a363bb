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
    assert sorted(read) == list(corpus.paths[4:])
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


def test_a_file_that_could_not_be_opened_is_tried_again(corpus, tmp_path):
    from pathlib import Path

    away = Path(corpus.paths[5])
    describe = by_name("colour_histogram")
    whole, (vectors,) = scan(corpus, [describe])
    data, times = away.read_bytes(), (away.stat().st_atime_ns, away.stat().st_mtime_ns)
    kept = tmp_path / "cache"
    away.chmod(0)
    original = module.read_bytes
    with pytest.MonkeyPatch.context() as patch:  # rights do not bind the superuser
        patch.setattr(module, "read_bytes", lambda p: _refused() if p == str(away) else original(p))
        first, _ = scan(corpus, [describe], cache=kept)
    assert first.failure[5].startswith("the file cannot be read")
    away.chmod(0o644)
    assert (away.read_bytes(), away.stat().st_mtime_ns) == (data, times[1])
    again, (healed,) = scan(corpus, [describe], cache=kept)
    assert again.failure == whole.failure
    assert again.content == whole.content
    assert np.array_equal(healed.values, vectors.values)


def _refused():
    from fiftyone_hsd.errors import ImageError

    raise ImageError("the file cannot be read: Permission denied")


def test_progress_counts_every_image_and_ends_at_all(corpus, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 3)
    seen = []
    scan(corpus, progress=lambda done, total, _: seen.append((done, total)))
    assert seen == sorted(seen)
    assert {3, 6, 7} <= {done for done, _ in seen}
    assert {total for _, total in seen} == {7}


def test_no_samples(corpus):
    found, (vectors,) = scan(corpus.take(np.zeros(0, int)), [by_name("colour_histogram")])
    assert found.content == ()
    assert vectors.values.shape == (0, 512)


def test_a_fault_of_a_descriptor_names_the_file(corpus):
    class Faulty:
        name, dim = "faulty", 1

        def prepare(self, image):
            raise ZeroDivisionError

        def encode(self, batch):
            raise NotImplementedError

    with pytest.raises(ZeroDivisionError) as caught:
        scan(corpus, [Faulty()])
    assert any(".png" in note for note in caught.value.__notes__)


def test_memory_stays_flat_in_the_number_of_images(corpus, monkeypatch):
    """At most two blocks of prepared images are alive at a time."""
    monkeypatch.setattr(module, "BLOCK", 2)
    alive, most = [0], [0]

    class Held(np.ndarray):
        def __del__(self):
            alive[0] -= 1

    class Counting:
        name, dim = "counting", 1

        def prepare(self, image):
            alive[0] += 1
            most[0] = max(most[0], alive[0])
            return np.ones(1).view(Held)

        def encode(self, batch):
            return np.ones((len(batch), 1), np.float32)

    many = corpus.take([0, 1, 2, 4, 5, 6])
    paths = many.paths * 5
    ids = tuple(f"{k}" for k in range(len(paths)))
    samples = type(many)(ids, paths, [-1] * len(ids), (), [""] * len(ids), {}, many.root)
    scan(samples, [Counting()], workers=2)
    assert most[0] <= 6
    assert alive[0] == 0
