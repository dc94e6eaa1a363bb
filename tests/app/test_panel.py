"""The panel "Hidden samples" in the browser: every tab, bars, rows and buttons, and the words for what is not there."""

from __future__ import annotations

import re

import pytest

from fiftyone_hsd import audit, dataset

pytestmark = [pytest.mark.mongod, pytest.mark.browser]

PANEL = "hsd_hidden_samples"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"
"""Files of one field of view are one group here, so that some test images stay unexposed."""


def audited(make_dataset, name):
    """A dataset with a stored audit and the audit's report; a part of the published test images stays unexposed."""
    found = make_dataset(name)
    report = audit(found, seeds=1, pattern=FIELD_OF_VIEW)
    dataset.write_audit(found, report)
    return found, report


def test_every_tab_filters_the_grid(app, make_dataset, aside):
    _, report = aside(lambda: audited(make_dataset, "panel"))
    exposure = report.exposures[0]
    rows = report.plans[0].partition == "test"
    exposed, n = int(exposure.exposed[rows].sum()), int(rows.sum())
    app.open("panel")
    panel = app.panel(PANEL)
    panel.get_by_text(f"{exposed} of {n}").first.wait_for()
    panel.get_by_text(report.verdict[:40]).wait_for()
    panel.get_by_role("button", name=f"exposed ({exposed})", exact=True).click()
    app.counts(exposed)
    panel.get_by_role("button", name=f"unexposed ({n - exposed})", exact=True).click()
    app.counts(n - exposed)
    panel.get_by_role("button", name="everything", exact=True).click()
    app.counts(len(report.samples))
    app.bar(panel, 0, 0)
    # The most exposed class stands first; among equals the order of the class list decides.
    per_class = [(int((rows & (report.samples.labels == k)).sum()), k) for k in range(len(report.samples.classes))]
    hit = [int((rows & exposure.exposed & (report.samples.labels == k)).sum()) for _, k in per_class]
    first = max(range(len(hit)), key=lambda k: (hit[k] / per_class[k][0], -k))
    app.counts(hit[first])
    app.picture("panel_leaks")
    wrong = panel.get_by_role("button", name=re.compile(r"^unexposed and wrong \(\d+\)")).first
    k = int(re.search(r"\((\d+)\)", wrong.inner_text())[1])
    wrong.click()
    app.counts(k)
    panel.get_by_role("tab", name="Groups").click()
    panel.get_by_text("The largest groups").wait_for()
    panel.locator("table").nth(1).locator("tbody tr").first.locator("button").click()
    app.counts(int(report.grouping.sizes.max()))
    app.picture("panel_groups")
    panel.get_by_role("tab", name="Ladder").click()
    panel.get_by_text("the reference").wait_for()
    app.picture("panel_ladder")
    panel.get_by_role("button", name=re.compile(r"^random \(\d+\)")).click()
    app.counts(int((report.plan("random").partition == "test").sum()))
    assert app.errors() == []


def test_nothing_yet_running_failed_and_stale_have_their_own_words(app, make_dataset, aside, fo):
    found = aside(lambda: make_dataset("words", every=4))
    app.open("words")
    panel = app.panel(PANEL)
    panel.get_by_text("This dataset has not been audited").wait_for()

    def refreshed():
        panel.get_by_role("button", name="Refresh", exact=True).click()

    run = dataset.running(found, "HSD: audit")
    aside(lambda: run.__enter__())
    refreshed()
    panel.get_by_text("An audit is running").wait_for()
    error = ValueError("the disk is full")
    aside(lambda: run.__exit__(ValueError, error, None))
    refreshed()
    panel.get_by_text("The audit failed").wait_for()
    panel.get_by_text("the disk is full").wait_for()

    def stale():
        dataset.write_audit(found, audit(found, seeds=1, models=("nearest_neighbour",)))
        found.add_sample(fo.Sample(filepath=found.first().filepath))

    aside(stale)
    refreshed()
    panel.get_by_text("Stale: since the audit of this dataset 1 added").wait_for()
    app.picture("panel_stale")
    assert app.errors() == []
