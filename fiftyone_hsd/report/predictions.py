"""predictions.npz: the probabilities of every run, for programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..model import SCHEMA, AuditReport
from ..store import atomic
from .csv_files import encoded, sample_paths

NAME = "predictions.npz"


def write_predictions(report: AuditReport, out: Path) -> Path:
    """Write all predictions of a report; readable by `numpy.load(file, allow_pickle=False)`.

    Arrays: `schema`; `path` (n,) bytes, UTF-8, the rows' names as in samples.csv; `classes` (C,) bytes; for each run k
    `model`, `condition` (K,) bytes and `seed` (K,) int64; `rows_K` int64 (t,), rows into `path`; `probabilities_K`
    float32 (t, C). Bytes, since names may hold what is no text.

    Raises:
        StoreError: the file cannot be written.
    """
    runs = report.runs
    arrays: dict[str, np.ndarray] = {
        "schema": np.array(SCHEMA),
        "path": _bytes(sample_paths(report)),
        "classes": _bytes(report.samples.classes),
        "model": _bytes([r.config.model for r in runs]),
        "condition": _bytes([r.condition for r in runs]),
        "seed": np.array([r.seed for r in runs], np.int64),
    }
    for k, run in enumerate(runs):
        arrays[f"rows_{k}"], arrays[f"probabilities_{k}"] = run.rows, run.probabilities
    with atomic(out / NAME) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return out / NAME


def _bytes(names: tuple[str, ...] | list[str]) -> np.ndarray:
    return np.array([encoded(n) for n in names], dtype=np.bytes_) if names else np.zeros(0, "S1")
