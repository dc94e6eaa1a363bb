"""The audit through the form, as somebody does who never opens a shell."""

from __future__ import annotations

import contextlib
import re

import pytest

from fiftyone_hsd import dataset

pytestmark = [pytest.mark.mongod, pytest.mark.browser]


def test_audit_from_the_form(app, make_dataset, aside):
    found = aside(lambda: make_dataset("form"))
    app.open("form")
    form = app.form("HSD: audit")
    form.get_by_text("Found: ").wait_for()
    assert re.search(r"Found: .*train \d+", form.inner_text())
    form.get_by_text("a pattern in the file path").click()
    form.get_by_text("Regular expression with a group").wait_for()
    box = form.get_by_role("textbox").first
    box.fill("(?P<group>")
    form.get_by_text("does not compile").wait_for()
    app.expect(form.get_by_role("button", name="Execute", exact=True)).to_be_disabled()
    app.picture("form_bad_pattern")
    box.fill(r"/(?P<group>P\d+)_S")
    form.get_by_text(re.compile(r"of the first .* images in \d+ groups")).wait_for()
    app.picture("form_good_pattern")
    app.execute(form)
    output = app.output()
    output.get_by_text("share a group with another").first.wait_for()
    for word in ("existing", "intact", "random", "Saved views: "):
        assert word in output.inner_text()
    app.picture("result")
    output.get_by_role("button", name="Done").click()
    aside(found.reload)
    views = aside(found.list_saved_views)
    assert "hsd-existing-test-exposed" in views
    groups = aside(lambda: found.values("hsd_group"))
    names = [p.rpartition("/")[2].split("_")[0] for p in aside(lambda: found.values("filepath"))]
    # Files of one patient are one group; copies across patients may join more.
    assert all(len({g for g, n in zip(groups, names, strict=True) if n == name}) == 1 for name in set(names))
    exposed = aside(lambda: len(found.load_saved_view("hsd-existing-test-exposed")))
    app.open("form", view="hsd-existing-test-exposed")
    app.page.wait_for_function(
        "t => document.querySelector('[data-cy=entry-counts]')?.innerText.includes(t)", arg=f"{exposed} samples"
    )
    app.picture("exposed_view")
    assert app.errors() == []


def test_an_error_is_seen(app, make_dataset, fo, aside, tmp_path):
    def broken():
        found = make_dataset("broken", every=60)
        (tmp_path / "no image.jpg").write_text("this is no image")
        found.set_values("filepath", [str(tmp_path / "no image.jpg")] * len(found))
        return len(found)

    count = aside(broken)
    app.page.goto(f"{app.url}/datasets/{app.blank}")
    app.cy("looker").first.wait_for()
    app.page.goto(f"{app.url}/datasets/broken")
    # No picture will be drawn, so the count tells when the dataset is open.
    app.expect(app.cy("entry-counts")).to_contain_text(f"{count} samples", timeout=60_000)
    form = app.form("HSD: audit")
    form.get_by_text("Found: ").wait_for()
    app.execute(form)
    output = app.output()
    output.get_by_text("This could not be done").wait_for()
    assert "none of" in output.inner_text()


def test_work_of_another_process_is_followed_without_a_click(app, make_dataset, aside):
    found = aside(lambda: make_dataset("followed", every=10))
    app.open("followed")
    panel = app.panel("hsd_hidden_samples")
    panel.get_by_text("has not been audited").wait_for()
    with contextlib.ExitStack() as work:
        tell = aside(lambda: work.enter_context(dataset.running(found, "HSD: audit")))
        panel.get_by_role("button", name="Refresh").click()
        for step in (2, 5):
            app.page.wait_for_timeout(2500)  # the status is written at most once in two seconds
            aside(lambda step=step: tell(step, 9, "reading images"))
            panel.get_by_text(f"reading images: {step} of 9").wait_for()
        aside(work.close)
    panel.get_by_text("has not been audited").wait_for()
    assert app.errors() == []
