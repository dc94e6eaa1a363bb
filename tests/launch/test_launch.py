"""The grid: what is finished is never repeated, what was killed goes on, what fails costs the others nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.errors import MissingExtraError
from fiftyone_hsd.launch import Place, forecast, run_grid, tickets
from fiftyone_hsd.model import Descriptors, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.store import save
from fiftyone_hsd.trainers._recipes import halved, recipe
from fiftyone_hsd.trainers.timm_finetune import timm_finetune

pytest.importorskip("torch"), pytest.importorskip("timm"), pytest.importorskip("accelerate")
pytestmark = pytest.mark.train

QUICK = {"steps": 12, "batch": 8, "size": 32, "validations": 3, "checkpoint_steps": 1}
SCRIPT = """
import resource, sys
from pathlib import Path
from fiftyone_hsd.launch import run_grid, tickets
from fiftyone_hsd.model import Samples, SplitPlan, TrainConfig
from fiftyone_hsd.store import load
folder, limit, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if limit:
    resource.setrlimit(getattr(resource, limit), (size, size))
samples, plan = load(folder / "samples.npz", Samples), load(folder / "plan.npz", SplitPlan)
configs = [TrainConfig(m, 0, tuple(eval(o).items())) for m, o in zip(sys.argv[4::2], sys.argv[5::2])]
_, records = run_grid(folder / "runs", tickets(samples, [plan], configs, "data"), samples)
for r in records:
    print(r.status, r.reason)
"""


@pytest.fixture
def model(tiny_weights: Path) -> str:
    return f"timm:test_vit@{tiny_weights}"


@pytest.fixture
def folder(coloured: tuple[Samples, SplitPlan], tmp_path: Path) -> Path:
    for name, noun in zip(("samples", "plan"), coloured, strict=True):
        save(tmp_path / f"{name}.npz", noun)
    return tmp_path


def started(folder: Path, *configs: object, limit: str = "", size: int = 0) -> subprocess.Popen[str]:
    """The grid in a process of its own, so that it can be killed and limited."""
    command = [sys.executable, "-c", SCRIPT, str(folder), limit, str(size), *map(str, configs)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)


def undisturbed(coloured: tuple[Samples, SplitPlan], model: str, **options: object) -> np.ndarray:
    config = TrainConfig(model, 0, tuple({**QUICK, **options}.items()))
    return timm_finetune(*coloured, Descriptors("none", np.zeros((0, 1), np.float32)), config).probabilities


def test_killed_at_any_step_the_grid_ends_as_if_nothing_had_happened(model, coloured, folder):
    with started(folder, model, QUICK) as process:
        log = None
        while process.poll() is None and (log is None or len(log.read_text().splitlines()) < 2):
            log = next((folder / "runs").glob("*/training/log.csv"), None)
            time.sleep(0.02)
        process.kill()
    assert log is not None
    # The training is no child of ours: it ends because it sees that its standard input is closed.
    stamps = [time.sleep(0.1) or (log.parent / "last.pt").stat().st_mtime_ns for _ in range(15)]
    assert len(set(stamps[5:])) == 1
    samples, plan = coloured
    grid = tickets(samples, [plan], [TrainConfig(model, 5, tuple(QUICK.items()))], "data")
    (told,) = forecast(folder / "runs", grid, samples)
    assert (told.runs, told.left, told.steps, told.trouble) == (1, 1, 12, "")
    assert told.seconds > 0
    assert told.peak_memory > 1 << 20
    seen: list[str] = []
    runs, records = run_grid(folder / "runs", grid, samples, progress=lambda d, t, w: seen.append(w))
    assert seen
    assert [(r.config.model, r.seed) for r in runs] == [(model, 0), (model + " (best val)", 0)]
    assert np.array_equal(runs[0].probabilities, undisturbed(coloured, model))
    assert [(r.status, r.reason) for r in records] == [("done", "")] * 2
    assert records[0].seconds > 0
    assert records[0].peak_memory > 1 << 20
    assert records[1].seconds == 0
    seen.clear()
    again, _ = run_grid(folder / "runs", grid, samples, progress=lambda d, t, w: seen.append(w))
    assert not seen
    assert np.array_equal(again[1].probabilities, runs[1].probabilities)
    assert forecast(folder / "runs", grid, samples)[0].left == 0


@pytest.mark.skipif(sys.platform != "linux", reason="this kind of limit is Linux's")
def test_out_of_memory_is_tried_in_halves_and_fails_one_training_only(model, folder):
    large = {**QUICK, "batch": 2048, "size": 160, "steps": 1}
    with started(folder, model, large, model, QUICK, limit="RLIMIT_DATA", size=3 << 29) as process:
        said = process.communicate()[0].splitlines()
    assert [line.split()[0] for line in said] == ["failed", "failed", "done", "done"]
    assert "memory" in said[0]
    assert "batches in 2 parts" in said[0]


def test_the_key_is_what_determines_a_training_and_nothing_else(model, coloured, tmp_path):
    samples, plan = coloured
    other = SplitPlan.of("intact", 1, plan.partition, samples.ids)

    def key(model: str = model, plan: SplitPlan = plan, data: str = "data", **options: object) -> str:
        return tickets(samples, [plan], [TrainConfig(model, 0, tuple(options.items()))], data)[0].key

    same = [key(), key(model + " (best val)"), key(workers=3), key(checkpoint_steps=5)]
    assert len(set(same)) == 1
    changed = tmp_path / "w.safetensors"
    changed.write_bytes(b"other")
    different = [key(steps=3), key(plan=other), key(data="x"), key("vit"), key(f"timm:test_vit@{changed}")]
    assert len({same[0], *different}) == 6


def test_a_trial_that_cannot_be_made_says_why(coloured, tmp_path):
    samples, plan = coloured
    (told,) = forecast(tmp_path, tickets(samples, [plan], [TrainConfig("timm:no_such_network")], "data"), samples)
    assert told.trouble.startswith("timm knows no network 'no_such_network'")
    assert np.isnan(told.seconds)


def test_halving_keeps_the_images_of_a_step():
    config = TrainConfig("vit", 3, (("batch", 32),))
    small = halved(config)
    assert small is not None
    assert (recipe(small).batch, recipe(small).accumulate, small.seed) == (32, 2, 3)
    assert halved(TrainConfig("vit", 0, (("batch", 9),))) is None
    assert halved(TrainConfig("linear_probe")) is None


def test_without_ray_that_is_said(coloured, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    samples, plan = coloured
    grid = tickets(samples, [plan], [TrainConfig(model, 0, tuple(QUICK.items()))], "data")
    with pytest.raises(MissingExtraError, match=r"fiftyone-hsd\[ray\]"):
        run_grid(tmp_path, grid, samples, place=Place("local"))
