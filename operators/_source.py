"""What operators share that look at labelled images with groups: those of the stored audit, or of the form."""

from __future__ import annotations

from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.narrowing import narrowed
from fiftyone_hsd.report.wording import many

from ._corpus_form import corpus_inputs, corpus_settings, has_images, label_input
from ._inputs import invalid
from ._stored import report_of

WITHOUT = "nothing can be said about classes"


def has_audit(ctx):
    """Whether the dataset holds an audit whose groups are to be used."""
    return ctx.dataset is not None and dataset.stored_overview(ctx.dataset) is not None


def source_inputs(ctx, inputs, view):
    """Label and groups; whether there is anything to work on."""
    why = dataset.storable(view)
    if why:
        invalid(inputs, "unstorable", f"Nothing can be marked here: {why}")
        return False
    if not has_images(inputs, view):
        return False
    if not dataset.label_fields(view)[0]:
        invalid(inputs, "no_labels", f"No field names one class an image: {WITHOUT}")
        return False
    if not has_audit(ctx):
        corpus_inputs(ctx, inputs, view, WITHOUT)
        return True
    label_input(inputs, view, WITHOUT)
    groups = dataset.stored_overview(ctx.dataset)["groups"]
    said = dataset.verdicts(ctx.dataset)
    text = f"Groups: {groups['groups']:,} of the stored audit"
    text += f", after {many(len(said), 'verdict')}" if said else ""
    inputs.view("groups_known", types.Notice(label=text))
    stale = dataset.stale(ctx.dataset)
    if stale:
        inputs.view("stale", types.Warning(label=stale))
    return True


def source_of(ctx, view, verb, columns=()):
    """(what the verb starts from, settings of the form that are then left to give).

    Args:
        columns: fields of the dataset that become columns of the samples.

    Raises:
        StaleError: the stored audit does not hold all images of the view.
    """
    settings = corpus_settings(ctx.params)
    if not has_audit(ctx):
        return view, settings
    report = report_of(ctx, judged=True)
    read = {k: report.settings.get(k) for k in ("label_field", "split_field")}
    read["label_field"] = settings["label_field"] or read["label_field"]
    samples = dataset.from_view(view, **read, metadata=columns)
    more = {"source": f"fiftyone:{ctx.dataset.name}", "verb": verb, "group_field": None}
    return narrowed(report, samples, {**read, **more}), {}


def replace_input(ctx, inputs, what, name):
    """The question whether changed marks of earlier results go, where there are earlier results."""
    if what in dataset.recorded(ctx.dataset):
        text = f"Marks of the earlier {name} are replaced. Also where somebody changed them since?"
        inputs.bool("force", label=text, default=False)
