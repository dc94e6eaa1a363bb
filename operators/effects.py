"""HSD: effects. The numbers of the stored audit anew from the runs it holds, with the groups after all verdicts.

Asked for, also how much the inflation depends on the groups.
"""

from __future__ import annotations

import dataclasses
import math

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.recompute import judged
from fiftyone_hsd.report import lookup
from fiftyone_hsd.report.sections import sensitivity as section
from fiftyone_hsd.report.wording import many
from fiftyone_hsd.sensitivity import sensitivity

from ._outputs import notes, table
from ._running import LongOperator
from ._stored import needs_audit, report_of, stale_notes, state_folder

COLUMNS = {
    "model": "Model",
    "condition": "Condition",
    "exposed": "Exposed",
    "score": "Score",
    "change": "Change from intact",
    "before": "In the audit",
}
VARIANTS = {"groups": "Groups", "change": "Inflation at random", "changed": "What was changed"}
NO_RUNS = "scores and inflation: not evaluated, the stored audit holds no model's runs"


class Effects(LongOperator):
    """Scores and inflation after the verdicts; nothing is trained unless asked for, nothing is written."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="effects",
            label="HSD: effects",
            description="Scores and inflation anew from the stored runs, with the groups that the verdicts leave",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, *, sensitivity=False, delegate=False):
        """The numbers of a dataset's stored audit after all verdicts.

        Args:
            sample_collection: the dataset, or a view of it
            sensitivity (False): also how much the inflation depends on the groups; trains a cheap model again
            delegate (False): whether to queue it for a worker

        Returns:
            a dict with the verdict, one row a model and condition, and one a variant of the groups
        """
        ctx, params = {"view": sample_collection.view()}, {"sensitivity": sensitivity}
        return foo.execute_operator(self.uri, ctx, params=params, request_delegation=delegate)

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            inputs.view("said", types.Notice(label=_since(ctx.dataset)))
            if not dataset.stored_overview(ctx.dataset)["ladder"]["models"]:
                inputs.view("no_runs", types.Warning(label=NO_RUNS))
            else:
                text = (
                    "Also how much the inflation depends on the groups: a cheap model is trained again under other "
                    "groups that the same evidence could have given, a few times as long as the audit"
                )
                inputs.bool("sensitivity", label=text, default=False)
        return types.Property(inputs, view=types.View(label="HSD: effects"))

    def work(self, ctx, progress):
        before = report_of(ctx)
        now = report_of(ctx, judged=True)
        (progress or (lambda *_: None))(0, 0, "computing scores and intervals from the stored runs")
        report = judged(now)
        result = result_of(before, report, _since(ctx.dataset))
        result["notes"] = [*stale_notes(ctx), *result["notes"]]
        if ctx.params.get("sensitivity"):
            found = sensitivity(report, state_folder(ctx), progress)
            result.update(_variants(dataclasses.replace(report, effects=(*report.effects, *found))))
        return result

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("verdict", "")))
        outputs.view("since", types.Notice(label=result.get("since", "")))
        table(outputs, "conditions", COLUMNS)
        if result.get("variants"):
            outputs.view("depends", types.Notice(label=result["depends"]))
            table(outputs, "variants", VARIANTS)
        notes(outputs, result.get("notes", ()))
        return outputs

    def finished(self, ctx, result):
        yield ctx.ops.notify(f"HSD: effects: {result['verdict']}", variant="success")


def result_of(before, report, since):
    """The result as JSON.

    Args:
        before: the report as the audit left it.
        report: the same with groups after the verdicts and numbers of these.
    """
    metric = lookup.metric(report)
    there = [c for c in (lookup.EXISTING, *lookup.conditions(report)) if lookup.primary(report, c) is not None]
    models = lookup.models(report) or [""]
    return {
        "verdict": report.verdict,
        "verdict_of_audit": before.verdict,
        "since": since,
        "metric": metric,
        "conditions": [_row(before, report, model, c, metric) for model in models for c in there],
        "notes": [*_torn(report), *([] if models != [""] else [NO_RUNS])],
    }


def _variants(report):
    """The section of the report as JSON: a row a variant of the groups."""
    found = [e for e in report.effects if e.what.startswith(section.PREFIX)]
    rows = [
        {
            "groups": e.what.removeprefix(section.PREFIX),
            "change": _words(report, e.what, {"model": e.model}, "+.3f") or "not evaluated",
            "changed": e.method.partition("; ")[0],
        }
        for e in found
    ]
    lead = section.section(report).lead if found else "The groups have no link that could be dropped"
    return {"depends": f"{section.TITLE}: {lead}", "variants": rows}


def _row(before, report, model, condition, metric):
    rate, n = lookup.exposed_rate(report, condition)
    chosen = {"model": model, "condition": condition, "metric": metric}
    return {
        "model": lookup.model_name(model) if model else "",
        "condition": condition,
        "n": n,
        "exposed": f"{rate:.1%}" if rate == rate else "not evaluated",
        "score": _words(report, "score", chosen, ".3f") if model else "not evaluated",
        "change": _words(report, "inflation", chosen, "+.3f") if model else "",
        "before": _words(before, "inflation", chosen, "+.3f") if model else "",
    }


def _words(report, what, chosen, form):
    """An estimate with its interval, "" if there is none."""
    found = lookup.estimate(lookup.effects(report, what, **chosen))
    if found is None or math.isnan(found.value):
        return "not evaluated" if what == "score" else ""
    if math.isnan(found.low) or math.isnan(found.high):
        return f"{found.value:{form}} (no interval)"
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


def _torn(report):
    """Where the splits, drawn before the verdicts, no longer keep the groups whole."""
    found = lookup.primary(report, lookup.INTACT)
    if found is not None:
        crossing = lookup.crossing(found[0], report.grouping.codes)
        if crossing.groups:
            yield (
                f"the splits were drawn before the verdicts: {many(crossing.groups, 'group')} now lie in several "
                "partitions of the condition intact, so its score is no longer free of them; run HSD: audit again"
            )


def _since(found):
    """What the verdicts did since the audit, in words."""
    said = dataset.verdicts(found)
    changed = dataset.changed_by_verdicts(found)
    if not said:
        return "No verdict is kept: the numbers are those of the audit"
    if not changed.images:
        return f"{many(len(said), 'verdict')} kept, none of which changes a group: the numbers are those of the audit"
    images = many(changed.images, "image")
    return f"{many(changed.verdicts, 'verdict')} against the audit's groups changed the marks of {images}"
