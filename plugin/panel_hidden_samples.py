"""Panel "Hidden samples": shows the stored audit of the dataset and filters the grid. It computes nothing."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types
from fiftyone.operators.categories import Categories

from fiftyone_hsd import dataset
from fiftyone_hsd.errors import HsdError
from fiftyone_hsd.report.wording import many, shown

from . import drawing
from .blocks import Actions, Head
from .tabs import tabs

NAME = "hsd_hidden_samples"
FIRST = "leaks"
NARROW = {"grid": {"sx": {"gridTemplateColumns": "minmax(0, 1fr)"}}}
"""The App lets the widest row decide the width; text would run over the right edge of a narrow panel."""
EVERY = 4000
"""Milliseconds after which the panel looks again, while something runs."""
NONE = "There is no image to show for this"
GONE = "Its marks are gone: run HSD: audit again"
MOST = 1e6
"""No slide reaches it; what is no number is not below it either."""
SLIM = {"tab": {"sx": {"minWidth": 0, "minHeight": 48, "padding": "8px 10px"}}}
"""Seven tabs beside the images."""


class HiddenSamples(foo.Panel):
    """The stored audit: verdict, then one tab a question."""

    @property
    def config(self):
        return foo.PanelConfig(
            name=NAME,
            label="Hidden samples",
            icon="hub",
            surfaces="grid",
            category=Categories.CURATE,
            help_markdown="What the stored audit found; a click on a bar, row or button filters the grid",
        )

    def on_load(self, ctx):
        self._fill(ctx)

    def on_change_dataset(self, ctx):
        self._fill(ctx)

    def on_refresh(self, ctx):
        self._fill(ctx)

    def on_tick(self, ctx):
        """While something runs, in whatever process: how far it is, and when it is done, what it left."""
        self._fill(ctx)
        if not dataset.is_running(ctx.dataset):
            ctx.ops.reload_dataset()

    def on_tab(self, ctx):
        self._choose(ctx, "tab", ctx.params.get("value"))

    def on_choice(self, ctx):
        self._choose(ctx, str(ctx.params.get("path") or ""), ctx.params.get("value"))

    def on_show(self, ctx):
        """A click: the grid shows what the stored audit says this bar, row or button holds."""
        found = drawing.click(self._blocks(ctx), ctx.params)
        if found is None:
            ctx.ops.notify(NONE, variant="info")
            return
        try:
            if found.wanted.get("everything"):
                ctx.ops.clear_view()
                return
            lost = dataset.missing(ctx.dataset, found.wanted)
            view = None if lost else dataset.filtered(ctx.dataset, found.wanted)
        except HsdError as error:
            ctx.ops.notify(shown(str(error)), variant="error")
            return
        if view is None or not view:
            # An empty grid would not say whether nothing is there or nothing is marked any more.
            if lost or dataset.changed_since(ctx.dataset):
                ctx.ops.notify(GONE, variant="warning")
            else:
                ctx.ops.notify(NONE, variant="info")
            return
        ctx.ops.set_view(view)
        fields = [f for f in found.fields if ctx.dataset.has_field(f)]
        if fields:
            ctx.ops.set_active_fields(fields)

    def on_operator(self, ctx):
        """A button that opens an operator's form."""
        name, index = ctx.params.get("block"), ctx.params.get("idx")
        for block in self._blocks(ctx):
            if isinstance(block, Actions) and block.name == name and index in range(len(block.operators)):
                _, operator, params = block.operators[index]
                self._ask(ctx, operator, dict(params))

    def on_audit(self, ctx):
        self._ask(ctx, "audit")

    def on_effects(self, ctx):
        self._ask(ctx, "effects")

    def _ask(self, ctx, operator, params=None):
        """Open an operator's form; what it left is drawn when it is done."""
        uri = f"{self.plugin_name}/{operator}"
        ctx.prompt(uri, params=params, on_success=self.on_refresh, on_error=self.on_refresh)

    def render(self, ctx):
        panel = types.Object()
        state = dataset.status(ctx.dataset)
        if state.kind == "stored":
            self._stored(ctx, panel, state)
        else:
            self._waiting(panel, state)
            drawing.draw(panel, self._blocks(ctx), self)
        grid = types.GridView(orientation="vertical", gap=1, pad=2, componentsProps=NARROW)
        return types.Property(panel, view=grid)

    def _waiting(self, panel, state):
        """Nothing to show yet: why, and what can be done."""
        said = {
            "none": (
                "info",
                "This dataset has not been audited",
                "The audit finds groups of images that are not independent.",
            ),
            "running": ("info", "An audit is running", f"{state.words}. This panel fills when it is done."),
            "failed": ("error", "The audit failed", state.words),
            "interrupted": ("warning", "The audit was interrupted", state.words),
            "unfinished": ("warning", "The audit is not complete", f"{state.words}; run it again, or HSD: undo."),
        }
        severity, label, text = said[state.kind]
        panel.view("status", types.AlertView(severity=severity, label=label, description=shown(text)))
        row = panel.h_stack("start", gap=1)
        if state.kind == "running":
            self._look_again(panel)
        else:
            row.btn("audit", label="Run HSD: audit", on_click=self.on_audit, variant="contained")
        row.btn("refresh", label="Refresh", on_click=self.on_refresh, variant="outlined")

    def _stored(self, ctx, panel, state):
        overview = dataset.stored_overview(ctx.dataset)
        panel.view("verdict", types.HeaderView(label="Verdict", description=shown(overview["verdict"]), divider=False))
        if state.words:
            kind = "info" if " is running" in state.words else "warning"
            panel.view("status", types.AlertView(severity=kind, label=shown(state.words)))
            if kind == "info":
                self._look_again(panel)
                row = panel.h_stack("again", gap=1)
                row.btn("refresh", label="Refresh", on_click=self.on_refresh, variant="outlined")
        stale = dataset.stale(ctx.dataset)
        if stale:
            text = "Numbers and filters speak of the images as they were. Run HSD: audit again."
            panel.view("stale", types.AlertView(severity="warning", label=stale, description=text))
        self._verdicts(ctx, panel)
        self._notes(panel, overview)
        there, chosen = tabs(), self._tab(ctx)
        view = types.TabsView(variant="scrollable", componentsProps=SLIM)
        for name, module in there.items():
            view.add_choice(name, label=module.TITLE)
        panel.enum("tab", view.values(), default=chosen, view=view, on_change=self.on_tab)
        drawing.draw(panel, self._blocks(ctx), self)

    def _look_again(self, panel):
        panel.view("timer", types.TimerView(interval=EVERY, on_interval=self.on_tick))

    def _verdicts(self, ctx, panel):
        """After verdicts: which numbers are the audit's, and where to get those of now."""
        changed = dataset.changed_by_verdicts(ctx.dataset)
        if not changed.images:
            return
        label = "Verdict, bars and counts are the audit's; filters and colours follow the verdicts of reviewers"
        against = f"{many(changed.verdicts, 'verdict')} against its groups changed the marks of"
        text = f"Since the audit {against} {many(changed.images, 'image')}."
        panel.view("judged", types.AlertView(severity="info", label=label, description=text))
        row = panel.h_stack("judged_row", gap=1)
        row.btn("effects", label="Numbers after the verdicts", on_click=self.on_effects, variant="outlined")

    def _notes(self, panel, overview):
        for kind, severity in (("problems", "error"), ("not_evaluated", "info")):
            lines = overview[kind]
            if lines:
                label = {"problems": "To be looked at", "not_evaluated": "Not evaluated"}[kind]
                panel.view(
                    kind, types.AlertView(severity=severity, label=label, description=shown(" · ".join(lines[:6])))
                )

    def _tab(self, ctx):
        chosen = ctx.panel.get_state("tab")
        return chosen if isinstance(chosen, str) and chosen in tabs() else FIRST

    def _blocks(self, ctx):
        overview = dataset.stored_overview(ctx.dataset)
        if overview is None:
            # What was found without an audit has no tabs to choose from yet, so it stands one below the other.
            found = {"label": "", **dataset.stored_findings(ctx.dataset)}
            there = {name: module for name, module in tabs().items() if name in found}
            state = _state(ctx)
            return [b for module in there.values() for b in (Head(module.TITLE), *module.tab(found, state))]
        running = dataset.status(ctx.dataset).words if dataset.is_running(ctx.dataset) else ""
        return tabs()[self._tab(ctx)].tab({**overview, "running": running}, _state(ctx))

    def _choose(self, ctx, name, value):
        ctx.panel.set_state(name, value)
        self._fill(ctx)

    def _fill(self, ctx):
        """Send the plots and tables of the chosen tab."""
        for name, value in drawing.data(self._blocks(ctx)).items():
            ctx.panel.set_data(name, value)


def _state(ctx):
    """The panel's state as far as a tab can use it: a browser, or whoever asks by REST, may send anything."""
    state = ctx.panel.state._data
    known = state.items() if isinstance(state, dict) else ()
    return {k: v for k, v in known if isinstance(v, str) or (isinstance(v, (int, float)) and abs(v) < MOST)}
