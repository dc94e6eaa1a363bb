"""Panel "Judge": two images that may belong together, why, and three buttons. It sits beside the opened sample."""

from __future__ import annotations

import getpass
from urllib.parse import quote

import fiftyone.operators as foo
from fiftyone.operators import types
from fiftyone.operators.categories import Categories

from fiftyone_hsd import dataset
from fiftyone_hsd.errors import HsdError
from fiftyone_hsd.judging import judged
from fiftyone_hsd.model import DIFFERENT, SAME, SKIPPED, VERDICTS
from fiftyone_hsd.report.wording import many, part, percent, shown

from . import mates

NAME = "hsd_judge"
BUTTONS = (
    (SAME, "Same group", "contained"),
    (DIFFERENT, "Not related", "outlined"),
    (SKIPPED, "Skip", "outlined"),
)
"""judge_keys.js presses them by these labels."""
KEYS = "Keys: Y same group, N not related, U skip; the arrow keys open other images"


class Judge(foo.Panel):
    """The opened image beside a mate: evidence, and the verdict of whoever looks at it."""

    @property
    def config(self):
        return foo.PanelConfig(
            name=NAME,
            label="Judge",
            icon="balance",
            surfaces="modal",
            category=Categories.CURATE,
            help_markdown="Say whether two images belong to one group. Groups follow at once; verdicts are kept",
        )

    def on_load(self, ctx):
        ctx.panel.set_state("author", ctx.panel.get_state("author") or _author(ctx))
        ctx.panel.set_state("mate", 0)
        self._show(ctx)

    def on_change_current_sample(self, ctx):
        ctx.panel.set_state("mate", 0)
        self._show(ctx)

    def on_name(self, ctx):
        """Show or hide the field for the name of whoever judges."""
        ctx.panel.set_state("naming", not ctx.panel.get_state("naming"))

    def on_other(self, ctx):
        """Another mate of the opened image."""
        ctx.panel.set_state("mate", _number(ctx.panel.get_state("mate")) + 1)
        self._show(ctx)

    def on_next(self, ctx):
        """The next pair that this author has not judged."""
        following = mates.following(ctx.dataset, self._said_by(ctx))
        if following is None:
            ctx.ops.notify("HSD: every pair of the queue is judged", variant="success")
            return
        ctx.ops.open_sample(id=following.a)

    def on_verdict(self, ctx):
        """Keep a verdict; the groups follow."""
        verdict, pair = ctx.params.get("verdict"), self._pair(ctx)
        if pair is None or verdict not in VERDICTS:
            return
        try:
            changed = dataset.add_verdict(ctx.dataset, pair.a, pair.b, verdict, self._said_by(ctx))
        except HsdError as error:
            ctx.ops.notify(shown(str(error)), variant="error")
            return
        words = f"the marks of {many(changed, 'image')} follow" if changed else "no group changes"
        ctx.ops.notify(f"HSD: kept; {words}", variant="success")
        if changed:
            ctx.ops.reload_samples()
        self.on_next(ctx)
        self._show(ctx)

    def render(self, ctx):
        panel = types.Object()
        overview = dataset.stored_overview(ctx.dataset)
        pair = None if overview is None else self._pair(ctx)
        if overview is None:
            panel.view("none", types.AlertView(severity="info", label="This dataset has not been audited"))
        elif pair is None:
            text = "No mate and no similar train image is known for this image"
            panel.view("alone", types.AlertView(severity="info", label=text))
            self._rest(ctx, panel)
        else:
            self._judge(panel, pair)
            self._rest(ctx, panel)
        return types.Property(panel, view=types.GridView(orientation="vertical", gap=1, py=2, px=7))

    def _judge(self, panel, pair):
        panel.view("pair", types.HeaderView(label="Do these belong to one group?", description=shown(pair.why)))
        images = panel.h_stack("images", gap=1, align_x="center")
        images.img("opened", width="210px", alt_text="opened image")
        images.img("mate", width="210px", alt_text="its mate")
        for side, lines in (("this image", pair.here), ("the other", pair.there)):
            label = f"{side}: {' · '.join(lines)}"
            panel.view(side.replace(" ", "_"), types.HeaderView(label="", description=shown(label)))
        if pair.said:
            panel.view("said", types.AlertView(severity="info", label=shown(pair.said)))
        row = panel.h_stack("verdicts", gap=1)
        for verdict, label, variant in BUTTONS:
            row.btn(verdict, label=label, on_click=self.on_verdict, params={"verdict": verdict}, variant=variant)
        panel.view("keys", types.HeaderView(label="", description=KEYS, divider=False))

    def _rest(self, ctx, panel):
        more = panel.h_stack("more", gap=1)
        if mates.count(ctx.dataset, _current(ctx)) > 1:
            more.btn("other", label="Another mate of this image", on_click=self.on_other, variant="outlined")
        more.btn("next", label="Next uncertain pair", on_click=self.on_next, variant="outlined")
        # A text field takes the focus by itself, and with it the keys: it is there only while a name is changed.
        if ctx.panel.get_state("naming"):
            panel.str(
                "author", label="Verdicts by", default=_author(ctx), view=types.TextFieldView(label="Verdicts by")
            )
            more.btn("name", label="Keep this name", on_click=self.on_name, variant="outlined")
        else:
            label = f"Verdicts by {shown(self._said_by(ctx))}: change"
            more.btn("name", label=label, on_click=self.on_name, variant="outlined")
        said, queue = dataset.verdicts(ctx.dataset), dataset.stored_queue(ctx.dataset)
        there = len(dataset.stored_queue(ctx.dataset, there=True))
        mine = len({(v.path_a, v.path_b) for v in said if v.author == self._said_by(ctx)})
        text = f"{many(len(said), 'verdict')} kept, {mine:,} pairs by you, {many(there, 'pair')} in the queue"
        lines = [
            _estimate("Precision of the links", judged(queue, said, "link"), "random links were confirmed"),
            _estimate("Missed mates", judged(queue, said, "non-link"), "random pairs that nothing links are mates"),
        ]
        panel.view("progress", types.HeaderView(label=text, description=" ".join(lines)))

    def _said_by(self, ctx):
        return str(ctx.panel.get_state("author") or _author(ctx)).strip()[:80] or "anonymous"

    def _pair(self, ctx):
        return mates.pair(ctx.dataset, _current(ctx), _number(ctx.panel.get_state("mate")), self._said_by(ctx))

    def _show(self, ctx):
        """The two pictures; the App serves them itself, by the paths that the dataset holds."""
        pair = self._pair(ctx)
        if pair is not None:
            paths = {"opened": pair.paths[0], "mate": pair.paths[1]}
            ctx.panel.set_state("images", {k: f"/media?filepath={quote(p, safe='')}" for k, p in paths.items()})


def _estimate(name, found, what):
    if not found.n:
        return f"{name}: not evaluated yet."
    return f"{name}: {part(found.k, found.n)} {what}, 95 % interval {percent(found.low)} to {percent(found.high)}."


def _current(ctx):
    """Id of the opened sample, "" if none is, it is gone, or what came is no id."""
    given = ctx.current_sample
    return given if isinstance(given, str) and dataset.alive(ctx.dataset, [given]) else ""


def _number(value):
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _author(ctx):
    user = getattr(ctx, "user", None)
    name = getattr(user, "name", None) or getattr(ctx, "user_id", None)
    if name:
        return str(name)
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "anonymous"
