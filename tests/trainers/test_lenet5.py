"""LeNet-5: its shape, what it can and cannot learn, and that it leaves torch's state alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.errors import EmptyError, InputError
from fiftyone_hsd.model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.pixel_rows import pixel_rows
from fiftyone_hsd.trainers.lenet5 import _network, _torch, lenet5

pytestmark = pytest.mark.train


def task(classes: int = 2, n: int = 90, side: int = 21, channels: int = 1, signal: int = 90):
    """Pictures with a bright patch whose place is the class."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, n).astype(np.int32)
    images = rng.integers(0, 60, (n, side, side, channels), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[5 * label : 5 * label + 6, 3:12] += np.uint8(signal)
    ids = tuple(f"{i:03d}" for i in range(n))
    names = tuple("abcd"[:classes])
    samples = Samples(ids, ids, labels, names, np.full(n, ""), {}, "")
    part = np.where(np.arange(n) % 3 > 0, "train", "test")
    return samples, SplitPlan.of("random", 0, part), images


def fit(samples: Samples, plan: SplitPlan, images: np.ndarray, **options) -> Run:
    config = TrainConfig("lenet5", options.pop("seed", 0), tuple({"epochs": 20, "batch": 8, **options}.items()))
    return lenet5(samples, plan, pixel_rows(images), config)


@pytest.mark.parametrize(("classes", "channels"), [(2, 1), (3, 3)])
def test_learns_what_there_is(classes: int, channels: int) -> None:
    samples, plan, images = task(classes, channels=channels)
    run = fit(samples, plan, images)
    assert (run.predicted == samples.labels[run.rows]).mean() > 0.9
    assert run.probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_learns_nothing_where_there_is_nothing() -> None:
    samples, plan, images = task(2, n=300, signal=0)
    run = fit(samples, plan, images, epochs=6)
    assert abs((run.predicted == samples.labels[run.rows]).mean() - 0.5) < 0.2


def test_is_lecun_s_network() -> None:
    """61,706 parameters on 32 x 32 grey pictures and ten classes, as everybody counts them; one output for two."""
    torch = _torch()
    count = sum(p.numel() for p in _network(torch, (1, 32, 32), 10).parameters())
    assert count == 61_706
    assert _network(torch, (1, 32, 32), 2)[-1].out_features == 1
    assert _network(torch, (3, 21, 21), 20)[-1].out_features == 20


def test_same_seed_same_numbers_and_the_global_state_stays() -> None:
    torch = _torch()
    samples, plan, images = task()
    before = torch.random.get_rng_state()
    first, second, other = (fit(samples, plan, images, epochs=2, seed=s) for s in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(first.probabilities, second.probabilities)
    assert not np.array_equal(first.probabilities, other.probabilities)


def test_only_train_is_looked_at() -> None:
    samples, plan, images = task()
    changed = images.copy()
    changed[plan.rows("test")[1:]] = 255
    first, second = (fit(samples, plan, x, epochs=2, scaling="standard") for x in (images, changed))
    assert np.allclose(first.probabilities[0], second.probabilities[0], atol=1e-6)


def test_files_are_read_where_descriptors_hold_no_pixels(tmp_path: Path) -> None:
    samples, plan, images = task(2, n=60)
    paths = []
    for i, image in enumerate(images):
        path = tmp_path / f"{i}.png"
        Image.fromarray(image[..., 0]).save(path)
        paths.append(str(path))
    real = Samples(samples.ids, tuple(paths), samples.labels, samples.classes, samples.split, {}, str(tmp_path))
    vectors = Descriptors("x", np.tile(np.eye(1, 4, dtype=np.float32), (60, 1)))
    run = lenet5(real, plan, vectors, TrainConfig("lenet5", 0, (("batch", 8), ("epochs", 30))))
    assert (run.predicted == samples.labels[run.rows]).mean() > 0.9


def test_degenerate_tasks() -> None:
    samples, plan, images = task()
    one = SplitPlan.of("random", 0, np.where(samples.labels == 0, "train", "test"))
    run = fit(samples, one, images, epochs=1)
    assert (run.predicted == 0).all()
    assert [n.examples for n in run.notes] == [("b",)]
    tiny = fit(samples, plan, images[:, :3, :4], epochs=1)
    assert np.isfinite(tiny.probabilities).all()
    vectors = pixel_rows(images)
    values = vectors.values.copy()
    values[0] = 0
    blank = lenet5(samples, plan, Descriptors(vectors.name, values), TrainConfig("lenet5", 0, (("epochs", 1),)))
    shares = np.bincount(samples.labels[plan.rows("train")]) / len(plan.rows("train"))
    assert blank.probabilities[0] == pytest.approx(shares, abs=1e-6)
    with pytest.raises(EmptyError):
        fit(samples, SplitPlan.of("random", 0, np.full(90, "test")), images)
    for wrong in ({"epochs": 0}, {"lr": 0}, {"batch": 0}, {"scaling": "none"}):
        with pytest.raises(InputError):
            fit(samples, plan, images, **wrong)
