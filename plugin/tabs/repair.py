"""Repair: what a repaired split changes, once there is one; before that, what it would do and the button for it."""

from __future__ import annotations

from fiftyone_hsd.report.wording import many

from ..blocks import Actions, Buttons, Click, Head, Rows, Said

TITLE, ORDER = "Repair", 3
FIELDS = ("hsd_repaired", "hsd_repaired_reason", "hsd_group")


def tab(overview, state):  # noqa: ARG001 - the signature of every tab
    """The stored repair, or the way to one; then report and export."""
    repair = overview.get("repair")
    blocks = [*_stored(repair)] if repair else [*_none(overview)]
    blocks += [Head("Take it away", "Lists, page and digests in a folder; a release has no name of the corpus in it")]
    return [*blocks, Actions("away", [("Write a report", "report", {}), ("Export a release", "export", {})])]


def _none(overview):
    crossing = [leak for leak in overview["leaks"] if leak["condition"] == "existing" and leak["crossing"][0]]
    if crossing:
        leak = crossing[0]
        text = f"{many(leak['crossing'][0], 'group')} cross the split as published."
        yield Said(text, "warning", "A repair moves the fewest images that keep groups whole. Nothing is deleted.")
    elif any(leak["condition"] == "existing" for leak in overview["leaks"]):
        yield Said("No known group crosses the split as published: there is nothing to repair.", "success")
    else:
        yield Said("Not evaluated: there is no published split. The conditions can be used as they are.")
    yield Actions("plan", [("Repair a split", "repair", {}), ("Only show the plan", "repair", {"dry_run": True})])


def _stored(repair):
    text = f"{many(repair['moved'], 'image')} moved, {many(repair['set_aside'], 'image')} set aside"
    proof = "No smaller change exists." if repair["optimal"] else f"At least {repair['least']:,} must change."
    yield Said(text, "success", proof)
    for note in repair["notes"]:
        yield Said(note)
    columns = (("partition", "Partition"), ("before", "Before"), ("after", "After"))
    clicks = [
        Click(f"repaired {r['partition']}", {"equal": {"hsd_repaired": r["partition"]}}, FIELDS)
        for r in repair["sizes"]
    ]
    yield Rows("repaired", columns, repair["sizes"], clicks, "Show the partition")
    yield Head("Why images change")
    buttons = [
        Click(f"{reason} ({n:,})", {"equal": {"hsd_repaired_reason": reason}}, FIELDS)
        for reason, n in repair["reasons"][:8]
    ]
    if repair["views"]:
        buttons += [Click(v.removeprefix("hsd-").replace("-", " "), {"saved": v}, FIELDS) for v in repair["views"]]
    yield Buttons("changes", buttons)
    yield Actions("again", [("Repair again", "repair", {}), ("Undo the repair", "undo", {"what": "repair"})])
