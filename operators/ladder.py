"""HSD: ladder. The splits from whole groups to single files with their exposure; nothing is trained."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset
from fiftyone_hsd.errors import HsdError
from fiftyone_hsd.report import lookup

from ._corpus_form import DEFAULTS
from ._inputs import checked_folder, invalid, share, whole
from ._outputs import notes, path, table
from ._running import LongOperator
from ._stored import needs_audit, report_of, stale_notes

COLUMNS = {"condition": "Condition", "n": "Test images", "exposed": "Exposed", "crossing": "Groups crossing"}
OURS = ("report.json", ".hsd")


class Ladder(LongOperator):
    """Draw the ladder from the groups of the stored audit, with other seeds, conditions or a sentinel."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="ladder",
            label="HSD: ladder",
            description="Splits from whole groups to single files, with the exposure of each; nothing is trained",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, *, delegate=False, **options):
        """Draw the ladder from a dataset's stored audit.

        Args:
            sample_collection: the dataset, or a view of it
            delegate (False): whether to queue it for a worker
            **options: seeds, conditions, sentinel, validation, out, as `fiftyone_hsd.ladder`

        Returns:
            a dict with one row a condition, and where the splits were written
        """
        if options.get("out"):
            options["out"] = str(options["out"])
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=options, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            inputs.int("seeds", label="Split seeds", default=DEFAULTS.seeds, min=1, max=1000)
            inputs.int("conditions", label="Conditions", default=5, min=2, max=50)
            inputs.float("sentinel", label="Share of groups in no partition", default=0.0, min=0.0, max=0.9)
            inputs.enum("validation", ["cross", "intact"], label="Files of val", default="cross")
            text = "Folder for the splits and their report on the machine that runs FiftyOne (optional)"
            inputs.str("out", label=text)
            try:
                checked_folder(ctx.params.get("out"), OURS)
            except HsdError as error:
                invalid(inputs, "out_error", error)
            if dataset.verdicts(ctx.dataset):
                inputs.view("verdicts", types.Notice(label="The verdicts of reviewers are applied to the groups"))
        return types.Property(inputs, view=types.View(label="HSD: ladder"))

    def work(self, ctx, progress):
        given = ctx.params
        out = checked_folder(given.get("out"), OURS)
        stale = stale_notes(ctx)
        report = hsd.ladder(
            report_of(ctx, judged=True),
            seeds=whole(given, "seeds", DEFAULTS.seeds),
            conditions=whole(given, "conditions", 5),
            sentinel=share(given, "sentinel", 0.0),
            validation=given.get("validation") or "cross",
            out=out,
            progress=progress,
        )
        rows = []
        for condition in (lookup.EXISTING, *lookup.conditions(report)):
            found = lookup.primary(report, condition)
            if found is None:
                continue
            rate, n = lookup.exposed_rate(report, condition)
            crossing = lookup.crossing(found[0], report.grouping.codes)
            shown = f"{rate:.1%}" if rate == rate else "not evaluated"
            of = f"{crossing.groups:,} of {crossing.of_groups:,}"
            rows.append({"condition": condition, "n": n, "exposed": shown, "crossing": of})
        return {
            "verdict": report.verdict,
            "conditions": rows,
            "notes": [*stale, *(n.text for n in report.notes)][:10],
            "splits": str(out / "splits") if out else "",
            "report": str(out / "report.html") if out else "",
        }

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("verdict", "")))
        table(outputs, "conditions", COLUMNS)
        notes(outputs, result.get("notes", ()), kind=types.Notice)
        path(outputs, result, "splits", "Splits")
        path(outputs, result, "report", "Report")
        if not result.get("splits"):
            outputs.view("unwritten", types.Notice(label="Nothing was written: name a folder to keep the splits"))
        return outputs

    def finished(self, ctx, result):
        yield ctx.ops.notify(f"HSD: ladder of {len(result['conditions'])} conditions drawn", variant="success")
