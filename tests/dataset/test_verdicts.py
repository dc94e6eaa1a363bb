"""Verdicts are kept one by one, groups follow at once, and audits, repairs and undo live with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd.errors import InputError, StaleError
from fiftyone_hsd.model import DIFFERENT, SAME, Verdict

pytestmark = pytest.mark.mongod

FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"


def again(found):
    return audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",))


@pytest.fixture
def marked(blood):
    report = again(blood)
    dataset.write_audit(blood, report)
    return blood, report


def column(found, name):
    found.reload()
    return dict(zip(*found.values(["id", name]), strict=True))


def apart(report):
    """A test image and a train image of different groups, neither of which has a mate on the other side."""
    codes, partition, exposed = report.grouping.codes, report.plans[0].partition, report.exposures[0].exposed
    test = next(i for i in range(len(codes)) if partition[i] == "test" and not exposed[i])
    return test, next(i for i in range(len(codes)) if partition[i] == "train" and codes[i] != codes[test])


def test_groups_and_exposure_follow_a_verdict_at_once(marked):
    found, report = marked
    ids = report.samples.ids
    test, train = apart(report)
    assert not column(found, "hsd_exposed")[ids[test]]
    changed = dataset.add_verdict(found, ids[test], ids[train], SAME, "ann")
    groups = column(found, "hsd_group")
    assert groups[ids[test]] == groups[ids[train]]
    members = [i for i in ids if groups[i] == groups[ids[test]]]
    assert changed == len(members)
    assert {column(found, "hsd_group_size")[i] for i in members} == {len(members)}
    assert column(found, "hsd_exposed")[ids[test]] is True
    assert "reviewer" in column(found, "hsd_evidence")[ids[test]]
    assert ids[test] in found.match_tags("hsd:existing:exposed").values("id")
    assert ids[test] not in found.match_tags("hsd:existing:unexposed").values("id")
    # The last word of an author counts.
    dataset.add_verdict(found, ids[train], ids[test], DIFFERENT, "ann")
    assert column(found, "hsd_group") == dict(zip(ids, report.grouping.group_ids(ids), strict=True))
    assert column(found, "hsd_exposed")[ids[test]] is False


def test_two_people_at_once_overwrite_nothing(marked):
    found, _ = marked
    pairs = dataset.stored_queue(found)[:6]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda who: [dataset.add_verdict(found, p.a, p.b, SAME, who) for p in pairs], ("ann", "bob")))
    said = dataset.verdicts(found)
    assert sorted((v.author, v.path_a, v.path_b) for v in said) == sorted(
        (who, p.a, p.b) for who in ("ann", "bob") for p in pairs
    )
    assert all(v.time.endswith("+00:00") for v in said)


def test_verdicts_survive_a_second_audit_and_undo(marked):
    found, report = marked
    ids = report.samples.ids
    test, train = apart(report)
    dataset.add_verdict(found, ids[test], ids[train], SAME, "ann")
    dataset.write_audit(found, again(found))
    groups = column(found, "hsd_group")
    assert groups[ids[test]] == groups[ids[train]]
    dataset.undo(found)
    assert len(dataset.verdicts(found)) == 1
    assert not any(f.startswith("hsd_") for f in found.get_field_schema())


def test_undo_still_sees_what_others_changed(marked):
    found, report = marked
    ids = report.samples.ids
    test, train = apart(report)
    dataset.add_verdict(found, ids[test], ids[train], SAME, "ann")
    found.select(ids[test]).set_values("hsd_group", ["mine"])
    with pytest.raises(StaleError, match="1 samples were changed"):
        dataset.undo(found)
    dataset.undo(found, force=True)


def test_verdicts_from_a_file_are_taken_once(marked):
    found, report = marked
    ids = report.samples.ids
    test, train = apart(report)
    said = [Verdict(ids[test], ids[train], SAME, "ann", "2026-01-01T00:00:00+00:00")]
    assert dataset.add_verdicts(found, said) > 0
    assert dataset.add_verdicts(found, said) == 0
    assert dataset.verdicts(found) == said
    dataset.forget_verdicts(found)
    assert dataset.verdicts(found) == []
    assert column(found, "hsd_group") == dict(zip(ids, report.grouping.group_ids(ids), strict=True))


@pytest.mark.parametrize("time", ["", "30.11.2026 17:34"])
def test_verdicts_of_any_time_are_kept_as_long_as_their_marks(marked, time):
    found, report = marked
    ids = report.samples.ids
    test, train = apart(report)
    said = [Verdict(ids[test], ids[train], SAME, "ann", time)]
    assert dataset.add_verdicts(found, said) > 0
    assert dataset.verdicts(found) == said
    dataset.forget_verdicts(found)
    assert column(found, "hsd_group") == dict(zip(ids, report.grouping.group_ids(ids), strict=True))


def test_what_is_no_verdict_is_refused(marked):
    found, report = marked
    a, b = report.samples.ids[:2]
    with pytest.raises(InputError, match="verdict 'perhaps'"):
        dataset.add_verdict(found, a, b, "perhaps", "ann")
    with pytest.raises(InputError, match="one sample"):
        dataset.add_verdict(found, a, a, SAME, "ann")
    assert dataset.verdicts(found) == []


def test_the_queue_names_samples_of_the_audit(marked):
    found, report = marked
    pairs = dataset.stored_queue(found)
    ids = set(report.samples.ids)
    assert pairs
    assert all({p.a, p.b} <= ids and p.a < p.b for p in pairs)
    assert {p.kind for p in pairs} >= {"link", "non-link"}
    gone = pairs[0].a
    found.delete_samples([gone])
    dataset.add_verdict(found, pairs[-1].a, pairs[-1].b, SAME, "ann")
    there = [p for p in pairs if gone not in (p.a, p.b)]
    assert dataset.stored_queue(found, there=True) == there == dataset.waiting(found, "bob")
    assert dataset.waiting(found) == dataset.waiting(found, "ann") == there[:-1]
    assert dataset.stored_queue(found) == pairs
