"""HSD: verify. Derives every invariant and digest of a release again."""

from __future__ import annotations

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd.errors import HsdError, PathError

from ._inputs import absolute, invalid, read_folder
from ._outputs import table
from ._running import LongOperator


class Verify(LongOperator):
    """Check a release against itself, and against the images where their folder is given."""

    @property
    def config(self):
        return foo.OperatorConfig(
            name="verify",
            label="HSD: verify",
            description="Derive every invariant and digest of a release again and say what differs",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
            view_target=False,
        )

    def __call__(self, sample_collection, release, *, images=None, key=None, delegate=False):
        """Verify a release.

        Args:
            sample_collection: any dataset or view
            release: the folder that HSD: export wrote
            images (None): the folder of the images, to compare their bytes
            key (None): alias_key.json, to compare an aliased release by name too
            delegate (False): whether to queue it for a worker

        Returns:
            a dict with `holds` and one row a check
        """
        params = {"release": str(release), "images": images and str(images), "key": key and str(key)}
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=params, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        inputs.str("release", label="Folder of the release", required=True)
        inputs.str("images", label="Folder of the images, to compare their bytes (optional)")
        inputs.str("key", label="alias_key.json of the audit, to compare by name too (optional)")
        for name in ("release", "images"):
            try:
                if ctx.params.get(name):
                    read_folder(ctx.params[name], name)
            except HsdError as error:
                invalid(inputs, f"{name}_error", error)
        return types.Property(inputs, view=types.View(label="HSD: verify"))

    def work(self, ctx, progress):
        release = read_folder(ctx.params.get("release"), "release")
        images, key = ctx.params.get("images") or None, ctx.params.get("key") or None
        if images is not None:
            images = read_folder(images, "images")
        if key is not None and not str(key).endswith("alias_key.json"):
            raise PathError(f"{key!r} as key", "the file alias_key.json that HSD: export names")
        key = None if key is None else absolute(key, "key")
        found = hsd.verify(release, images=images, key=key, progress=progress)
        rows = [
            {
                "check": c.name,
                "result": f"not checked: {c.left_out}" if c.left_out else "differs" if c.differs else "holds",
                "compared": c.compared,
                "differs": "; ".join(c.differs[:3]),
            }
            for c in found.checks
        ]
        return {"holds": found.holds, "checks": rows}

    def outputs(self, result):
        outputs = types.Object()
        if result.get("holds"):
            outputs.view("said", types.Success(label="The release holds"))
        else:
            outputs.view("said", types.Error(label="The release does not hold"))
        table(outputs, "checks", {name: name.capitalize() for name in ("check", "result", "compared", "differs")})
        return outputs

    def finished(self, ctx, result):
        said = "holds" if result["holds"] else "does not hold"
        yield ctx.ops.notify(f"HSD: the release {said}", variant="success" if result["holds"] else "error")
