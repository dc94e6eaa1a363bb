"""HSD: groups. Groups alone: what belongs together and why, as tables and in the grid; no splits, no training."""

from __future__ import annotations

from pathlib import PurePosixPath

import fiftyone.operators as foo
import numpy as np
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset
from fiftyone_hsd.dataset.filters import MOST_IDS
from fiftyone_hsd.errors import EmptyError, HsdError
from fiftyone_hsd.folder.tables import write_table
from fiftyone_hsd.groups import table_of
from fiftyone_hsd.report.wording import many, part, short

from ._corpus_form import corpus_inputs, corpus_settings, has_images
from ._inputs import csv_file, invalid
from ._outputs import notes, path, table
from ._running import LongOperator, skew
from ._stored import report_of

MORE = ("groups", "verdicts", "near_threshold", "descriptor")
"""Settings beyond those of the form's first part."""
MOST_ROWS = 50
"""Rows of each table; the file holds every image."""
TABLES = {
    "sizes": ("Sizes", (("size", "Images in the group"), ("groups", "Groups"), ("images", "Images"))),
    "rules": (
        "Rules",
        (("source", "Source"), ("rule", "Rule"), ("links", "Links"), ("weakest", "Weakest"), ("down", "Turned down")),
    ),
    "weakest": (
        "Doubtful links, the least certain first",
        (("score", "Score"), ("source", "Source"), ("rule", "Rule"), ("pair", "Pair")),
    ),
    "joined": (
        "Images that join a group of the audit",
        (("image", "Image"), ("known", "By"), ("partition", "Its partition"), ("source", "Source"), ("rule", "Rule")),
    ),
}
HEAD = "path,group,evidence,confidence"


class Groups(LongOperator):
    """Find groups alone and show them; samples are not marked, HSD: audit does that."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="groups",
            label="HSD: groups",
            description="Which images belong together and why; no splits, no training, nothing is marked",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
        )

    def __call__(self, sample_collection, *, known=False, show=True, out=None, delegate=False, **settings):
        """Find the groups of a dataset or view.

        Args:
            sample_collection: the dataset or view
            known (False): whether to say which groups of the stored audit these samples join, instead
            show (True): whether the App then shows the groups in the grid
            out (None): a new CSV file (path,group,evidence,confidence)
            delegate (False): whether to queue it for a worker
            **settings: label_field, split_field, groups, group_field, pattern, names, near_copies, near_threshold,
                trust_split, verdicts, descriptor, as `fiftyone_hsd.groups`

        Returns:
            a dict with sizes, rules, doubtful links, the samples of the largest groups, and notes
        """
        params = {**settings, "known": known, "show": show, "out": out and str(out)}
        ctx = {"view": sample_collection.view()}
        return foo.execute_operator(self.uri, ctx, params=params, request_delegation=delegate)

    def resolve_input(self, ctx):
        inputs = types.Object()
        if ctx.dataset is None:
            invalid(inputs, "none", "Open a dataset first")
        else:
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: groups"))

    def work(self, ctx, progress):
        params, view = ctx.params, ctx.target_view()
        out = _out(params)
        if not len(view):
            raise EmptyError("this view shows no image", "a view with images")
        settings = corpus_settings(params)
        fields = {k: settings.pop(k) for k in ("label_field", "split_field")}
        more = {k: params[k] for k in MORE if params.get(k)}
        samples = dataset.from_view(view, **fields, group_field=settings["group_field"])
        known = report_of(ctx) if params.get("known") else None
        found = hsd.groups(samples, known=known, progress=progress, **settings, **more)
        if out is not None:
            write_table(out, table_of(found))
        return result_of(found, samples, out, known)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("said", "")))
        for name, (title, columns) in TABLES.items():
            if result.get(name):
                outputs.view(f"{name}_title", types.HeaderView(label=title, divider=False))
                table(outputs, name, dict(columns))
        notes(outputs, result.get("notes", ()))
        outputs.view("marked", types.Notice(label="Nothing was marked: HSD: audit marks the groups on the samples"))
        path(outputs, result, "out", "Groups")
        return outputs

    def finished(self, ctx, result):
        if ctx.params.get("show", True) and result["ids"]:
            yield ctx.ops.set_view(view=dataset.filtered(ctx.dataset, {"ids": result["ids"]}))
        yield ctx.ops.notify(f"HSD: groups: {result['said']}", variant="success")


def result_of(found, samples, out, known=None):
    """The result as JSON.

    Args:
        found: what `fiftyone_hsd.groups` returned.
        samples: all samples it was asked about; `ids` names those of the groups as FiftyOne does.
        known: the audit whose groups the samples may join.
    """
    shown = dataset.grouping_overview(found.grouping, found.paths)
    notes = [f"{n.text} ({n.count:,})" if n.count else n.text for n in found.grouping.notes if n.level != "info"]
    if found.failures:
        notes.append(f"{many(len(found.failures), 'image')} could not be read, the first: {found.failures[0][1]}")
    n = len(found.paths)
    said = f"{many(shown['several'], 'group')} of two or more hold {part(shown['with_mate'], n)} images"
    if found.abstained:
        said = "no source says anything about these images: no group is known"
    elif not shown["several"]:
        said = "no group of two or more images was found, which does not mean that there is none"
    joined = _joined(found, known)
    if joined:
        said = f"{part(len(found.joined), n)} images join a group of the audit; {said}"
    return {
        "said": said,
        "images": n,
        "groups": found.grouping.n_groups,
        "largest": shown["largest"],
        "sizes": [{"size": _span(r["low"], r["high"]), **r} for r in shown["sizes"]],
        "rules": [{**r, "weakest": _score(r["weakest"]), "down": r["turned_down"]} for r in shown["rules"]],
        "weakest": [
            {**r, "score": _score(r["score"]), "pair": " · ".join(_short(p) for p in r["pair"])}
            for r in shown["weakest"]
        ],
        "joined": joined[:MOST_ROWS],
        "notes": [short(text, 400) for text in notes[:20]],
        "ids": _ids(found, samples),
        "out": str(out) if out else "",
    }


def _ids(found, samples):
    """Ids of the images with a mate, group by group, the largest first, as many as one view shows."""
    place = {**dict(zip(samples.names, samples.ids, strict=True)), **{i: i for i in samples.ids}}
    codes, sizes = found.grouping.codes, found.grouping.sizes
    known = np.flatnonzero(codes >= 0)
    rows = known[sizes[codes[known]] > 1]
    order = rows[np.lexsort((rows, codes[rows], -sizes[codes[rows]]))][:MOST_IDS]
    return [place[found.paths[k]] for k in order.tolist()]


def _joined(found, known):
    names = dict(zip(known.samples.ids, known.samples.names, strict=True)) if known is not None else {}
    return [
        {
            "image": _short(j.path),
            "known": _short(names.get(j.known, j.known)),
            "partition": j.partition or "none",
            "source": f"{j.source} ({j.score:.3f})",
            "rule": j.rule,
        }
        for j in found.joined
    ]


def _form(ctx, inputs):
    view = ctx.target_view()
    if skew():
        inputs.view("skew", types.Warning(label=skew()))
    if not has_images(inputs, view):
        return
    corpus_inputs(ctx, inputs, view, "groups need none")
    text = "Smallest agreement of near copies (0 to 1; empty: calibrated on copies made on purpose)"
    inputs.float("near_threshold", label=text, min=0.0, max=1.0)
    if dataset.stored_overview(ctx.dataset) is not None:
        text = "Say instead which groups of the stored audit these images join (for new images, before they are used)"
        inputs.bool("known", label=text, default=False)
    inputs.bool("show", label="Show the groups in the grid, the largest first", default=True)
    inputs.str("out", label=f"CSV file on the machine that runs FiftyOne ({HEAD}; optional)")
    try:
        _out(ctx.params)
    except HsdError as error:
        invalid(inputs, "out_error", error)


def _out(params):
    """The CSV file to write, None if none is wanted; only groups of an earlier run are overwritten."""
    return csv_file(params["out"], HEAD) if params.get("out") else None


def _span(low, high):
    return f"{low}" if low >= high else f"{low} to {high}"


def _score(value):
    return "" if value is None else f"{value:.3f}"


def _short(path):
    return short(PurePosixPath(path).name, 60)
