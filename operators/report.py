"""HSD: report. Writes the report of the stored audit into a folder."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd.errors import HsdError, InputError
from fiftyone_hsd.report import write
from fiftyone_hsd.report.stored import store_report

from ._inputs import checked_folder, invalid
from ._running import LongOperator
from ._stored import needs_audit, report_of

OURS = ("report.json", ".hsd")


class Report(LongOperator):
    """report.html, report.json and the CSV files of the stored audit."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="report",
            label="HSD: report",
            description="Write the report of the stored audit: one page, its data and its lists",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, out, *, pictures=True, delegate=False):
        """Write the report of a dataset's stored audit.

        Args:
            sample_collection: the dataset, or a view of it
            out: a new or empty folder, or an earlier report's
            pictures (True): whether the page shows pictures of the corpus
            delegate (False): whether to queue it for a worker

        Returns:
            a dict with the path of the page
        """
        params = {"out": str(out), "pictures": pictures}
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=params, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            inputs.str("out", label="Report folder on the machine that runs FiftyOne", required=True)
            inputs.bool("pictures", label="The page shows pictures of the corpus", default=True)
            try:
                checked_folder(ctx.params.get("out"), OURS)
            except HsdError as error:
                invalid(inputs, "out_error", error)
        return types.Property(inputs, view=types.View(label="HSD: report"))

    def work(self, ctx, progress):
        folder = checked_folder(ctx.params.get("out"), OURS)
        if folder is None:
            raise InputError("no report folder", "an absolute path on the machine that runs FiftyOne")
        found = report_of(ctx)
        progress(0, 0, "writing the report")
        page = write(found, folder, pictures=bool(ctx.params.get("pictures", True)))
        store_report(found, folder)
        return {"report": str(page), "verdict": found.verdict}

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("verdict", "")))
        outputs.str("report", label="Report", view=types.LabelValueView(read_only=True))
        return outputs

    def finished(self, ctx, result):
        yield ctx.ops.notify(f"HSD: report written to {result['report']}", variant="success")
