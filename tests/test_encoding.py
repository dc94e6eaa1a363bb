"""Vectors by content on disk: what is encoded, how often, and what survives a kill and a second process."""

from __future__ import annotations

import hashlib
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd import encoding
from fiftyone_hsd.encoding import BATCH, VectorStore, encode
from fiftyone_hsd.places import cache_folder


@dataclass
class Means:
    """Mean colour; counts what it is asked to do."""

    name: str = "means"
    dim: int = 3
    prepared: int = 0
    encoded: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self, image):
        with self.lock:
            self.prepared += 1
        return image.reshape(-1, 3).mean(0).astype(np.float32)

    def encode(self, batch):
        self.encoded += len(batch)
        return np.stack(batch)


def picture(path: Path, seed: int) -> str:
    pixels = np.random.default_rng(seed).integers(1, 256, (6, 5, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return str(path)


@pytest.fixture
def pictures(tmp_path):
    (tmp_path / "images").mkdir()
    return [picture(tmp_path / "images" / f"{i}.png", i) for i in range(2 * BATCH + 17)]


def expected(path: str):
    mean = np.asarray(Image.open(path), np.float64).reshape(-1, 3).mean(0)
    return mean / np.linalg.norm(mean)


def test_rows_follow_the_paths(pictures, tmp_path):
    found, failures = encode(pictures, Means(), folder=tmp_path / "cache")
    assert failures == {}
    assert found.name == "means"
    np.testing.assert_allclose(found.values, [expected(p) for p in pictures], atol=1e-6)


def test_without_a_folder_nothing_is_kept(pictures, tmp_path, monkeypatch):
    monkeypatch.setenv("HSD_CACHE_DIR", str(tmp_path / "cache"))
    found, _ = encode(pictures[:20], Means())
    np.testing.assert_allclose(found.values, [expected(p) for p in pictures[:20]], atol=1e-6)
    assert not (tmp_path / "cache").exists()


def test_a_second_run_encodes_nothing_and_a_grown_folder_only_what_is_new(pictures, tmp_path):
    first, _ = encode(pictures, Means(), folder=tmp_path / "cache")
    again = Means()
    second, _ = encode(pictures, again, folder=tmp_path / "cache")
    np.testing.assert_array_equal(first.values, second.values)
    assert (again.prepared, again.encoded) == (0, 0)
    grown = [picture(tmp_path / "new.png", 999), *pictures]
    third, _ = encode(grown, again, folder=tmp_path / "cache")
    assert (again.prepared, again.encoded) == (1, 1)
    np.testing.assert_array_equal(third.values[1:], first.values)


def test_names_do_not_matter_and_copies_are_encoded_once(pictures, tmp_path):
    copy = tmp_path / "another name é.jpg"
    copy.write_bytes(Path(pictures[3]).read_bytes())
    counter = Means()
    found, _ = encode([*pictures, str(copy), str(copy)], counter, folder=tmp_path / "cache")
    assert counter.encoded == len(pictures)
    np.testing.assert_array_equal(found.values[-1], found.values[3])


def test_another_descriptor_has_its_own_vectors(pictures, tmp_path):
    encode(pictures[:5], Means(), folder=tmp_path / "cache")
    other = Means(name="means, other preprocessing")
    encode(pictures[:5], other, folder=tmp_path / "cache")
    assert other.encoded == 5


def test_a_bad_image_costs_one_row_and_so_does_its_copy(pictures, tmp_path):
    bad, twin, absent = tmp_path / "bad.png", tmp_path / "twin.png", tmp_path / "absent.png"
    bad.write_bytes(Path(pictures[0]).read_bytes()[:60])
    twin.write_bytes(bad.read_bytes())
    paths = [pictures[0], str(bad), pictures[1], str(twin), str(absent), pictures[2]]
    found, failures = encode(paths, Means(), folder=tmp_path / "cache")
    assert set(failures) == {str(bad), str(twin), str(absent)}
    assert failures[str(bad)] == failures[str(twin)]
    assert "damaged" in failures[str(bad)]
    assert (found.values[[1, 3, 4]] == 0).all()
    np.testing.assert_allclose(found.values[[0, 2, 5]], [expected(p) for p in pictures[:3]], atol=1e-6)


def test_known_contents_spare_opening_the_files(pictures, tmp_path):
    contents = [hashlib.sha256(Path(p).read_bytes()).hexdigest() for p in pictures]
    first, _ = encode(pictures, Means(), contents=contents, folder=tmp_path / "cache")
    gone = [f"{p}.gone" for p in pictures]
    second, failures = encode([*gone, "unreadable"], Means(), contents=[*contents, ""], folder=tmp_path / "cache")
    np.testing.assert_array_equal(second.values[:-1], first.values)
    assert failures == {"unreadable": "the file cannot be read"}


def test_no_files_at_all(tmp_path):
    found, failures = encode([], Means(), folder=tmp_path / "cache")
    assert found.values.shape == (0, 3)
    assert failures == {}


def test_damaged_blocks_are_made_again(pictures, tmp_path):
    first, _ = encode(pictures, Means(), folder=tmp_path / "cache")
    blocks = sorted((tmp_path / "cache").rglob("*.npy"))
    assert len(blocks) == 3
    blocks[0].write_bytes(blocks[0].read_bytes()[:200])
    blocks[1].write_bytes(b"")
    second, _ = encode(pictures, Means(), folder=tmp_path / "cache")
    np.testing.assert_array_equal(first.values, second.values)


def test_many_small_blocks_are_merged_and_nothing_is_lost(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 4)).astype(np.float32)
    keys = [hashlib.sha256(bytes([i])).digest() for i in range(200)]
    keys[7] = b"\0" * 32  # NumPy drops trailing zero bytes
    keys[8] = b"a" + b"\0" * 31
    store = VectorStore(tmp_path, "d", 4)
    other = VectorStore(tmp_path, "d", 4)
    for i in range(0, 200, 2):
        store.add(keys[i : i + 2], vectors[i : i + 2])
    other.refresh()
    store.tidy()
    assert len(list(store.folder.glob("*.npy"))) == 1
    for reader in (store, other, VectorStore(tmp_path, "d", 4)):
        result = np.zeros((200, 4), np.float32)
        reader.read(keys, result)
        np.testing.assert_array_equal(result, vectors)
        assert len(reader) == 200


def test_large_results_are_memory_mapped(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_ON_DISK", 100)
    found, _ = encode(pictures, Means(), folder=tmp_path / "cache")
    root = found.values
    while isinstance(root, np.ndarray):
        root = root.base
    assert isinstance(root, mmap.mmap)
    np.testing.assert_allclose(found.values, [expected(p) for p in pictures], atol=1e-6)


@dataclass(frozen=True)
class Wide:
    name: str = "wide"
    dim: int = 2048

    def prepare(self, image):
        return image

    def encode(self, batch):
        return np.stack([np.resize(image.ravel(), self.dim) for image in batch]).astype(np.float32)


def test_memory_does_not_grow_with_the_number_of_files(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_ON_DISK", 1 << 20)
    (tmp_path / "images").mkdir()
    paths = [picture(tmp_path / "images" / f"{i}.png", i) for i in range(12 * BATCH)]

    def peak(some, name):
        tracemalloc.start()
        try:
            encode(some, Wide(name=name), folder=tmp_path / "cache")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(paths[: 3 * BATCH], "few"), peak(paths, "many")
    extra = 9 * BATCH * Wide.dim * 4
    assert many - few < 0.25 * extra


SLOW = """
import sys, time
import numpy as np
from pathlib import Path
from fiftyone_hsd.encoding import encode

class Slow:
    name, dim = "means", 3
    def prepare(self, image):
        return image.reshape(-1, 3).mean(0).astype(np.float32)
    def encode(self, batch):
        time.sleep(float(sys.argv[3]))
        return np.stack(batch)

def tell(done, total, label):
    print(done, flush=True)

paths = sorted((str(p) for p in Path(sys.argv[1]).iterdir()), key=lambda p: int(Path(p).stem))
encode(paths, Slow(), folder=Path(sys.argv[2]), progress=tell)
"""


def start(pictures, folder, seconds):
    command = [sys.executable, "-c", SLOW, str(Path(pictures[0]).parent), str(folder), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kill_loses_at_most_one_batch(pictures, tmp_path):
    with start(pictures, tmp_path / "cache", 0.2) as process:
        assert process.stdout.readline().strip() == str(BATCH)  # the first batch is written before this is told
        os.kill(process.pid, signal.SIGKILL)
    counter = Means()
    found, failures = encode(pictures, counter, folder=tmp_path / "cache")
    assert failures == {}
    assert counter.encoded <= len(pictures) - BATCH
    np.testing.assert_allclose(found.values, [expected(p) for p in pictures], atol=1e-6)


def test_two_processes_in_one_folder(pictures, tmp_path):
    with start(pictures, tmp_path / "cache", 0.05) as one, start(pictures, tmp_path / "cache", 0.05) as two:
        one.stdout.read()
        two.stdout.read()
    assert (one.returncode, two.returncode) == (0, 0)
    counter = Means()
    found, _ = encode(pictures, counter, folder=tmp_path / "cache")
    assert counter.encoded == 0
    np.testing.assert_allclose(found.values, [expected(p) for p in pictures], atol=1e-6)


def test_decoding_goes_on_while_a_batch_is_encoded(pictures, tmp_path):
    """While the first batch is in `encode`, the images of the next one are prepared."""
    seen = []

    class Watching(Means):
        def encode(self, batch):
            before, limit = self.prepared, time.monotonic() + 20
            while not seen and self.prepared < before + BATCH // 2 and time.monotonic() < limit:
                time.sleep(0.01)
            seen.append(self.prepared)
            return np.stack(batch)

    encode(pictures, Watching(), folder=tmp_path / "cache", workers=2)
    assert seen[0] >= BATCH + BATCH // 2


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HSD_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("HSD_CACHE_DIR")
    assert cache_folder().name == "fiftyone-hsd"


@pytest.mark.data
def test_real_images_with_corrupt_ones_among_them(real_data, tmp_path):
    files = sorted(str(p) for p in (real_data / "duplicates").rglob("*.jpg"))
    found, failures = encode(files, Means(), folder=tmp_path)
    assert len([f for f in failures if "orrupt" in f]) == 2
    norms = np.linalg.norm(found.values, axis=1)
    np.testing.assert_allclose(norms[[f not in failures for f in files]], 1, atol=1e-5)
