"""What the App shows of an audit, and that undo leaves a dataset as it was."""

from __future__ import annotations

import pytest

from fiftyone_hsd import audit, dataset
from fiftyone_hsd.dataset import arranging

pytestmark = pytest.mark.mongod


def document(found):
    found.reload()
    return {k: v for k, v in found._doc.to_dict().items() if k not in ("last_modified_at", "last_loaded_at")}


def test_the_app_is_arranged_and_put_back(blood):
    before, indexes = document(blood), blood.list_indexes()
    dataset.write_audit(blood, audit(blood, group_field="patient", seeds=1, models=("nearest_neighbour",)))
    groups = {g.name: list(g.paths) for g in blood.app_config.sidebar_groups}
    assert groups[arranging.MAIN][:2] == ["hsd_exposed", "hsd_group"]
    assert "hsd_intact" in groups[arranging.LADDER]
    assert not any(p.startswith("hsd_") for name in ("labels", "primitives") for p in groups[name])
    assert blood.app_config.active_fields.paths == ["ground_truth", "hsd_exposed", "hsd_group"]
    space = blood.load_workspace(arranging.WORKSPACE)
    assert [leaf.children[0].type for leaf in space.children] == ["Samples", arranging.PANEL]
    assert {"hsd_group", "hsd_exposed", "hsd_random_exposed"} <= set(blood.list_indexes())
    scheme = blood.app_config.color_scheme
    colours = {f["path"]: {v["value"]: v["color"] for v in f["valueColors"]} for f in scheme.fields}
    assert (scheme.color_by, len(set(colours["hsd_exposed"].values()))) == ("value", 2)
    assert colours["hsd_random_exposed"] == colours["hsd_exposed"]
    assert set(blood.distinct("hsd_existing")) <= set(colours["hsd_existing"])
    assert set(blood.distinct("hsd_random")) <= set(colours["hsd_random"])
    dataset.undo(blood)
    assert document(blood) == before
    assert blood.list_indexes() == indexes


def test_what_somebody_arranged_stays(blood, fo):
    config = blood.app_config
    config.sidebar_groups = [fo.SidebarGroupDocument(name="mine", paths=["patient"])]
    config.active_fields = fo.ActiveFields(paths=["patient"])
    config.color_scheme = fo.ColorScheme(color_by="field")
    blood.save()
    blood.save_workspace(arranging.WORKSPACE, fo.Space(children=[fo.Panel(type="Samples")]))
    before = document(blood)
    dataset.write_audit(blood, audit(blood, group_field="patient", seeds=1, models=("nearest_neighbour",)))
    assert blood.app_config.sidebar_groups[0].name == "mine"
    assert blood.app_config.active_fields.paths == ["patient"]
    assert not blood.app_config.color_scheme.fields
    dataset.undo(blood)
    assert document(blood) == before
