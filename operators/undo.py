"""HSD: undo. Takes every mark of the stored audit off the dataset again."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd import dataset

from ._inputs import invalid
from ._running import LongOperator

WHOSE = {
    "audit": "the audit",
    "repair": "the repaired split",
    "labels": "the label results",
    "controls": "the control experiments",
    "training": "the training runs",
}


class Undo(LongOperator):
    """Remove fields, tags, saved views and the record of the stored audit; everything else stays as it is."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="undo",
            label="HSD: undo",
            description="Remove what the stored audit wrote into this dataset",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.MEDIUM,
            view_target=False,
        )

    def __call__(self, sample_collection, *, what="audit", force=False, delegate=False):
        """Undo what an audit or another verb wrote into a dataset.

        Args:
            sample_collection: the dataset, or a view of it
            what ("audit"): whose marks: "audit", "repair", "labels", "controls" or "training"
            force (False): also drop marks that were changed since
            delegate (False): whether to queue it for a worker

        Returns:
            a dict with the number of samples and the names of what was removed
        """
        ctx = {"dataset": dataset.root(sample_collection)}
        return foo.execute_operator(self.uri, ctx, params={"what": what, "force": force}, request_delegation=delegate)

    def resolve_input(self, ctx):
        inputs = types.Object()
        held = dataset.recorded(ctx.dataset) if ctx.dataset is not None else []
        if not held:
            left = dataset.unrecorded(ctx.dataset) if ctx.dataset is not None else ""
            why = f"no record of ours, but {left}" if left else "no marks of ours: there is nothing to undo"
            invalid(inputs, "none", f"This dataset holds {why}")
        else:
            text = (
                "Fields hsd_..., tags hsd:..., views hsd-... and the stored audit are removed; all else stays as it is"
            )
            inputs.view("notice", types.Notice(label=text))
            whose = types.RadioGroup()
            for name in held:
                whose.add_choice(name, label=WHOSE[name])
            inputs.enum("what", whose.values(), label="Whose marks", default=held[0], view=whose)
            inputs.bool("force", label="Also drop marks that somebody changed since", default=False)
        return types.Property(inputs, view=types.View(label="HSD: undo"))

    def work(self, ctx, progress):
        progress = progress or (lambda *_: None)
        progress(0, 0, "comparing the marks with what was written")
        what = ctx.params.get("what") or "audit"
        removed = dataset.undo(ctx.dataset, what=what, force=bool(ctx.params.get("force")))
        return {
            "what": what,
            "samples": removed.samples,
            "fields": list(removed.fields),
            "tags": list(removed.tags),
            "views": list(removed.views),
        }

    def outputs(self, result):
        outputs = types.Object()
        text = f"Took {len(result.get('fields', ()))} fields, {len(result.get('tags', ()))} tags and "
        text += f"{len(result.get('views', ()))} saved views off {result.get('samples', 0):,} samples"
        outputs.view("said", types.Success(label=text))
        return outputs

    def finished(self, ctx, result):
        yield from super().finished(ctx, result)
        yield ctx.ops.clear_view()
        yield ctx.ops.notify("HSD: undo done", variant="success")
