"""What operators share that start from the stored audit of a dataset."""

from __future__ import annotations

from dataclasses import replace

from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.places import cache_folder
from fiftyone_hsd.report import write
from fiftyone_hsd.report.stored import load_report, store_report, stored_path

from ._inputs import invalid


def report_of(ctx, judged=False):
    """The whole report of the stored audit.

    Args:
        judged: with the groups and exposure that the kept verdicts leave; its scores are those of the audit.

    Raises:
        InputError: the dataset holds none.
    """
    found = None if ctx.dataset is None else dataset.judged_report(ctx.dataset)
    if found is None:
        raise InputError("this dataset holds no audit", advice="run HSD: audit first")
    if not judged or not dataset.verdicts(ctx.dataset):
        return found
    grouping = dataset.groups_after(ctx.dataset)
    near = ((e.nearest_train, e.nearest_similarity) for e in found.exposures)
    pairs = zip((exposure(p, grouping) for p in found.plans), near, strict=True)
    exposures = tuple(replace(e, nearest_train=n, nearest_similarity=s) for e, (n, s) in pairs)
    return replace(found, grouping=grouping, exposures=exposures)


def audited(ctx, report):
    """The dataset, or the view of it that was audited."""
    whole = dataset.images(ctx.dataset)
    return ctx.dataset if len(whole) == len(report.samples) + len(report.failures) else whole.exists("hsd_group")


def folder_of(ctx, report):
    """A folder of this machine with the stored audit's files, for verbs that start from one; it keeps the alias key."""
    folder = _folder(ctx)
    if stored_path(folder).is_file() and _same(load_report(folder), report):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    write(report, folder)
    store_report(report, folder)
    return folder


def training_folder(ctx):
    """The folder of this machine with a dataset's training runs, finished ones and checkpoints of others."""
    return _folder(ctx) / "training"


def state_folder(ctx):
    """The folder of this machine with what a dataset's images were read for before."""
    return _folder(ctx) / ".hsd"


def _folder(ctx):
    return cache_folder() / "datasets" / str(ctx.dataset._doc.id)


def _same(one, other):
    plans = [[p.digest for p in r.plans] for r in (one, other)]
    return plans[0] == plans[1] and one.samples.ids == other.samples.ids and one.versions == other.versions


def stale_notes(ctx):
    """What a result that starts from the stored audit has to say about changes since; calls by SDK see no form."""
    stale = dataset.stale(ctx.dataset)
    return [f"{stale}; the numbers speak of the images as they were"] if stale else []


def needs_audit(ctx, inputs):
    """Whether there is no stored audit; the form then says so and cannot be executed."""
    if ctx.dataset is not None and dataset.stored_overview(ctx.dataset) is not None:
        stale = dataset.stale(ctx.dataset)
        if stale:
            inputs.view("stale", types.Warning(label=stale))
        return False
    invalid(inputs, "none", "This dataset holds no audit yet: run HSD: audit first")
    return True
