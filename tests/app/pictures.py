"""Pictures of the whole flow, to be looked at: python -m pytest tests/app/pictures.py -m browser.

Not collected by itself: test_whole_way.py tests the same flow. Pictures lie in tests/artefacts.
"""

from __future__ import annotations

import contextlib
import re

import pytest

from fiftyone_hsd import audit, dataset

pytestmark = [pytest.mark.mongod, pytest.mark.browser]

SIZES = ((1440, 900), (1920, 1080))
DRAWN = "() => [...document.querySelectorAll('[data-cy=panel-content-hsd_judge] img')].every(i => i.naturalWidth > 0)"


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_flow(chromium, server, blank, make_dataset, aside, app_class, size, theme):
    name = f"flow-{theme}-{size[0]}"
    found = aside(lambda: make_dataset(name))
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    context.add_init_script(f"localStorage.setItem('mui-mode', '{theme}')")
    app = app_class(context.new_page(), server, blank)

    def shot(step):
        app.page.wait_for_timeout(1500)
        app.picture(f"flow_{step}_{theme}_{size[0]}x{size[1]}")

    with contextlib.closing(context):
        app.open(name)
        form = app.form("HSD: audit")
        form.get_by_text("a pattern in the file path").click()
        form.get_by_text("Regular expression with a group").wait_for()
        form.get_by_role("textbox").first.fill(r"(?P<group>P\d+_S\d+_F\d+)")
        form.get_by_text(re.compile(r"of the first .* images in \d+ groups")).wait_for()
        shot("1_audit_form")
        if (theme, size) == ("dark", SIZES[0]):
            app.execute(form)
            output = app.output()
            output.get_by_text("share a group with another").first.wait_for()
            shot("2_audit_result")
        else:
            aside(lambda: dataset.write_audit(found, audit(found, seeds=1, pattern=r"(?P<group>P\d+_S\d+_F\d+)")))
        aside(found.reload)
        leak = aside(lambda: dataset.stored_overview(found))["leaks"][0]
        app.open(name, workspace="hsd")
        panel = app.cy("panel-content-hsd_hidden_samples")
        exposed = panel.get_by_role("button", name=f"exposed ({leak['exposed']})", exact=True)
        exposed.wait_for()
        shot("3_leaks")
        exposed.click()
        app.counts(leak["exposed"])
        app.cy("looker").first.wait_for()
        shot("4_exposed")
        for tab, words in (("Groups", "The largest groups"), ("Ladder", "the reference")):
            panel.get_by_role("tab", name=tab).click()
            panel.get_by_text(words).first.wait_for()
            shot(f"5_{tab.lower()}")
        app.page.wait_for_timeout(500)
        sample = aside(lambda: found.match_tags("hsd:existing:exposed").first().id)
        judge = app.opened(name, sample, "hsd_judge")
        judge.get_by_text("Do these belong to one group?").wait_for()
        app.page.wait_for_function(DRAWN)
        shot("6_judge")
        judge.get_by_role("button", name="Not related", exact=True).click()
        judge.get_by_text("1 verdict kept").wait_for()
        app.page.mouse.click(8, size[1] // 2)
        app.cy("modal").wait_for(state="detached")
        panel.get_by_role("tab", name="Groups").click()
        panel.get_by_text("are the audit's").wait_for()
        shot("7_after_a_verdict")
        panel.get_by_role("tab", name="Repair").click()
        panel.get_by_role("button", name="Repair a split", exact=True).click()
        form = app.cy("operators-prompt-modal")
        form.wait_for()
        shot("8_repair_form")
        app.execute(form)
        output = app.output()
        output.get_by_text(re.compile(r"move, .* are set aside")).first.wait_for()
        shot("9_repair_result")
        output.get_by_role("button", name="Done").click()
        form = app.form("HSD: undo")
        form.get_by_text("the audit", exact=True).click()
        shot("A_undo")
