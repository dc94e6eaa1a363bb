"""Fixtures and skips.

HSD_TEST_DATA names the folder of real images. HSD_TEST_REQUIRE=data,mongod,browser,train turns the skip of a missing
part into a failure. Every FIFTYONE_* variable is set before anything imports fiftyone.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from fiftyone_hsd.model import Samples, SplitPlan

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["FIFTYONE_DO_NOT_TRACK"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes is the machine's business.
settings.register_profile("hsd", deadline=None)
settings.load_profile("hsd")

PARTS = ("data", "mongod", "browser", "train", "gpu")
REQUIRED = frozenset(filter(None, os.environ.get("HSD_TEST_REQUIRE", "").split(",")))


def chromium() -> str | None:
    """The browser of the browser tests."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def missing(part: str) -> str:
    """Why tests that need `part` cannot run here, "" if they can."""
    if part == "data":
        folder = os.environ.get("HSD_TEST_DATA", "")
        return "" if folder and Path(folder).is_dir() else f"HSD_TEST_DATA={folder!r} names no folder"
    packages = {"mongod": ("fiftyone",), "browser": ("playwright", "fiftyone")}.get(
        part, ("torch", "torchvision", "timm")
    )
    absent = [p for p in packages if importlib.util.find_spec(p) is None]
    if absent:
        return f"{', '.join(absent)} not installed"
    if part == "mongod":
        from fiftyone_hsd.doctor import mongod_path

        return "" if mongod_path() else "there is no mongod"
    if part == "browser":
        return "" if chromium() else "there is no Chromium"
    if part == "gpu":
        return "" if shutil.which("nvidia-smi") else "there is no GPU"
    return ""


def pytest_configure(config: pytest.Config) -> None:
    unknown = REQUIRED - set(PARTS)
    if unknown:
        raise pytest.UsageError(f"HSD_TEST_REQUIRE names {', '.join(sorted(unknown))}; allowed: {', '.join(PARTS)}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for part in PARTS:
        reason = missing(part) if item.get_closest_marker(part) else ""
        if reason and part in REQUIRED:
            pytest.fail(f"HSD_TEST_REQUIRE asks for {part}, but {reason}", pytrace=False)
        elif reason:
            pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing is read from or left in the user's cache folder."""
    os.environ["HSD_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real images."""
    reason = missing("data")
    if reason and "data" in REQUIRED:
        pytest.fail(f"HSD_TEST_REQUIRE asks for data, but {reason}", pytrace=False)
    elif reason:
        pytest.skip(reason)
    return Path(os.environ["HSD_TEST_DATA"])


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn corpus of about 180 images with every dependence: images/ and truth.csv. Do not write into it."""
    from fiftyone_hsd.drawn import SMALL, draw

    return draw(tmp_path_factory.mktemp("small"), SMALL).parent


drawn_corpus = small_corpus


@pytest.fixture(scope="session")
def independent_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn corpus of 200 images, none of which depends on another: images/ and truth.csv. Do not write into it."""
    from fiftyone_hsd.drawn import INDEPENDENT, draw

    return draw(tmp_path_factory.mktemp("independent"), INDEPENDENT).parent


@pytest.fixture(scope="session")
def sixty_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn corpus of 60 patients and 14 classes: images/ and truth.csv. Do not write into it."""
    from fiftyone_hsd.drawn import SIXTY, draw

    return draw(tmp_path_factory.mktemp("sixty"), SIXTY).parent


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained weights of timm's test_vit, 0.4 M parameters, layer norm only."""
    if importlib.util.find_spec("timm") is None:
        pytest.skip("timm not installed")
    import timm
    import torch
    from safetensors.torch import save_file

    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = timm.create_model("test_vit", pretrained=False)
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file({k: v.contiguous() for k, v in network.state_dict().items()}, path)
    return path


@pytest.fixture(scope="session")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Samples, SplitPlan]:
    """90 noisy pictures of 40 x 32 pixels, red, green or blue, with a plan of all partitions. Do not write into it."""
    import numpy as np
    from PIL import Image

    from fiftyone_hsd.model import Samples, SplitPlan

    folder = tmp_path_factory.mktemp("coloured")
    rng = np.random.default_rng(0)
    names = [f"{i:03d}.png" for i in range(90)]
    labels = np.arange(len(names)) % 3
    for name, label in zip(names, labels, strict=True):
        picture = rng.integers(0, 120, (40, 32, 3))
        picture[..., label] += 90
        Image.fromarray(picture.astype(np.uint8)).save(folder / name)
    part = np.array(["train", "train", "train", "train", "val", "test"])[np.arange(len(names)) // 3 % 6]
    part[-3:] = ["unused", "sentinel", "sentinel"]
    paths = [str(folder / n) for n in names]
    samples = Samples(
        tuple(names), tuple(paths), labels, ("red", "green", "blue"), np.full(len(names), ""), {}, str(folder)
    )
    return samples, SplitPlan.of("intact", 0, part, names)


@pytest.fixture(scope="session")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A private mongod on 127.0.0.1 and a FiftyOne that uses it and nothing else; the value is the database URI."""
    from fiftyone_hsd.doctor import mongod_path

    if "fiftyone" in sys.modules:
        pytest.fail("fiftyone was imported before the mongod fixture could isolate it", pytrace=False)
    root = tmp_path_factory.mktemp("mongod")
    for name in ("db", "plugins", "data"):
        (root / name).mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # FIFTYONE_DATABASE_DIR alone does not isolate: FiftyOne joins any mongod that it finds running.
    os.environ.update(
        FIFTYONE_DATABASE_URI=f"mongodb://127.0.0.1:{port}",
        FIFTYONE_DATABASE_NAME="hsd_tests",
        FIFTYONE_DATABASE_VALIDATION="false",
        FIFTYONE_PLUGINS_DIR=str(root / "plugins"),
        FIFTYONE_DEFAULT_DATASET_DIR=str(root / "data"),
        FIFTYONE_CONFIG_PATH=str(root / "config.json"),
        FIFTYONE_APP_CONFIG_PATH=str(root / "app_config.json"),
        FIFTYONE_SHOW_PROGRESS_BARS="0",
        FIFTYONE_ALLOW_LEGACY_ORCHESTRATORS="true",
    )
    command = [str(mongod_path()), "--dbpath", str(root / "db"), "--port", str(port), "--bind_ip", "127.0.0.1"]
    command += ["--nounixsocket", "--logpath", str(root / "mongo.log")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_for(process, port)
        with warnings.catch_warnings():  # its own dependencies warn of each other at import
            warnings.simplefilter("ignore")
            importlib.import_module("fiftyone")
        yield os.environ["FIFTYONE_DATABASE_URI"]
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"mongod ended with code {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("mongod did not start in 60 s")


@pytest.fixture(scope="session")
def tinted_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 patients of two images in two classes, a light disc on a ground that is darker in the second class; each file
    is CLASS/PATIENT_VIEW.png, and masks/CLASS/PATIENT_VIEW.png its object. Do not write into it.
    """
    import numpy as np
    from PIL import Image

    top, rng = tmp_path_factory.mktemp("tinted"), np.random.default_rng(0)
    y, x = np.mgrid[:40, :40]
    for patient in range(40):
        name = f"class {patient % 2}"
        for view in range(2):
            ground = rng.normal(150 - 50 * (patient % 2), 5, 3)
            cy, cx = rng.uniform(16, 24, 2)
            inside = np.hypot(y - cy, x - cx) < 6
            image = np.where(inside[..., None], 230, ground + rng.normal(0, 2, (40, 40, 3)))
            for folder, pixels in (("images", np.clip(image, 0, 255)), ("masks", inside * 255)):
                path = top / folder / name / f"p{patient:02d}_{view}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels.astype(np.uint8)).save(path)
    return top
