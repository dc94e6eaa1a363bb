"""How the App shows a dataset with an audit: sidebar groups, fields on the images, colours, a workspace, indexes.

Only what nobody set before is set, and `restore` takes exactly that back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model import TEST, TRAIN, UNUSED
from .reading import fiftyone

WORKSPACE = "hsd"
PANEL = "hsd_hidden_samples"
MAIN, LADDER = "hidden samples", "hidden samples: ladder"
"""Names of our two groups in the sidebar."""
FIRST = ("hsd_exposed", "hsd_group", "hsd_group_size", "hsd_evidence", "hsd_existing", "hsd_nearest_similarity")
SECOND = ("hsd_mates_in_train", "hsd_nearest_train")
EXPOSED, UNEXPOSED, NEUTRAL = "#D55E00", "#0072B2", "#8C8C8C"
"""Two colours that people with any colour vision tell apart, on dark and on light (Okabe and Ito)."""
PARTITIONS = {TRAIN: "#56B4E9", "val": "#E69F00", TEST: "#009E73", UNUSED: NEUTRAL}
"""Of the same palette."""


def arrange(dataset: Any, fields: Sequence[str], label: str) -> dict[str, Any]:
    """Arrange the App for the fields of an audit; what was done, for `restore`.

    Args:
        fields: names of the audit's fields.
        label: path of the class names, "" = none.
    """
    fo = fiftyone()
    done: dict[str, Any] = {}
    config = dataset.app_config
    done["sidebar"] = config.sidebar_groups is None
    groups = fo.DatasetAppConfig.default_sidebar_groups(dataset) if done["sidebar"] else list(config.sidebar_groups)
    config.sidebar_groups = [*_without(groups, fields), *_groups(fo, fields)]
    if config.active_fields is None:
        shown = [label.partition(".")[0], "hsd_exposed", "hsd_group"]
        done["active"] = [f for f in shown if f and dataset.has_field(f)]
        config.active_fields = fo.ActiveFields(paths=done["active"])
    if config.color_scheme is None:
        config.color_scheme = fo.ColorScheme(color_by="value", fields=_colours(fields))
        done["colours"] = True
    dataset.save()
    if WORKSPACE not in dataset.list_workspaces():
        done["workspace"] = True
        text = "The images, and beside them what the audit found"
        dataset.save_workspace(WORKSPACE, workspace(), description=text)
    for name in _indexed(fields):
        dataset.create_index(name)
    return done


def restore(dataset: Any, fields: Sequence[str], done: Mapping[str, Any]) -> None:
    """Take back what `arrange` did; before the fields go."""
    config = dataset.app_config
    if config.sidebar_groups is not None:
        rest = [g for g in config.sidebar_groups if g.name not in (MAIN, LADDER)]
        untouched = done.get("sidebar") and [g.name for g in rest] == ["tags", "metadata", "labels", "primitives"]
        config.sidebar_groups = None if untouched else rest
    if done.get("active") and config.active_fields is not None and list(config.active_fields.paths) == done["active"]:
        config.active_fields = None
    scheme = config.color_scheme
    if done.get("colours") and scheme is not None and list(scheme.fields or []) == _colours(fields):
        config.color_scheme = None
    dataset.save()
    if done.get("workspace") and WORKSPACE in dataset.list_workspaces():
        dataset.delete_workspace(WORKSPACE)
    there = dataset.list_indexes()
    for name in _indexed(fields):
        if name in there:
            dataset.drop_index(name)


def workspace() -> Any:
    """The grid on the left, the panel on the right."""
    fo = fiftyone()
    grid, panel = fo.Panel(type="Samples", pinned=True), fo.Panel(type=PANEL)
    # Without the active child both sides of the workspace stay blank.
    sides = [fo.Space(children=[p], active_child=p.component_id) for p in (grid, panel)]
    return fo.Space(children=sides, orientation="horizontal", sizes=[0.5, 0.5])


def _indexed(fields: Sequence[str]) -> list[str]:
    """The fields that filters of the panel compare."""
    return [f for f in fields if f in FIRST or f.endswith("_exposed")]


def _colours(fields: Sequence[str]) -> list[dict[str, Any]]:
    """One colour a value for who is exposed and for the partitions, as a colour scheme of the App has them."""
    exposed = {"true": EXPOSED, "false": UNEXPOSED}
    chosen = {f: exposed for f in fields if f.endswith("_exposed")}
    chosen |= {f.removesuffix("_exposed"): PARTITIONS for f in chosen if f.removesuffix("_exposed") in fields}
    chosen |= {f: PARTITIONS for f in ("hsd_existing",) if f in fields}
    return [
        {"path": name, "valueColors": [{"value": value, "color": colour} for value, colour in colours.items()]}
        for name, colours in chosen.items()
    ]


def _without(groups: Sequence[Any], fields: Sequence[str]) -> list[Any]:
    ours = set(fields)
    kept = [g for g in groups if g.name not in (MAIN, LADDER)]
    for group in kept:
        group.paths = [p for p in group.paths or [] if p not in ours]
    return kept


def _groups(fo: Any, fields: Sequence[str]) -> list[Any]:
    main = [f for f in (*FIRST, *SECOND) if f in fields]
    rest = [f for f in fields if f not in main]
    kind = fo.SidebarGroupDocument
    found = [kind(name=MAIN, paths=main, expanded=True)] if main else []
    return found + ([kind(name=LADDER, paths=rest, expanded=False)] if rest else [])
