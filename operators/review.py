"""HSD: review. The pairs to judge in the grid, and verdicts from and into a file."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.dataset.filters import MOST_IDS
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.grouping.review import COLUMNS, read_verdicts, write_verdicts
from fiftyone_hsd.judging import judged
from fiftyone_hsd.report.wording import many, part, percent

from ._inputs import csv_file, read_csv_file
from ._running import LongOperator
from ._stored import needs_audit

SHOW, EXPORT, IMPORT, FORGET = "show", "export", "import", "forget"
WAYS = {
    SHOW: "show the pairs that are still to be judged, side by side",
    EXPORT: "write all verdicts into a CSV file",
    IMPORT: "take verdicts from a CSV file",
    FORGET: "drop all verdicts of this dataset",
}


class Review(LongOperator):
    """Pairs and verdicts of the stored audit; judging itself is done in the panel Judge of an opened sample."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="review",
            label="HSD: review",
            description="Show the pairs to judge; take verdicts from a file or write them into one",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=False,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, *, what=SHOW, file=None):
        """Pairs and verdicts of a dataset's stored audit.

        Args:
            sample_collection: the dataset, or a view of it
            what ("show"): "show", "export", "import" or "forget"
            file (None): the CSV file (path_a,path_b,verdict,author,time) of an export or import

        Returns:
            a dict with the number of verdicts, the estimates, and the ids of the pairs to judge
        """
        params = {"what": what, "file": file and str(file)}
        return foo.execute_operator(self.uri, {"view": sample_collection.view()}, params=params)

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            ways = types.RadioGroup()
            for value, label in WAYS.items():
                ways.add_choice(value, label=label)
            inputs.enum("what", ways.values(), label="What to do", default=SHOW, view=ways)
            if ctx.params.get("what") in (EXPORT, IMPORT):
                inputs.str("file", label="CSV file on the machine that runs FiftyOne", required=True)
        return types.Property(inputs, view=types.View(label="HSD: review"))

    def work(self, ctx, progress):
        what, found = str(ctx.params.get("what") or SHOW), ctx.dataset
        if what not in WAYS:
            raise InputError(f"what = {what!r}", ", ".join(WAYS))
        changed, read = 0, []
        if what == EXPORT:
            write_verdicts(csv_file(ctx.params.get("file"), ",".join(COLUMNS)), dataset.verdicts(found))
        elif what == IMPORT:
            progress(0, 0, "reading the verdicts")
            read = read_verdicts(read_csv_file(ctx.params.get("file")))
            changed = dataset.add_verdicts(found, read)
        elif what == FORGET:
            dataset.forget_verdicts(found)
        return _result(found, what, changed, read)

    def outputs(self, result):
        outputs = types.Object()
        for i, line in enumerate(result.get("said", ())):
            outputs.view(f"said_{i}", types.Notice(label=line))
        return outputs

    def finished(self, ctx, result):
        yield from super().finished(ctx, result)
        if result["what"] == SHOW and result["pairs"]:
            yield ctx.ops.set_view(view=dataset.filtered(ctx.dataset, {"ids": result["pairs"]}))
        yield ctx.ops.notify(f"HSD: review: {result['said'][0]}", variant="success")


def _result(found, what, changed, read):
    """The result as JSON; `read` are the verdicts that a file held."""
    verdicts, queue = dataset.verdicts(found), dataset.stored_queue(found)
    waiting = dataset.waiting(found)
    # A view shows each sample once; pairs that share one with an earlier pair wait for the next time.
    ids = {}
    for pair in waiting:
        if pair.a not in ids and pair.b not in ids and len(ids) < MOST_IDS - 1:
            ids |= {pair.a: None, pair.b: None}
    said = [f"{many(len(verdicts), 'verdict')} kept, {many(len(waiting), 'pair')} to judge"]
    for kind, name in (("link", "random links are right"), ("non-link", "random pairs that nothing links are mates")):
        result = judged(queue, verdicts, kind)
        if result.n:
            between = f"{percent(result.low)} to {percent(result.high)}"
            said.append(f"{part(result.k, result.n)} {name} (95 % interval {between})")
    there = dataset.alive(found, {name for v in read for name in (v.path_a, v.path_b)})
    strange = sum(not {v.path_a, v.path_b} <= there for v in read)
    if strange:
        words = "verdicts name no sample of this dataset; ids are needed"
        said.append(f"{strange:,} of {len(read):,} {words}")
    if changed:
        said.append(f"the marks of {many(changed, 'image')} followed")
    said.append(
        "Open an image and its panel Judge to say what belongs together" if waiting else "Nothing is left to judge"
    )
    return {"what": what, "verdicts": len(verdicts), "changed": changed, "pairs": list(ids), "said": said}
