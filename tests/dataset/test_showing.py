"""A folder as a dataset, and the address that opens it."""

from __future__ import annotations

import pytest

from fiftyone_hsd import audit
from fiftyone_hsd.dataset import dataset_of, from_view, link_to, write_audit
from fiftyone_hsd.errors import InputError

pytestmark = pytest.mark.mongod


def test_a_folder_becomes_a_dataset_with_its_classes_and_split(fo, report):
    found = dataset_of(report.samples, "shown")
    try:
        again = from_view(found)
        assert list(again.paths) == list(report.samples.paths)
        assert again.split.tolist() == report.samples.split.tolist()
        assert [again.classes[c] for c in again.labels] == [report.samples.classes[c] for c in report.samples.labels]
        assert link_to(found) == "http://localhost:5151/datasets/shown"
        with pytest.raises(InputError, match="already"):
            dataset_of(report.samples, "shown")
        found = dataset_of(report.samples.take(range(0, len(report.samples), 4)), "shown", replace=True)
        write_audit(found, audit(found, seeds=1, models=("nearest_neighbour",)))
        assert link_to(found, 5152) == "http://localhost:5152/datasets/shown?workspace=hsd"
    finally:
        fo.delete_dataset("shown")
