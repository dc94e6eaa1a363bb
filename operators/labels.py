"""HSD: labels. Labels that may be wrong, seen through groups, as marks and as a tab of the panel."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset, descriptors, trainers
from fiftyone_hsd.errors import HsdError, InputError
from fiftyone_hsd.labels import FOLDS, MODEL, in_a_sentence
from fiftyone_hsd.report.sections.labels import MEANINGS
from fiftyone_hsd.report.wording import many

from ._corpus_form import DEFAULTS
from ._inputs import checked_folder, invalid, several, whole
from ._outputs import notes, places, table
from ._running import LongOperator
from ._source import replace_input, source_inputs, source_of

OURS = ("report.json", ".hsd")
CHEAP = ("linear_probe", "nearest_neighbour", "random_forest")
"""Models that the form proposes."""
COLUMNS = {
    "mechanism": "Mechanism",
    "images": "Images",
    "likely": "Likely",
    "group": "Group folds",
    "random": "Random folds",
}


class Labels(LongOperator):
    """Find labels that are probably wrong and mark them; no label is changed."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="labels",
            label="HSD: labels",
            description="Find labels that may be wrong, by folds that keep groups whole and by folds that do not",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
        )

    def __call__(self, sample_collection, *, delegate=False, **options):
        """Look for label errors in a dataset or view.

        Args:
            sample_collection: the dataset or view; where it holds a stored audit, its groups are used
            delegate (False): whether to queue it for a worker
            **options: label_field, model, descriptor, folds, seeds, checks, out, force, as `fiftyone_hsd.labels`;
                without a stored audit also group_field, pattern, names, near_copies

        Returns:
            a dict with one row a mechanism, and the names of what was written
        """
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=options, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if ctx.dataset is None:
            invalid(inputs, "none", "Open a dataset first")
        else:
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: labels"))

    def work(self, ctx, progress):
        view, params = ctx.target_view(), ctx.params
        why = dataset.storable(view)
        if why:
            raise InputError(why, "a dataset of images, or a view of one")
        out = checked_folder(params.get("out"), OURS)
        source, settings = source_of(ctx, view, "labels")
        report = hsd.labels(
            source,
            model=params.get("model") or MODEL,
            folds=whole(params, "folds", FOLDS),
            seeds=whole(params, "seeds", DEFAULTS.seeds),
            descriptor=params.get("descriptor") or DEFAULTS.descriptor,
            checks=several(params, "checks"),
            out=out,
            progress=progress,
            **settings,
        )
        written = dataset.write_labels(view, report, force=bool(params.get("force")), progress=progress)
        return result_of(report, written, out)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("said", "")))
        table(outputs, "mechanisms", COLUMNS)
        notes(outputs, result.get("notes", ()))
        places(outputs, result, "No label is suspected")
        return outputs

    def finished(self, ctx, result):
        yield from super().finished(ctx, result)
        # A long notice would cover the button that closes the result.
        said = f"{many(result['flagged'], 'label')} suspected, {result['likely']:,} likely wrong"
        yield ctx.ops.notify(f"HSD: {said}", variant="success")


def result_of(report, written, out):
    """The result as JSON: the sentence, one row a mechanism, what was not evaluated, and what was written."""
    issues = report.label_results[-1]
    rows = []
    for name in MEANINGS:
        mine = issues.mechanism == name
        kinds = {"likely": issues.likely, "group": issues.by_group, "random": issues.by_random}
        rows.append(
            {"mechanism": name, "images": int(mine.sum()), **{k: int((mine & v).sum()) for k, v in kinds.items()}}
        )
    notes = [n for n in issues.notes if n.level != "info"]
    checks = [f"Datalab's {c.name}: {int(c.flagged.sum()):,} images" for c in issues.checks if not c.reason]
    return {
        "said": in_a_sentence(report, issues),
        "images": len(report.samples),
        "flagged": int(issues.flagged.sum()),
        "likely": int(issues.likely.sum()),
        "mechanisms": rows,
        "notes": [f"{n.level}: {n.text}" + (f" ({n.count:,})" if n.count else "") for n in notes][:20] + checks,
        "fields": list(written.fields),
        "tags": list(written.tags),
        "views": list(written.views),
        "report": str(out / "report.html") if out else "",
    }


def _named(ctx, inputs, name, known, label, usual):
    """A name with suggestions; others are possible (`timm:NAME`, `timm_model:NAME`) and checked at once."""
    view = types.AutocompleteView(allow_user_input=True)
    for one in known:
        view.add_choice(one, label=one)
    inputs.str(name, label=label, default=usual, view=view)
    chosen = str(ctx.params.get(name) or usual)
    try:
        if name == "model":
            trainers.by_name(chosen)
        elif chosen.partition(":")[0] not in descriptors.names():
            descriptors.by_name(chosen)
    except HsdError as error:
        invalid(inputs, f"{name}_error", error)


def _form(ctx, inputs):
    # Importing the bridge imports cleanlab, which would delay every other operator's first form.
    from fiftyone_hsd.datalab.checking import CHECKS
    from fiftyone_hsd.datalab.registering import need_cleanlab

    try:
        need_cleanlab()
    except HsdError as error:
        invalid(inputs, "cleanlab", error)
        return
    if not source_inputs(ctx, inputs, ctx.target_view()):
        return
    _named(ctx, inputs, "model", CHEAP, "Model behind the probabilities", MODEL)
    _named(ctx, inputs, "descriptor", descriptors.names(), "What the model looks at", DEFAULTS.descriptor)
    inputs.int("folds", label="Folds of one division", default=FOLDS, min=2, max=50)
    inputs.int("seeds", label="Divisions that are averaged", default=DEFAULTS.seeds, min=1, max=1000)
    checks = types.AutocompleteView(multiple=True, allow_user_input=False, allow_duplicates=False)
    for name in CHECKS:
        checks.add_choice(name, label=name.replace("_", " "))
    inputs.list("checks", types.String(), label="Further checks of cleanlab's Datalab (optional)", view=checks)
    try:
        wrong = sorted(set(several(ctx.params, "checks")) - set(CHECKS))
        if wrong:
            raise InputError(f"unknown check {', '.join(wrong)}", ", ".join(CHECKS))
    except HsdError as error:
        invalid(inputs, "checks_error", error)
    replace_input(ctx, inputs, "labels", "label results")
    inputs.str("out", label="Report folder on the machine that runs FiftyOne (optional)")
    try:
        checked_folder(ctx.params.get("out"), OURS)
    except HsdError as error:
        invalid(inputs, "out_error", error)
