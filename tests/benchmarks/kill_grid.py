"""A grid that is killed with signal 9 at random moments, again and again, against one that is left alone.

    python tests/benchmarks/kill_grid.py --kills 10 [--ray]

Without --ray the process of the grid is killed and started again; with it a worker of a local Ray cluster is killed
while the grid goes on. Says whether all predictions are identical, and whether a finished training was done again.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd.launch import Place, run_grid, tickets
from fiftyone_hsd.model import Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.store import load, save

OPTIONS = {"steps": 24, "batch": 8, "size": 32, "validations": 3, "checkpoint_steps": 2}
SEEDS = 14


def corpus(folder: Path) -> tuple[Samples, list[SplitPlan]]:
    """Pictures of three colours and one plan a seed."""
    from PIL import Image

    rng = np.random.default_rng(0)
    names = [f"{i:03d}.png" for i in range(120)]
    labels = np.arange(len(names)) % 3
    for name, label in zip(names, labels, strict=True):
        picture = rng.integers(0, 160, (40, 40, 3))
        picture[..., label] += 60
        Image.fromarray(picture.astype(np.uint8)).save(folder / name)
    paths = tuple(str(folder / n) for n in names)
    samples = Samples(tuple(names), paths, labels, ("r", "g", "b"), np.full(len(names), ""), {}, str(folder))
    parts = [rng.choice(["train", "val", "test"], len(names), p=[0.6, 0.2, 0.2]) for _ in range(SEEDS)]
    return samples, [SplitPlan.of("random", k, part, names) for k, part in enumerate(parts)]


def weights(path: Path) -> Path:
    """Untrained weights of timm's test_vit."""
    import timm
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    state = timm.create_model("test_vit", pretrained=False).state_dict()
    save_file({k: v.contiguous() for k, v in state.items()}, path)
    return path


def grid(folder: Path, runs: Path, ray: str | None = None) -> list[Run]:
    """Run or finish the grid."""
    samples = load(folder / "samples.npz", Samples)
    plans = [load(folder / f"plan{k}.npz", SplitPlan) for k in range(SEEDS)]
    config = TrainConfig(f"timm:test_vit@{folder / 'w.safetensors'}", 0, tuple(OPTIONS.items()))
    found, records = run_grid(runs, tickets(samples, plans, [config], "data"), samples, place=Place(ray))
    assert all(r.status == "done" for r in records), records
    return found


def kill_grid(folder: Path, kills: int, rng: random.Random) -> tuple[int, int, int]:
    """Kill the grid `kills` times at random moments of training.

    Returns:
        how often it was started, how many finished trainings it met at starts, how many of these were done again.
    """
    starts, met, again = 0, 0, 0
    while True:
        starts += 1
        before = _finished(folder)
        process = subprocess.Popen([sys.executable, __file__, "--grid", str(folder)])
        if starts <= kills:
            logs, wait = _progress(folder), rng.uniform(0, 3)
            while process.poll() is None and _progress(folder) == logs:
                time.sleep(0.01)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        code, after = process.wait(), _finished(folder)
        met, again = met + len(before), again + sum(after.get(k) != v for k, v in before.items())
        words = f"{len(before)} of {SEEDS} trainings were finished before, {len(after)} after"
        print(f"start {starts}: ended with {code}; {words}", flush=True)
        if starts > kills:
            assert code == 0
            return starts, met, again


def _finished(folder: Path) -> dict[str, tuple[int, ...]]:
    """Folder of a finished training -> when its result and its last step were written."""
    done = [p.parent for p in (folder / "killed").glob("*/run.npz")]
    return {
        p.name: tuple(f.stat().st_mtime_ns for f in [p / "run.npz", *sorted((p / "training").glob("l*"))]) for p in done
    }


def _progress(folder: Path) -> tuple[float, ...]:
    return tuple(sorted(p.stat().st_mtime for p in (folder / "killed").glob("*/training/l*")))


def kill_ray(folder: Path) -> list[Run]:
    """Start the grid on a local cluster and kill the first worker that trains."""
    import threading

    import psutil

    def kill() -> None:
        while not _progress(folder):
            time.sleep(0.05)
        for process in psutil.process_iter(["cmdline"]):
            line = " ".join(process.info["cmdline"] or [])
            if "ray::_task" in line:
                process.kill()
                print(f"killed worker {process.pid}: {line}", flush=True)
                return

    threading.Thread(target=kill, daemon=True).start()
    return grid(folder, folder / "killed", "local")


def main() -> None:
    """Both grids and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--grid", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.grid:
        grid(given.grid, given.grid / "killed")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples, plans = corpus(folder)
        weights(folder / "w.safetensors")
        save(folder / "samples.npz", samples)
        for k, plan in enumerate(plans):
            save(folder / f"plan{k}.npz", plan)
        begin = time.perf_counter()
        calm = grid(folder, folder / "calm")
        print(f"undisturbed: {time.perf_counter() - begin:.0f} s", flush=True)
        if given.ray:
            killed = kill_ray(folder)
        else:
            starts, met, again = kill_grid(folder, given.kills, random.Random(0))  # noqa: S311 - moments of killing
            print(f"{starts} starts met {met} finished trainings; {again} of these were done again")
            killed = grid(folder, folder / "killed")
        same = [np.array_equal(a.probabilities, b.probabilities) for a, b in zip(calm, killed, strict=True)]
        print(f"identical predictions: {sum(same)} of {len(same)} runs; {time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
