"""Seconds to mark N samples of a real mongod with 8 fields and 5 tags, beside set_values of one field; then undo.

    python tests/benchmarks/bench_dataset.py [N]

N = 130,000 by default. No image is needed: the marks are made from numbers.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd.dataset import bulk
from fiftyone_hsd.dataset.marks import Column, Marks, Tagging
from fiftyone_hsd.doctor import mongod_path


def start(root: Path) -> subprocess.Popen[bytes]:
    """A private mongod, and the environment that makes FiftyOne use it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (root / "db").mkdir()
    os.environ.update(
        FIFTYONE_DATABASE_URI=f"mongodb://127.0.0.1:{port}",
        FIFTYONE_DATABASE_NAME="hsd_bench",
        FIFTYONE_DATABASE_VALIDATION="false",
        FIFTYONE_DO_NOT_TRACK="1",
        FIFTYONE_SHOW_PROGRESS_BARS="0",
    )
    command = [str(mongod_path()), "--dbpath", str(root / "db"), "--port", str(port), "--bind_ip", "127.0.0.1"]
    process = subprocess.Popen(
        [*command, "--nounixsocket", "--logpath", str(root / "mongo.log")], stdout=subprocess.DEVNULL
    )
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("mongod did not start in 30 s")


def marks_of(ids: list[str]) -> Marks:
    """Eight fields of every kind and five tags."""
    n, rng = len(ids), np.random.default_rng(0)
    text = [f"g{v:012x}" for v in rng.integers(0, n // 8 + 1, n).tolist()]
    partition = rng.choice(["train", "val", "test"], n, p=[0.7, 0.15, 0.15])
    exposed = rng.random(n) < 0.5
    columns = (
        Column("hsd_group", "str", "", text),
        Column("hsd_evidence", "str", "", ["given"] * n),
        Column("hsd_exposed", "bool", "", exposed.tolist()),
        Column("hsd_mates_in_train", "int", "", rng.integers(0, 9, n).tolist()),
        Column("hsd_nearest_train", "str", "", ids[::-1]),
        Column("hsd_nearest_similarity", "float", "", rng.random(n).tolist()),
        Column("hsd_intact", "str", "", partition.tolist()),
        Column("hsd_intact_pred_linear_probe", "class", "", [("class", 0.5)] * n),
    )
    tags = [Tagging(f"hsd:intact:{p}", np.flatnonzero(partition == p)) for p in ("train", "val", "test")]
    tags += [Tagging("hsd:intact:exposed", np.flatnonzero(exposed))]
    tags += [Tagging("hsd:intact:unexposed", np.flatnonzero(~exposed))]
    return Marks(tuple(ids), columns, tuple(tags), ())


def measure(n: int) -> None:
    import fiftyone as fo
    from bson import ObjectId

    found = fo.Dataset()
    found.add_sample(fo.Sample(filepath="/nowhere/0.png", tags=["train"]))
    pattern = found._sample_collection.find_one({})
    copies = ({**pattern, "_id": ObjectId(), "filepath": f"/nowhere/{i}.png"} for i in range(1, n))
    found._sample_collection.insert_many(copies)
    ids = found.values("id")
    before = list(found._sample_collection.find({}, {"last_modified_at": 0}))

    def timed(what: str, call):
        begin = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - begin
        print(f"{what:42s} {seconds:7.1f} s {n / seconds:10,.0f} a second", flush=True)
        return result

    one = [str(i) for i in range(n)]
    timed("set_values of one text field", lambda: found.set_values("one", one))
    found.delete_sample_field("one")
    marks = marks_of(ids)
    record = bulk.Record.planned(marks)
    timed("write 8 fields and 5 tags", lambda: bulk.write_samples(found, marks, lambda *_: None))
    timed("digests of all marks", lambda: bulk.digests(found, record))
    timed("remove them", lambda: bulk.remove_marks(found, record))
    after = list(found._sample_collection.find({}, {"last_modified_at": 0}))
    print(f"documents that differ from before: {sum(a != b for a, b in zip(before, after, strict=True))} of {n}")


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 130_000
    with tempfile.TemporaryDirectory() as folder:
        server = start(Path(folder))
        try:
            measure(size)
        finally:
            server.terminate()
            server.wait(30)
