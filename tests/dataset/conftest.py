"""A dataset of the drawn corpus with a stored audit, on the private mongod."""

from __future__ import annotations

import warnings

import pytest

from fiftyone_hsd import audit


@pytest.fixture(scope="session")
def fo(mongod):
    # Importing it warns about its use of strawberry, connecting about mongoengine's; the rest is held to the rule.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import fiftyone

        fiftyone.list_datasets()
    return fiftyone


@pytest.fixture(scope="session")
def report(small_corpus):
    """The audit of the drawn corpus as a folder, groups by the patient in the name."""
    return audit(small_corpus / "images", pattern=r"/(?P<group>P\d+)_", seeds=2)


@pytest.fixture
def blood(fo, small_corpus):
    """Half the drawn corpus as a dataset: split tags, a class, the patient as a field."""
    found = fo.Dataset()
    images = sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())[::2]
    found.add_samples(
        [
            fo.Sample(
                filepath=str(path),
                tags=["train" if path.parts[-3] == "TRAIN" else "test"],
                ground_truth=fo.Classification(label=path.parent.name),
                patient=path.name.split("_")[0],
            )
            for path in images
        ]
    )
    yield found
    found.delete()
