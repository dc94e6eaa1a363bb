"""HSD: stop. Ends what is running on the dataset, wherever it runs."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.errors import InputError

from ._inputs import invalid

NOTHING = "Nothing of ours is running on this dataset"


class Stop(foo.Operator):
    """Ask a running audit, training or other work to stop; it may run in the App, in Python or by a worker."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="stop",
            label="HSD: stop",
            description="Stop what is running on this dataset; finished parts are kept where work can go on",
            dynamic=True,
            risk_level=types.RiskLevel.LOW,
        )

    def __call__(self, sample_collection):
        """Stop what is running on a dataset.

        Args:
            sample_collection: the dataset, or a view of it

        Returns:
            a dict that says what was asked to stop
        """
        return foo.execute_operator(self.uri, {"dataset": dataset.root(sample_collection)})

    def resolve_input(self, ctx):
        inputs = types.Object()
        if ctx.dataset is None or not dataset.is_running(ctx.dataset):
            invalid(inputs, "none", NOTHING)
        else:
            inputs.view("said", types.Notice(label=dataset.status(ctx.dataset).words))
        return types.Property(inputs, view=types.View(label="HSD: stop"))

    def execute(self, ctx):
        words = "" if ctx.dataset is None else dataset.status(ctx.dataset).words
        if ctx.dataset is None or not dataset.ask_to_stop(ctx.dataset):
            raise InputError(NOTHING)
        return {"said": f"Asked to stop: {words}"}

    def resolve_output(self, ctx):  # noqa: ARG002 - FiftyOne's signature
        outputs = types.Object()
        outputs.str("said", label="", view=types.LabelValueView(read_only=True))
        return types.Property(outputs, view=types.View(label="HSD: stop"))
