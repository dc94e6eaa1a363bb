"""A filter shows exactly the images it names, on a real mongod."""

from __future__ import annotations

import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd.errors import InputError

pytestmark = pytest.mark.mongod


@pytest.fixture
def marked(blood):
    report = audit(blood, group_field="patient", seeds=1)
    dataset.write_audit(blood, report)
    return blood, report


def rows_of(found, view):
    order = {name: i for i, name in enumerate(found.values("id"))}
    return sorted(order[i] for i in view.values("id"))


def test_each_kind_of_filter(marked):
    found, report = marked
    samples, exposure, plan = report.samples, report.exposures[0], report.plans[0]
    test = plan.partition == "test"
    wanted = {"equal": {"hsd_existing": "test", "hsd_exposed": True, "ground_truth.label": samples.classes[0]}}
    expected = [i for i in range(len(samples)) if test[i] and exposure.exposed[i] and samples.labels[i] == 0]
    assert rows_of(found, dataset.filtered(found, wanted)) == expected != []
    near = exposure.nearest_similarity
    wanted = {"equal": {"hsd_existing": "test"}, "at_least": {"hsd_nearest_similarity": 0.9}}
    expected = [i for i in range(len(samples)) if test[i] and near[i] >= 0.9]
    assert rows_of(found, dataset.filtered(found, wanted)) == expected != []
    wanted["below"] = {"hsd_nearest_similarity": 0.99}
    assert rows_of(found, dataset.filtered(found, wanted)) == [i for i in expected if near[i] < 0.99]
    run = next(r for r in report.runs if r.condition == "existing" and r.config.model == "linear_probe")
    guess = dict(zip(run.rows.tolist(), run.predicted.tolist(), strict=True))
    paths = ["hsd_existing_pred_linear_probe.label", "ground_truth.label"]
    right = [i for i in guess if guess[i] == samples.labels[i]]
    assert rows_of(found, dataset.filtered(found, {"correct": paths})) == sorted(right)
    assert rows_of(found, dataset.filtered(found, {"wrong": paths})) == sorted(set(guess) - set(right))
    ids = [samples.ids[5], samples.ids[2]]
    assert dataset.filtered(found, {"ids": ids}).values("id") == ids
    assert len(dataset.filtered(found, {"saved": "hsd-existing-test-exposed"})) == int(exposure.exposed[test].sum())


def test_values_are_never_expressions(blood, fo):
    names = ["$ground_truth.label", "a.b", "{'$ne': ''}"]
    blood.limit(3).set_values("ground_truth.label", names)
    for name in names:
        assert len(dataset.filtered(blood, {"equal": {"ground_truth.label": name}})) == 1


def test_what_cannot_be_shown_is_said(blood):
    with pytest.raises(InputError, match="filter with where"):
        dataset.filtered(blood, {"where": "this.x"})
    with pytest.raises(InputError, match="'hsd-groups' is gone"):
        dataset.filtered(blood, {"saved": "hsd-groups"})
    with pytest.raises(InputError, match="at most"):
        dataset.filtered(blood, {"ids": ["0" * 24] * 2001})


def test_tags_all_and_none_of_them(blood):
    ids = blood.values("id")
    blood.select(ids[:4]).tag_samples("hsd:a")
    blood.select(ids[2:6]).tag_samples("hsd:b")
    assert dataset.filtered(blood, {"tagged": ["hsd:a"]}).values("id") == ids[:4]
    assert dataset.filtered(blood, {"tagged": ["hsd:a", "hsd:b"]}).values("id") == ids[2:4]
    assert dataset.filtered(blood, {"tagged": ["hsd:a"], "untagged": ["hsd:b"]}).values("id") == ids[:2]
