"""Fields stay declared although another thread of the App reloads the dataset all the time."""

from __future__ import annotations

import threading

import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd.dataset import bulk, marks
from fiftyone_hsd.dataset.root import alone
from fiftyone_hsd.errors import StaleError

pytestmark = pytest.mark.mongod


def _columns(n, rows):
    return tuple(marks.Column(f"hsd_c{k}", "int", "a number", [k] * rows) for k in range(n))


def _lose(dataset, fo, names):
    """What a reload at the wrong moment does to the stored schema."""
    documents = fo.core.odm.get_db_conn().datasets
    documents.update_one({"_id": dataset._doc.id}, {"$pull": {"sample_fields": {"name": {"$in": names}}}})


def test_a_field_lost_while_others_are_declared_is_declared_again(blood, fo, monkeypatch):
    add, lost = type(blood).add_sample_field, []

    def losing(self, name, *arguments, **more):
        add(self, name, *arguments, **more)
        if name == "hsd_c2" and not lost:
            lost.append(name)
            _lose(self, fo, ["hsd_c0", "hsd_c2"])

    monkeypatch.setattr(type(blood), "add_sample_field", losing)
    ids = tuple(blood.values("id"))
    bulk.write_samples(blood, marks.Marks(ids, _columns(4, len(ids)), (), ()), lambda *_: None)
    assert lost
    blood.reload()
    assert [blood.first()[f"hsd_c{k}"] for k in range(4)] == [0, 1, 2, 3]


def test_fields_that_never_stay_are_an_error(blood, fo, monkeypatch):
    add = type(blood).add_sample_field

    def losing(self, name, *arguments, **more):
        add(self, name, *arguments, **more)
        _lose(self, fo, [name])

    monkeypatch.setattr(type(blood), "add_sample_field", losing)
    with pytest.raises(StaleError, match="hsd_c0, hsd_c1 cannot be declared"):
        bulk._declare(blood, _columns(2, 1))


def test_reloads_in_another_thread_lose_nothing(blood):
    """The App's server reloads the one object of a dataset at every request."""
    report = audit(blood, group_field="patient", near_copies="off", seeds=1)
    over = threading.Event()

    def reload():
        while not over.is_set():
            blood.reload()

    thread = threading.Thread(target=reload)
    thread.start()
    try:
        for _ in range(3):
            written = dataset.write_audit(blood, report)
            with alone(blood) as own:
                assert set(written.fields) <= bulk._declared(own)
                assert all(own.has_saved_view(v) for v in written.views)
                assert dataset.recorded(own) == ["audit"]
                assert dataset.stored_report(own) is not None
            dataset.undo(blood)
            with alone(blood) as own:
                assert not bulk._declared(own) & set(written.fields)
                assert own.list_runs() == []
    finally:
        over.set()
        thread.join()
