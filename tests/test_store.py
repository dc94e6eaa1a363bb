"""A noun comes back as it was, or the store says why not."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from fiftyone_hsd.errors import StoreError
from fiftyone_hsd.model import Effect, Grouping, Links, Note, Run, Samples, Scan, SplitPlan, TrainConfig
from fiftyone_hsd.store import atomic, load, save

ODD = "a b\n%'\"ü\udcff</script>.png"


def nouns():
    yield Samples(("x", ODD), ("/r/x", f"/r/{ODD}"), [0, -1], ("c",), ["train", ""], {"m": ["", "1"]}, "/r")
    yield Scan(("0" * 64, ""), ("1" * 64, ""), ("", "truncated"), [4, 0], [5, 0])
    yield Grouping([0, 0, -1], Links.of([1], [0], "given", "column p"), (Note("info", "t", "text", 3, (ODD,)),))
    yield SplitPlan.of("intact", 3, ["train", "test"], ["a", "b"])
    yield Run(TrainConfig("m", 1, (("lr", 0.1),)), "q25", 0, [1], [[0.25, 0.75]], {"numpy": "2"}, 1.5)
    yield Effect("score", "m", "intact", None, "test", "", "macro_f1", 0.5, float("nan"), 1.0, 0.1, 7, "why")


def same(a, b):
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and a != a:
        return b != b
    return a == b


@pytest.mark.parametrize("noun", list(nouns()), ids=lambda n: type(n).__name__)
def test_round_trip(tmp_path, noun):
    save(tmp_path / "deep" / "n.npz", noun)
    assert same(load(tmp_path / "deep" / "n.npz", type(noun)), noun)
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["n.npz"]


def test_damage_missing_and_other_noun_are_said(tmp_path):
    path = tmp_path / "n.npz"
    with pytest.raises(StoreError, match="cannot be read back"):
        load(path, Scan)
    save(path, SplitPlan.of("intact", 0, ["train"]))
    with pytest.raises(StoreError, match="holds SplitPlan"):
        load(path, Scan)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(StoreError, match="cannot be read back"):
        load(path, SplitPlan)


def test_pickled_arrays_are_refused(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        save(tmp_path / "n.npz", dataclasses.replace(TrainConfig("m"), options=(("x", np.array([object()])),)))


def test_a_failed_write_keeps_what_was_there(tmp_path):
    path = tmp_path / "f"
    path.write_text("before")
    with pytest.raises(RuntimeError), atomic(path) as file:  # noqa: PT012
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


FULL = """
import resource, sys
from pathlib import Path
from fiftyone_hsd.errors import StoreError
from fiftyone_hsd.model import SplitPlan
from fiftyone_hsd.store import load, save

path = Path(sys.argv[1])
save(path, SplitPlan.of("intact", 0, ["train"]))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    save(path, SplitPlan.of("intact", 0, ["train"] * 10000))
except StoreError as error:
    print(error)
print(len(load(path, SplitPlan)), [p.name for p in path.parent.iterdir()])
"""


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "n.npz")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    error, left = done.stdout.splitlines()
    assert "cannot be written" in error
    assert "free some space" in error
    assert left == "1 ['n.npz']"
