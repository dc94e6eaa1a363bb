"""HSD: audit. The form, one call of `fiftyone_hsd.audit`, the result as a table and as marks on the samples."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset
from fiftyone_hsd.errors import HsdError
from fiftyone_hsd.report import lookup
from fiftyone_hsd.report.wording import many

from ._corpus_form import DEFAULTS, corpus_inputs, corpus_settings, has_images
from ._inputs import checked_folder, invalid, several, whole
from ._outputs import notes, places, table
from ._running import LongOperator, skew

COLUMNS = {
    "condition": "Condition",
    "n": "Test images",
    "exposed": "Exposed",
    "score": "Score",
    "interval": "95 % interval",
}


class Audit(LongOperator):
    """Find hidden groups, measure what they do to a test score, mark the samples."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="audit",
            label="HSD: audit",
            description="Find hidden groups, show what they do to a test score, and draw splits without them",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
        )

    def __call__(self, sample_collection, *, delegate=False, **settings):
        """Run the audit on a dataset or view.

        Args:
            sample_collection: the dataset or view to audit
            delegate (False): whether to queue it for a worker
            **settings: label_field, split_field, group_field, pattern, names, near_copies, trust_split, seeds, models,
                store, force, out

        Returns:
            a dict with the verdict, one row a condition, and the names of what was written
        """
        ctx = {"view": sample_collection.view()}
        return foo.execute_operator(self.uri, ctx, params=settings, request_delegation=delegate)

    def resolve_input(self, ctx):
        inputs = types.Object()
        if ctx.dataset is None:
            invalid(inputs, "none", "Open a dataset first")
        else:
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: audit"))

    def work(self, ctx, progress):
        view = ctx.target_view()
        settings = settings_of(ctx.params)
        out = checked_out(ctx.params.get("out"))
        why = dataset.storable(view)
        report = hsd.audit(view, out=out, progress=progress, **settings)
        written = None
        if ctx.params.get("store", True) and not why:
            written = dataset.write_audit(view, report, force=bool(ctx.params.get("force")), progress=progress)
        return result_of(report, written, out, why)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("verdict", "")))
        table(outputs, "conditions", COLUMNS)
        notes(outputs, result.get("notes", ()))
        places(outputs, result)
        return outputs

    def finished(self, ctx, result):
        yield from super().finished(ctx, result)
        yield ctx.ops.notify(f"HSD: audit of {result['images']:,} images done", variant="success")


def settings_of(params):
    """Settings of `fiftyone_hsd.audit` from the parameters of the form or of an SDK call; forms' defaults included."""
    settings = {**corpus_settings(params), "seeds": whole(params, "seeds", DEFAULTS.seeds)}
    if params.get("models"):
        settings["models"] = several(params, "models")
    return settings


def checked_out(text):
    """The report folder, None if none is wanted."""
    return checked_folder(text, ("report.json", ".hsd"))


def result_of(report, written, out, why):
    """The result as JSON: the verdict, one row a condition, and what was written."""
    problems = [n for n in lookup.all_notes(report) if n.level in ("problem", "not evaluated")]
    notes = [f"{n.text} ({n.count:,})" if n.count else n.text for n in problems]
    if report.failures:
        _, path, reason = report.failures[0]
        notes.insert(0, f"{many(len(report.failures), 'image')} could not be used, the first: {path}: {reason}")
    return {
        "verdict": report.verdict,
        "images": len(report.samples),
        "failures": len(report.failures),
        "groups": report.grouping.n_groups,
        "conditions": [_row(report, c) for c in (lookup.EXISTING, *lookup.conditions(report)) if _has(report, c)],
        "notes": notes[:20] + ([f"Nothing was marked: {why}."] if why else []),
        "fields": list(written.fields) if written else [],
        "tags": list(written.tags) if written else [],
        "views": list(written.views) if written else [],
        "report": str(out / "report.html") if out else "",
    }


def _has(report, condition):
    return lookup.primary(report, condition) is not None


def _row(report, condition):
    rate, n = lookup.exposed_rate(report, condition)
    metric = lookup.metric(report)
    model = (lookup.models(report) or [""])[0]
    found = lookup.effects(report, "score", model=model, condition=condition, metric=metric) if model else []
    score = lookup.estimate(found)
    known = score is not None and score.value == score.value
    bounded = known and score.low == score.low
    words = f"{score.value:.3f} ({metric.replace('_', ' ')}, {lookup.model_name(model)})" if known else "not evaluated"
    return {
        "condition": condition,
        "n": n,
        "exposed": f"{rate:.1%}" if rate == rate else "not evaluated",
        "score": words,
        "interval": f"{score.low:.3f} to {score.high:.3f}" if bounded else "",
    }


def _form(ctx, inputs):
    view = ctx.target_view()
    why = dataset.storable(view)
    for name, text in (("skew", skew()), ("unstorable", why and f"The report is made, but nothing is marked: {why}")):
        if text:
            inputs.view(name, types.Warning(label=text))
    if not has_images(inputs, view):
        return
    corpus_inputs(ctx, inputs, view, "groups and exposure are evaluated, splits and inflation are not")
    label = f"Split seeds (each draws and trains five conditions on {len(view):,} images)"
    inputs.int("seeds", label=label, default=DEFAULTS.seeds, min=1, max=1000)
    inputs.bool("store", label="Mark the samples (fields hsd_..., tags hsd:..., saved views)", default=True)
    if dataset.stored(view) is not None:
        text = "Marks of the earlier audit are replaced. Also where somebody changed them since?"
        inputs.bool("force", label=text, default=False)
    inputs.str("out", label="Report folder on the machine that runs FiftyOne (optional)")
    try:
        checked_out(ctx.params.get("out"))
    except HsdError as error:
        invalid(inputs, "out_error", error)
