"""HSD: repair. The smallest change of a split after which no group lies in two partitions, as marks of its own."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd.report.wording import many

from ._inputs import choices, invalid, whole
from ._outputs import notes, places, table
from ._running import LongOperator
from ._stored import audited, dataset, needs_audit, report_of, stale_notes

NOTHING = "(none)"


class Repair(LongOperator):
    """Plan a repair of the stored audit's split and mark it on the samples; nothing is moved or deleted."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="repair",
            label="HSD: repair",
            description="The smallest change of a split that keeps groups whole; images and the old split stay",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, *, delegate=False, **options):
        """Repair a split of a dataset's stored audit.

        Args:
            sample_collection: the dataset, or a view of it
            delegate (False): whether to queue it for a worker
            **options: condition, freeze, set_aside, seed, dry_run, force, as `fiftyone_hsd.repair`

        Returns:
            a dict with how many samples move and are set aside, and one row a partition
        """
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=options, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: repair"))

    def work(self, ctx, progress):
        report, params = report_of(ctx, judged=True), ctx.params
        stale = stale_notes(ctx)
        freeze = params.get("freeze")
        found = hsd.repair(
            report,
            condition=params.get("condition") or "existing",
            freeze=None if freeze in (None, "", NOTHING) else str(freeze),
            set_aside=params.get("set_aside") or "forced",
            seed=whole(params, "seed", 0),
            progress=progress,
        )
        written = None
        if not params.get("dry_run"):
            force = bool(params.get("force"))
            written = dataset.write_repair(
                audited(ctx, report), report, found.repair, found.after, force=force, progress=progress
            )
        return result_of(found, written, stale)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("said", "")))
        notes(outputs, result.get("notes", ()))
        names = ("partition", "before", "after", "exposed_before", "exposed_after")
        table(outputs, "partitions", {key: key.replace("_", " ").capitalize() for key in names})
        places(outputs, result)
        return outputs

    def finished(self, ctx, result):
        if result["views"]:
            yield from super().finished(ctx, result)
        yield ctx.ops.notify(f"HSD: repair: {result['said']}", variant="success")


def result_of(found, written, stale):
    """The result as JSON; `stale` are the notes on what changed since the audit."""
    repair = found.repair
    said = f"{many(repair.moved, 'image')} move, {many(repair.set_aside, 'image')} are set aside"
    if not len(repair.rows):
        said = "no group lies in two partitions: there is nothing to repair"
    elif repair.optimal:
        said += "; no smaller change exists"
    else:
        said += f"; at least {repair.least:,} must change"
    return {
        "said": said,
        "moved": repair.moved,
        "set_aside": repair.set_aside,
        "optimal": repair.optimal,
        "notes": [*stale, *(n.text for n in repair.plan.notes)],
        "partitions": [
            {
                "partition": name,
                "before": before,
                "after": after,
                "exposed_before": _rate(found.before, found.plan, name),
                "exposed_after": _rate(found.after, repair.plan, name),
            }
            for name, (before, after) in repair.sizes.items()
        ],
        "fields": list(written.fields) if written else [],
        "views": list(written.views) if written else [],
    }


def _rate(exposure, plan, name):
    rows = exposure.evaluated & (plan.partition == name)
    return f"{exposure.exposed[rows].mean():.1%}" if rows.any() else ""


def _form(ctx, inputs):
    overview = dataset.stored_overview(ctx.dataset)
    leaks = {leak["condition"]: leak for leak in overview["leaks"]}
    if not leaks:
        invalid(inputs, "no_split", "The stored audit holds no split to repair")
        return
    named = [(c, "the split as published" if c == "existing" else f"condition {c}") for c in leaks]
    splits, first = choices(named), next(iter(leaks))
    inputs.enum("condition", splits.values(), label="Split", default=first, view=splits)
    chosen = leaks.get(ctx.params.get("condition")) or leaks[first]
    frozen = choices([(NOTHING, "none"), *((p, p) for p in chosen["partitions"] if p != "unused")])
    text = "A partition that no image may enter or leave"
    inputs.enum("freeze", frozen.values(), label=text, default=NOTHING, view=frozen)
    aside = choices([("forced", "only mates of frozen images"), ("free", "whatever makes the change smaller")])
    inputs.enum("set_aside", aside.values(), label="Set aside", default="forced", view=aside)
    inputs.bool("dry_run", label="Only show the plan, mark nothing", default=False)
    if "repair" in dataset.recorded(ctx.dataset):
        inputs.bool("force", label="Replace the earlier repair also where its marks were changed", default=False)
