"""HSD: export. Puts the stored audit into one folder that can be given away and verified."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd.errors import HsdError, InputError

from ._inputs import checked_folder, choices, invalid
from ._running import LongOperator
from ._stored import dataset, folder_of, needs_audit, report_of

OURS = ("release.json",)
NO_TREE = "(no images)"


class Export(LongOperator):
    """A release: lists, settings, versions and digests; names become aliases unless asked otherwise."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="export",
            label="HSD: export",
            description="Put the stored audit into a folder that can be given away and verified",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.MEDIUM,
            view_target=False,
        )

    def __call__(self, sample_collection, to, *, delegate=False, **options):
        """Export a dataset's stored audit.

        Args:
            sample_collection: the dataset, or a view of it
            to: a new or empty folder, or an earlier release
            delegate (False): whether to queue it for a worker
            **options: alias, pictures, tree, link, as `fiftyone_hsd.export`

        Returns:
            a dict with the folder, and where the aliases and their key are
        """
        params = {"to": str(to), **options}
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=params, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if not needs_audit(ctx, inputs):
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: export"))

    def work(self, ctx, progress):
        to = checked_folder(ctx.params.get("to"), OURS, "release")
        if to is None:
            raise InputError("no folder for the release", "an absolute path on the machine that runs FiftyOne")
        tree = ctx.params.get("tree")
        options = {
            "alias": bool(ctx.params.get("alias", True)),
            "pictures": bool(ctx.params.get("pictures")),
            "tree": None if tree in (None, "", NO_TREE) else str(tree),
            "link": str(ctx.params.get("link") or "copy"),
        }
        out = folder_of(ctx, report_of(ctx))
        hsd.export(out, to, progress=progress, **options)
        return {"release": str(to), "key": str(out / ".hsd") if options["alias"] else ""}

    def outputs(self, result):
        outputs = types.Object()
        outputs.str("release", label="Release", view=types.LabelValueView(read_only=True))
        if result.get("key"):
            outputs.str("key", label="Aliases and their key, not for others", view=types.LabelValueView(read_only=True))
        return outputs

    def finished(self, ctx, result):
        yield ctx.ops.notify(f"HSD: release written to {result['release']}", variant="success")


def _form(ctx, inputs):
    inputs.str("to", label="Folder of the release on the machine that runs FiftyOne", required=True)
    try:
        checked_folder(ctx.params.get("to"), OURS, "release")
    except HsdError as error:
        invalid(inputs, "to_error", error)
    inputs.bool("alias", label="Salted aliases instead of ids and paths", default=True)
    inputs.bool("pictures", label="The page may show pictures of the corpus", default=False)
    leaks = dataset.stored_overview(ctx.dataset)["leaks"]
    trees = choices([(NO_TREE, "none"), *((x["condition"], f"of {x['condition']}") for x in leaks)])
    inputs.enum("tree", trees.values(), label="Lay out the images", default=NO_TREE, view=trees)
    if ctx.params.get("tree") not in (None, NO_TREE):
        links = choices([("copy", "copies"), ("symlink", "symbolic links (not with aliases)")])
        inputs.enum("link", links.values(), label="As", default="copy", view=links)
