"""Everything that somebody does who never opens a shell, in one go: audit, leaks, judging, repair, undo."""

from __future__ import annotations

import re

import pytest

from fiftyone_hsd import dataset

DRAWN = "() => [...document.querySelectorAll('[data-cy=panel-content-hsd_judge] img')].every(i => i.naturalWidth > 0)"

pytestmark = [pytest.mark.mongod, pytest.mark.browser]


def test_audit_leaks_judging_repair_and_undo(app, make_dataset, aside):
    found = aside(lambda: make_dataset("whole-way", every=2))
    before = aside(lambda: found.first().to_dict())
    app.open("whole-way")
    form = app.form("HSD: audit")
    form.get_by_text("a pattern in the file path").click()
    form.get_by_text("Regular expression with a group").wait_for()
    form.get_by_role("textbox").first.fill(r"(?P<group>P\d+_S\d+_F\d+)")
    form.get_by_text(re.compile(r"of the first .* images in \d+ groups")).wait_for()
    app.execute(form)
    output = app.output()
    output.get_by_text("share a group with another").first.wait_for()
    output.get_by_role("button", name="Done").click()
    aside(found.reload)
    shown = aside(lambda: dataset.stored_overview(found))
    leak = shown["leaks"][0]

    app.open("whole-way", workspace="hsd")
    panel = app.cy("panel-content-hsd_hidden_samples")  # the workspace has it open
    panel.get_by_role("button", name=f"exposed ({leak['exposed']})", exact=True).click()
    app.counts(leak["exposed"])
    app.picture("whole_way_exposed")

    exposed = aside(lambda: found.match_tags("hsd:existing:exposed").first().id)
    judge = app.opened("whole-way", exposed, "hsd_judge")
    judge.get_by_text("Do these belong to one group?").wait_for()
    app.page.wait_for_function(DRAWN)
    app.picture("whole_way_judge")
    judge.get_by_role("button", name="Not related", exact=True).wait_for()
    app.page.keyboard.press("n")
    judge.get_by_text("1 verdict kept").wait_for()
    verdicts = aside(lambda: dataset.verdicts(found))
    assert [v.verdict for v in verdicts] == ["different"]
    groups = aside(lambda: dict(zip(*found.values(["id", "hsd_group"]), strict=True)))
    assert groups[verdicts[0].path_a] != groups[verdicts[0].path_b]
    app.page.mouse.click(8, 450)
    app.cy("modal").wait_for(state="detached")

    panel.get_by_role("tab", name="Repair").click()
    panel.get_by_role("button", name="Repair a split", exact=True).click()
    form = app.cy("operators-prompt-modal")
    form.wait_for()
    app.execute(form)
    output = app.output()
    output.get_by_text(re.compile(r"move, .* are set aside")).first.wait_for()
    output.get_by_role("button", name="Done").click()
    panel.get_by_text("Why images change").wait_for()  # the tab follows what its button started
    aside(found.reload)
    places = {}
    for group, place in aside(lambda: list(zip(*found.values(["hsd_group", "hsd_repaired"]), strict=True))):
        places.setdefault(group, set()).add(place)
    assert all(len(p - {"unused"}) <= 1 for p in places.values())

    for whose in ("the repaired split", "the audit"):
        form = app.form("HSD: undo")
        form.get_by_text(whose, exact=True).click()
        app.execute(form)
        output = app.output()
        output.get_by_text("saved views off").wait_for()
        output.get_by_role("button", name="Done").click()
    aside(found.reload)
    after = aside(lambda: found.first().to_dict())
    assert {k: v for k, v in after.items() if k != "last_modified_at"} == {
        k: v for k, v in before.items() if k != "last_modified_at"
    }
    assert app.errors() == []
