"""predictions.npz: readable without pickle, whatever the names hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.csv_files import encoded
from fiftyone_hsd.report.predictions import write_predictions


def test_every_run_is_there_under_the_names_of_the_rows(report: AuditReport, tmp_path: Path) -> None:
    with np.load(write_predictions(report, tmp_path), allow_pickle=False) as file:
        assert file["path"].tolist() == [encoded(i) for i in report.samples.ids]
        assert file["classes"].tolist() == [encoded(c) for c in report.samples.classes]
        assert len(file["model"]) == len(report.runs)
        for k, run in enumerate(report.runs):
            assert (file["condition"][k], file["seed"][k]) == (run.condition.encode(), run.seed)
            assert np.array_equal(file[f"rows_{k}"], run.rows)
            assert np.array_equal(file[f"probabilities_{k}"], run.probabilities)
