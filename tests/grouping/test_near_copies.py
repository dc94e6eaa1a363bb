"""Near copies: every kind of copy is found, strangers and repetitive texture are not; thresholds move afterwards."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.grouping import near_copies as module
from fiftyone_hsd.grouping.merge import merge
from fiftyone_hsd.grouping.near_copies import aligned_pairs, linked, near_copies
from fiftyone_hsd.scan import scan


def cells(rng, size=(240, 320), count=60):
    """A field of cells: one kind of texture, everywhere and in every image."""
    image = np.full((*size, 3), (235, 225, 230), np.uint8)
    for _ in range(count):
        x, y = int(rng.integers(0, size[1])), int(rng.integers(0, size[0]))
        axes = (int(rng.integers(9, 16)), int(rng.integers(9, 16)))
        cv2.ellipse(image, (x, y), axes, float(rng.integers(0, 180)), 0, 360, (200, 140, 150), -1)
        cv2.ellipse(image, (x, y), axes, float(rng.integers(0, 180)), 0, 360, (180, 110, 130), 1)
        cv2.circle(image, (x + int(rng.integers(-3, 4)), y), int(rng.integers(2, 5)), (215, 170, 180), -1)
    noise = rng.normal(0, 4, image.shape)
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8)


def turned(image, angle):
    height, width = image.shape[:2]
    return cv2.warpAffine(image, cv2.getRotationMatrix2D((width / 2, height / 2), angle, 0.95), (width, height))


COPIES = {
    "small.png": lambda i: cv2.resize(i, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA),
    "grey.png": lambda i: np.repeat(cv2.cvtColor(i, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2),
    "flip.png": lambda i: i[:, ::-1],
    "upside.png": lambda i: i[::-1],
    "turned.png": lambda i: turned(i, 33),
    "mirrored_turned.png": lambda i: turned(np.ascontiguousarray(i[:, ::-1]), -70),
    "crop.png": lambda i: i[10:170, 60:290],
    "dark.png": lambda i: (i * 0.8).astype(np.uint8),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Twelve fields of cells, one with all its copies; two tiles of a larger field that share a third."""
    root = tmp_path_factory.mktemp("near")
    rng = np.random.default_rng(5)
    for k in range(12):
        image = cells(rng)
        Image.fromarray(image).save(root / f"field{k:02d}.png")
        if k == 4:
            for name, change in COPIES.items():
                Image.fromarray(np.ascontiguousarray(change(image))).save(root / f"copy_{name}")
            Image.fromarray(image).save(root / "copy_jpeg.jpg", quality=55)
    large = cells(rng, (240, 560), 110)
    Image.fromarray(large[:, :320]).save(root / "tile_left.png")
    Image.fromarray(np.ascontiguousarray(large[:, 210:530])).save(root / "tile_right.png")
    (root / "broken.png").write_bytes(b"\x89PNG nothing")
    samples = from_folder(root)
    found = scan(samples)[0]
    return samples.take(found.usable), found.take(found.usable)


@pytest.fixture(scope="module")
def measured(corpus, tmp_path_factory):
    return aligned_pairs(*corpus, folder=tmp_path_factory.mktemp("kept"))


def groups_of(samples, links):
    codes = merge(len(samples), [links], np.ones(len(samples), bool)).codes
    found = [[samples.ids[i] for i in np.flatnonzero(codes == c)] for c in np.unique(codes)]
    return [g for g in found if len(g) > 1]


def test_all_copies_in_one_group_tiles_in_another_and_no_other_link(corpus, measured):
    samples, _ = corpus
    found = linked(samples, measured)
    expected = sorted(["field04.png", "copy_jpeg.jpg", *(f"copy_{n}" for n in COPIES)])
    assert sorted(map(sorted, groups_of(samples, found.links))) == [expected, ["tile_left.png", "tile_right.png"]]
    mirrored = [r for r in found.links.rule.tolist() if r.endswith("mirrored")]
    assert mirrored
    assert all("matching points" in r for r in found.links.rule.tolist())


def test_without_copies_nothing_is_linked(tmp_path):
    rng = np.random.default_rng(8)
    for k in range(30):
        Image.fromarray(cells(rng)).save(tmp_path / f"{k}.png")
    samples = from_folder(tmp_path)
    assert not near_copies(samples, scan(samples)[0]).links.accepted.any()


def test_a_second_call_measures_nothing_again(corpus, tmp_path, monkeypatch):
    first = near_copies(*corpus, folder=tmp_path)
    monkeypatch.setattr(module, "local_features", None)
    again = near_copies(*corpus, folder=tmp_path)
    assert again.links.rule.tolist() == first.links.rule.tolist()


def test_an_interrupted_search_goes_on(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 20)

    class Stop(BaseException):
        pass

    def stop(done, total, label):
        if label == "aligning pairs" and done >= 40:
            raise Stop

    with pytest.raises(Stop):
        near_copies(*corpus, folder=tmp_path, progress=stop)
    calls = []
    monkeypatch.setattr(module, "align", lambda *a, real=module.align: (calls.append(1), real(*a))[1])
    whole = near_copies(*corpus, folder=tmp_path)
    assert 0 < len(calls) <= len(whole.pairs.a) - 40


def test_the_threshold_moves_without_a_search(corpus, measured):
    samples, _ = corpus
    strict, loose = (linked(samples, measured, threshold=t).links for t in (0.9999, 0.5))
    assert strict.accepted.sum() < loose.accepted.sum()
    assert "as given" in linked(samples, measured, threshold=0.5).notes[0].text


def test_pairs_declared_unrelated_calibrate_and_are_never_linked(corpus, measured):
    samples, _ = corpus
    side = np.array([n.startswith(("copy_j", "copy_s", "field0")) for n in samples.ids])
    found = linked(samples, measured, unrelated=lambda a, b: side[a] != side[b])
    links = found.links.take(found.links.accepted)
    assert (side[links.a] == side[links.b]).all()
    assert any("cannot be found" in n.text for n in found.notes)


def test_similar_content_is_left_to_a_reviewer(tmp_path):
    """One object photographed at two places: features match on the object, pixels around it do not agree."""
    rng = np.random.default_rng(11)
    object_ = cells(rng, (120, 120), 25)
    for k in range(8):
        image = cells(rng)
        if k < 2:
            image[40 + 60 * k : 160 + 60 * k, 30 + 150 * k : 150 + 150 * k] = object_
            image = cv2.resize(image, (320, 240))
        Image.fromarray(image).save(tmp_path / f"{k}.png")
    samples = from_folder(tmp_path)
    found = near_copies(samples, scan(samples)[0])
    pair = [(a, b, ok) for a, b, ok in zip(found.links.a, found.links.b, found.links.accepted, strict=True)]
    assert pair == [(0, 1, False)]
    assert found.links.rule[0].startswith("similar content")
    assert any(n.topic == "similar content" and n.count == 1 for n in found.notes)


@pytest.mark.data
def test_the_copies_of_ukbench_and_no_others(real_data):
    samples = from_folder(real_data / "duplicates")
    found = scan(samples)[0]
    samples, found = samples.take(found.usable), found.take(found.usable)
    groups = groups_of(samples, linked(samples, aligned_pairs(samples, found)).links)
    names = [{i.rsplit("/")[-1].split(".")[0].split("_")[0] for i in g} for g in groups]
    # alpha_channel_image.png shows the pixels of ukbench00120.jpg
    assert sorted(map(sorted, names)) == [["alpha", "ukbench00120"], ["ukbench09380"]]


def test_rows_stay_those_of_the_corpus(corpus):
    samples, found = corpus
    order = np.arange(len(samples))[::-1]
    pairs = aligned_pairs(samples.take(order), found.take(order))
    assert pairs.n == len(samples)
    assert (pairs.a < pairs.b).all()
    ids = [samples.take(order).ids[i] for i in pairs.a[pairs.certain]]
    assert any(i.startswith("copy_") for i in ids)
    assert partial(linked, samples.take(order))(pairs).links.accepted.any()
