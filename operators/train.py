"""HSD: train. The same recipe under every condition of the ladder, from the stored audit's groups; resumable."""

from __future__ import annotations

import importlib.util
import math

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset
from fiftyone_hsd.descriptors._timm_networks import check
from fiftyone_hsd.errors import HsdError, InputError, MissingExtraError
from fiftyone_hsd.report import lookup
from fiftyone_hsd.report.wording import duration, many, shown
from fiftyone_hsd.train import MODELS
from fiftyone_hsd.train_inputs import outlook
from fiftyone_hsd.trainers._recipes import is_network, network_of, weights_digest

from ._corpus_form import DEFAULTS
from ._inputs import INSTALL, invalid, several, whole
from ._outputs import notes, path, table
from ._running import LongOperator
from ._stored import audited, needs_audit, report_of, training_folder

CONDITIONS = {
    "all": "all conditions",
    "endpoints": "the endpoints: intact, random, and the split as published",
    "all,matched": "all conditions, and the matched swap",
}
RECIPE = {
    "steps": "Optimiser steps of each run (0: 20 passes over the images)",
    "batch": "Images in a step (0: as the recipe has it)",
    "size": "Pixels a side (0: as the network has it)",
}
KNOWN = "lite0, vit, resnet50, timm:NAME, timm:NAME@FILE, linear_probe, nearest_neighbour"
MIB = 1 << 20


class Train(LongOperator):
    """Train models under the conditions of the stored audit's ladder; finished runs are never repeated."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="train",
            label="HSD: train",
            description="Train models under every condition of the ladder, several seeds, and mark what they predict",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, *, delegate=False, **options):
        """Train from a dataset's stored audit. What was stopped goes on when it is called again.

        Args:
            sample_collection: the dataset, or a view of it
            delegate (False): whether to queue it for a worker
            **options: models (names joined by commas, or a list), conditions, seeds, dry_run, as `fiftyone_hsd.train`;
                steps, batch, size of the networks' recipe; store, force

        Returns:
            a dict with the runs, the scores with intervals, and the names of what was written
        """
        if isinstance(options.get("models"), (list, tuple)):
            options["models"] = ",".join(several(options, "models"))
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=options, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: train"))

    def work(self, ctx, progress):
        params, plan = ctx.params, []
        asked = settings_of(params)
        check_models(asked["models"])
        source = report_of(ctx, judged=True)
        dry_run = bool(params.get("dry_run"))
        announce = plan.extend if dry_run else None
        folder = training_folder(ctx)
        report = hsd.train(source, out=folder, dry_run=dry_run, announce=announce, progress=progress, **asked)
        if dry_run:
            return {"said": "Nothing was trained", "plan": [_planned(f) for f in plan], "runs": [], "scores": []}
        written = None
        if params.get("store", True):
            force = bool(params.get("force"))
            written = dataset.write_training(audited(ctx, report), report, force=force, progress=progress)
        return result_of(report, written, folder)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("said", "")))
        notes(outputs, result.get("failed", ()), "failed")
        for name, columns in (("plan", PLAN), ("runs", RUNS), ("scores", SCORES)):
            if result.get(name):
                table(outputs, name, columns)
        if result.get("evaluations"):
            text = f"Evaluation runs, also in FiftyOne's panel Model Evaluation: {', '.join(result['evaluations'])}"
            outputs.view("where", types.Notice(label=text))
        path(outputs, result, "report", "Report")
        return outputs

    def finished(self, ctx, result):
        if result.get("fields"):
            yield from super().finished(ctx, result)
        yield ctx.ops.notify(f"HSD: train: {result['said']}", variant="success")


PLAN = {
    "model": "Model",
    "runs": "Runs",
    "left": "Left",
    "steps": "Steps each",
    "time": "Time each",
    "in_all": "Time in all",
    "memory": "Memory",
    "trouble": "Remark",
}
RUNS = {
    "model": "Model",
    "condition": "Condition",
    "seed": "Seed",
    "status": "Status",
    "seconds": "Seconds",
    "memory": "Memory",
    "reason": "Remark",
}
SCORES = {"model": "Model", "condition": "Condition", "exposed": "Exposed", "score": "Score", "inflation": "Inflation"}


def settings_of(params):
    """Arguments of `fiftyone_hsd.train` from the parameters of the form or of an SDK call; defaults included.

    Raises:
        InputError: a number that is none or below 0, or names that are none.
    """
    options = {name: whole(params, name, 0) for name in RECIPE}
    for name, value in options.items():
        if value < 0:
            raise InputError(f"{name} = {value!r}", "a whole number, 0 = as the recipe has it")
    return {
        "models": several(params, "models") or tuple(MODELS),
        "conditions": ",".join(several(params, "conditions")) or "all",
        "seeds": whole(params, "seeds", DEFAULTS.seeds),
        "options": {name: value for name, value in options.items() if value},
    }


def check_models(models):
    """Whether each network could be trained here: its name, its weights, the packages that it needs.

    Raises:
        FieldError, PathError, MissingExtraError: it could not; the message says what to type.
    """
    networks = [m for m in models if is_network(m)]
    missing = [p for p in ("torch", "timm", "accelerate") if importlib.util.find_spec(p) is None]
    if networks and missing:
        raise MissingExtraError(
            f"networks need {', '.join(missing)}",
            "linear_probe, nearest_neighbour",
            f"run `{INSTALL}`",
        )
    for model in networks:
        architecture = network_of(model).partition("@")[0]
        if architecture:
            check(architecture)
        weights_digest(model)


def result_of(report, written, folder):
    """The result as JSON: runs, scores, and what was written."""
    failed = [r for r in report.run_records if r.status != "done"]
    said = f"{len(report.run_records) - len(failed):,} of {many(len(report.run_records), 'run')} done"
    return {
        "said": said,
        "runs": [_run(r) for r in sorted(report.run_records, key=lambda r: r.status == "done")],
        "scores": list(_scores(report)),
        "failed": [f"{_name(r.model)}, {r.condition}, seed {r.seed}: {shown(r.reason)}" for r in failed[:10]],
        "fields": list(written.fields) if written else [],
        "evaluations": list(written.evaluations) if written else [],
        "report": str(folder / "report.html"),
    }


def _name(model):
    return shown(lookup.model_name(model))


def _run(r):
    memory = _memory(r.peak_memory)
    head = {"model": _name(r.model), "condition": r.condition, "seed": r.seed, "status": r.status}
    return {**head, "seconds": round(r.seconds, 1), "memory": memory, "reason": shown(r.reason)}


def _memory(size):
    return f"{size / MIB:,.0f} MiB" if math.isfinite(size) else ""


def _scores(report):
    metric = lookup.metric(report)
    for model in dict.fromkeys(r.model for r in report.run_records):
        for condition in (lookup.EXISTING, *lookup.conditions(report)):
            values = {
                what: lookup.estimate(lookup.effects(report, what, model=model, condition=condition, metric=metric))
                for what in ("score", "inflation")
            }
            if values["score"] is None:
                continue
            rate, _ = lookup.exposed_rate(report, condition)
            forms = {"score": "{:.3f}", "inflation": "{:+.3f}"}
            words = {k: _interval(v, forms[k]) for k, v in values.items()}
            exposed = f"{rate:.1%}" if rate == rate else "not evaluated"
            yield {"model": _name(model), "condition": condition, "exposed": exposed, **words}


def _interval(value, form):
    if value is None:
        return ""
    if value.value != value.value:
        return "not estimable"
    text = form.format(value.value)
    return text if value.low != value.low else f"{text} ({form.format(value.low)} to {form.format(value.high)})"


def _planned(f):
    known = math.isfinite(f.seconds)
    return {
        "model": _name(f.model),
        "runs": f.runs,
        "left": f.left,
        "steps": f.steps or "",
        "time": duration(f.seconds) if known else "",
        "in_all": duration(f.seconds * f.left) if known else "",
        "memory": _memory(f.peak_memory),
        "trouble": shown(f.trouble),
    }


def _form(ctx, inputs):
    inputs.str("models", label=f"Models, joined by commas: {KNOWN}", default=",".join(MODELS))
    ways = types.AutocompleteView(allow_user_input=True)
    for value, label in CONDITIONS.items():
        ways.add_choice(value, label=label)
    inputs.str("conditions", label="Conditions, or some by name, joined by commas", default="all", view=ways)
    inputs.int("seeds", label="Split seeds", default=DEFAULTS.seeds, min=1, max=1000)
    for name, label in RECIPE.items():
        inputs.int(name, label=label, default=0, min=0)
    inputs.bool("dry_run", label="Only try a few steps and show time and memory", default=False)
    inputs.bool("store", label="Mark predictions (fields hsd_..., evaluation runs)", default=True)
    if "training" in dataset.recorded(ctx.dataset):
        inputs.bool("force", label="Replace the earlier training also where its marks were changed", default=False)
    if dataset.verdicts(ctx.dataset):
        inputs.view("verdicts", types.Notice(label="The verdicts of reviewers are applied to the groups"))
    try:
        asked = settings_of(ctx.params)
        check_models(asked["models"])
        plan = list(_plan(ctx, asked))
    except HsdError as error:
        invalid(inputs, "error", error)
        return
    for i, line in enumerate(plan):
        inputs.view(f"plan_{i}", types.Notice(label=line))


def _plan(ctx, asked):
    """The grid in words, before it starts: runs, how many are finished, and cost where it is known."""
    report = report_of(ctx)
    rows = outlook(report, out=training_folder(ctx), **asked)
    drawn = 1 + max((p.seed for p in report.plans), default=-1)
    for f in rows:
        steps = f", {f.steps:,} steps each" if f.steps else ""
        line = f"{_name(f.model)}: {many(f.runs, 'run')}"
        if f.left < f.runs:
            line += f", {f.runs - f.left:,} of them done before"
        if math.isfinite(f.seconds):
            line += f"{steps}, about {duration(f.seconds * f.left)} for what is left, {_memory(f.peak_memory)}"
        elif is_network(f.model) and f.left:
            line += "; time and memory are not known before a trial"
        yield line
    if asked["seeds"] > drawn:
        yield f"The audit drew {many(drawn, 'seed')}; {asked['seeds'] - drawn:,} more will be drawn and trained too"
