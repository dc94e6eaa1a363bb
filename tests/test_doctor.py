"""The doctor finds what is broken, without being broken by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fiftyone_hsd import doctor
from fiftyone_hsd.doctor import Check, faiss_checks, plugin_folder, version_check
from fiftyone_hsd.places import cache_folder

REPORT = "import json, dataclasses as d, sys; from fiftyone_hsd.doctor import doctor; c = doctor(); "
REPORT += "print(json.dumps([[d.asdict(x) for x in c], sorted(m for m in sys.modules if '.' not in m)]))"


def distribution(site: Path, name: str, version: str) -> None:
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def examine(site: Path, **variables: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """(topic -> check, top-level modules loaded) of a doctor that sees the packages in `site` first."""
    env = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join([str(site), *(p for p in sys.path if p)])}
    done = subprocess.run([sys.executable, "-c", REPORT], capture_output=True, text=True, env=env, check=True)
    checks, modules = json.loads(done.stdout)
    return {c["topic"]: c for c in checks}, modules


def test_two_faiss_wheels_are_a_problem_with_the_line_that_repairs_it(tmp_path):
    for name in ("faiss-cpu", "faiss-gpu"):
        distribution(tmp_path, name, "1.15.1")
    check = examine(tmp_path)[0]["faiss"]
    assert check["level"] == "problem"
    assert "faiss-cpu 1.15.1 and faiss-gpu 1.15.1" in check["text"]
    uninstall, install = check["advice"].split(" && ")
    assert uninstall == "pip uninstall -y faiss-cpu faiss-gpu"
    assert install in ("pip install faiss-cpu", "pip install faiss-gpu")


def test_the_repair_keeps_a_gpu_wheel_only_where_there_is_a_gpu(monkeypatch):
    both = {"faiss-cpu": "1", "faiss-gpu-cu12": "1"}
    for gpu, kept in ((True, "faiss-gpu"), (False, "faiss-cpu")):
        monkeypatch.setattr(doctor, "_nvidia", lambda gpu=gpu: gpu)
        (check,) = faiss_checks(both)
        assert check.advice == f"pip uninstall -y faiss-cpu faiss-gpu-cu12 && pip install {kept}"


def test_no_faiss_is_no_problem():
    (check,) = faiss_checks({"numpy": "2"})
    assert check.level == "info"
    assert "numpy" in check.text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ImportError('libcudart.so.12: cannot open shared object file')", "libcudart.so.12"),
        ("import os; os.kill(os.getpid(), 11)", "-11"),
        ("import sys; sys.exit(3)", "3"),
    ],
)
def test_a_broken_torch_is_a_finding(tmp_path, body, reason):
    distribution(tmp_path, "torch", "2.14.1")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(body)
    checks, modules = examine(tmp_path)
    assert checks["torch device"]["level"] == "problem"
    assert reason in checks["torch device"]["text"]
    assert checks["torch device"]["advice"].startswith("pip install")
    assert checks["search backend"]["level"] in ("ok", "problem")
    assert checks["search backend"]["text"]
    assert "torch" not in modules


def test_a_broken_faiss_is_a_finding(tmp_path):
    code = "from fiftyone_hsd.doctor import faiss_checks; print(*faiss_checks({'faiss-cpu': '1.15.1'}))"
    (tmp_path / "faiss.py").write_text("raise ImportError('libomp')")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert "level='problem'" in done.stdout
    assert "libomp" in done.stdout
    assert "--force-reinstall --no-deps faiss-cpu" in done.stdout


def test_nothing_heavy_is_imported_and_the_search_backend_is_named(tmp_path):
    checks, modules = examine(tmp_path)
    assert not {"torch", "faiss", "fiftyone", "cleanlab", "timm", "sklearn"} & set(modules)
    assert checks["search backend"]["level"] == "ok"
    assert checks["search backend"]["text"].split(",")[0] in ("numpy", "torch", "faiss-gpu")
    assert checks["numpy"]["level"] == "ok"
    assert {c["level"] for c in checks.values()} <= {"ok", "info", "problem"}


@pytest.mark.parametrize(
    ("version", "level"),
    [("1.22", "ok"), ("1.22.1", "ok"), ("1.30.0.dev1", "ok"), ("1.21.9", "problem"), ("2.0", "problem"), ("", "info")],
)
def test_the_range_of_fiftyone(version, level):
    check = version_check("fiftyone", version, "app")
    assert check.level == level
    assert bool(check.advice) == (level != "ok")


def test_a_substitute_of_opencv_counts(tmp_path, monkeypatch):
    real = doctor.importlib.metadata.version

    def version(name: str) -> str:
        if name == "opencv-python-headless":
            raise doctor.importlib.metadata.PackageNotFoundError
        return "4.9" if name == "opencv-python" else real(name)

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    assert doctor.installed_versions()["opencv-python-headless"] == "4.9"


def test_the_database_address_is_not_shown(monkeypatch):
    monkeypatch.setenv("FIFTYONE_DATABASE_URI", "mongodb://user:secret@example.invalid")
    (check,) = doctor._mongod({"fiftyone": "1.22"})
    assert check.level == "ok"
    assert "secret" not in str(check)


def test_a_missing_mongod_is_a_problem_only_with_fiftyone(monkeypatch):
    monkeypatch.delenv("FIFTYONE_DATABASE_URI", raising=False)
    monkeypatch.setattr(doctor, "mongod_path", lambda: None)
    (check,) = doctor._mongod({"fiftyone": "1.22"})
    assert check.level == "problem"
    assert "FIFTYONE_DATABASE_URI" in check.advice
    assert not list(doctor._mongod({}))


def test_a_mongod_that_does_not_start_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.delenv("FIFTYONE_DATABASE_URI", raising=False)
    broken = tmp_path / "mongod"
    broken.write_text("#!/bin/sh\necho libcrypto.so.1.1 not found >&2\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setattr(doctor, "mongod_path", lambda: broken)
    (check,) = doctor._mongod({"fiftyone": "1.22"})
    assert (check.level, "libcrypto" in check.text) == ("problem", True)


def test_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("HSD_CACHE_DIR", str(tmp_path / "c"))
    assert cache_folder() == tmp_path / "c"
    monkeypatch.delenv("HSD_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fiftyone-hsd"

    for name in ("FIFTYONE_PLUGINS_DIR", "FIFTYONE_DEFAULT_DATASET_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FIFTYONE_CONFIG_PATH", str(tmp_path / "config.json"))
    assert plugin_folder() == Path.home() / "fiftyone" / "__plugins__"
    for text, folder in (
        ("not json", Path.home() / "fiftyone" / "__plugins__"),
        ("[1]", Path.home() / "fiftyone" / "__plugins__"),
        ('{"default_dataset_dir": "/d"}', Path("/d/__plugins__")),
        ('{"default_dataset_dir": "/d", "plugins_dir": "/p"}', Path("/p")),
    ):
        (tmp_path / "config.json").write_text(text)
        assert plugin_folder() == folder
    monkeypatch.setenv("FIFTYONE_PLUGINS_DIR", "/env")
    assert plugin_folder() == Path("/env")


@pytest.mark.mongod
def test_the_plugin_folder_is_the_one_fiftyone_uses(mongod):
    import fiftyone as fo

    assert plugin_folder() == Path(fo.config.plugins_dir)


def test_little_room_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor, "LOW", 1 << 60)
    assert [c.level for c in doctor._room()] == ["problem", "problem"]
    monkeypatch.setattr(doctor, "LOW", 0)
    assert [c.level for c in doctor._room()] == ["ok", "ok"]


def test_a_probe_that_hangs_is_a_finding(monkeypatch):
    monkeypatch.setattr(doctor, "PROBE_SECONDS", 0.2)
    good, text = doctor.probe("import time; time.sleep(60)")
    assert not good
    assert "0.2 s" in text
    assert doctor.run(["/no/such/program"])[0] is False


def test_a_check_is_a_value():
    assert Check("a", "ok", "b") == Check("a", "ok", "b", "")
