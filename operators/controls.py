"""HSD: controls. Can classes be told apart without the object? Control experiments, as marks and as a tab."""

from __future__ import annotations

import importlib.util

import fiftyone.operators as foo
from fiftyone.operators import types

import fiftyone_hsd as hsd
from fiftyone_hsd import dataset
from fiftyone_hsd.control_experiments import ALL, chosen, sentence
from fiftyone_hsd.control_settings import CORNERS, ControlSettings
from fiftyone_hsd.controls import names
from fiftyone_hsd.controls._cost import expected_seconds
from fiftyone_hsd.dataset.control_overview import control_overview
from fiftyone_hsd.errors import HsdError, InputError, MissingExtraError
from fiftyone_hsd.report.wording import many

from ._inputs import checked_folder, choices, invalid, several, whole
from ._outputs import notes, places, table
from ._running import LongOperator
from ._source import replace_input, source_inputs, source_of

OURS = ("report.json", ".hsd")
DEFAULTS = ControlSettings()
OTSU, CORNER = "(threshold)", "(corner)"
TEXTS = ("corner", "size", "preset")
FIELDS = ("session_field", "source_field", "order_field")
COLUMNS = {
    "control": "Control",
    "model": "Model",
    "score": "Score",
    "interval": "95 % interval",
    "chance": "Chance",
    "p": "p",
    "verdict": "What it says",
    "given_away": "Given away",
}
PRESETS = {
    "fast": "fast: 1-NN, linear probe and random forest, in seconds to minutes",
    "paper": "paper: LeNet-5, 120 epochs (needs torch; many minutes without a GPU)",
}


class Controls(LongOperator):
    """Run control experiments and mark the images whose class the background gives away."""

    takes_minutes = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name="controls",
            label="HSD: controls",
            description="Can classes be told apart without the object? Background crops and other control experiments",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
            risk_level=types.RiskLevel.LOW,
        )

    def __call__(self, sample_collection, *, delegate=False, **options):
        """Run control experiments on a dataset or view.

        Args:
            sample_collection: the dataset or view; where it holds a stored audit, its groups are used
            delegate (False): whether to queue it for a worker
            **options: control, corner, size, box, box_field, objects_field, object_pixels, object_side, preset, seeds,
                label_field, session_field, source_field, order_field, out, force, as `fiftyone_hsd.controls`; without
                a stored audit also group_field, pattern, names

        Returns:
            a dict with one row a control, and the names of what was written
        """
        return foo.execute_operator(
            self.uri, {"view": sample_collection.view()}, params=options, request_delegation=delegate
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        if ctx.dataset is None:
            invalid(inputs, "none", "Open a dataset first")
        elif source_inputs(ctx, inputs, ctx.target_view()):
            _form(ctx, inputs)
        return types.Property(inputs, view=types.View(label="HSD: controls"))

    def work(self, ctx, progress):
        view, params = ctx.target_view(), ctx.params
        why = dataset.storable(view)
        if why:
            raise InputError(why, "a dataset of images, or a view of one")
        out = checked_folder(params.get("out"), OURS)
        options = options_of(params)
        asked = ControlSettings.of(options)
        _able(asked)
        masks = dataset.object_masks(view, asked.objects_field) if asked.objects_field else None
        columns = [c for c in asked.columns if masks is None or c != asked.objects_field]
        source, left = source_of(ctx, view, "controls", columns)
        known = {k: v for k, v in left.items() if k in vars(DEFAULTS)}
        report = hsd.controls(source, masks=masks, out=out, progress=progress, **known, **options)
        written = dataset.write_controls(view, report, force=bool(params.get("force")), progress=progress)
        return result_of(report, written, out)

    def outputs(self, result):
        outputs = types.Object()
        outputs.view("said", types.Notice(label=result.get("said", "")))
        table(outputs, "controls", COLUMNS)
        notes(outputs, result.get("notes", ()))
        places(outputs, result, "No image is marked")
        return outputs

    def finished(self, ctx, result):
        yield from super().finished(ctx, result)
        # A long notice would cover the button that closes the result.
        done = many(len(result["controls"]), "control experiment")
        yield ctx.ops.notify(f"HSD: {done} done", variant="success")


def options_of(params):
    """Options of `fiftyone_hsd.controls` out of the parameters of the form or of an SDK call."""
    options = {"control": several(params, "control") or (ALL,)}
    options |= {name: str(params[name]) for name in TEXTS if params.get(name)}
    options |= {name: whole(params, name, 0) for name in ("seeds", "object_pixels", "object_side") if params.get(name)}
    options |= {name: str(params[name]) for name in ("box", *FIELDS) if params.get(name)}
    for name, none in (("box_field", CORNER), ("objects_field", OTSU)):
        if params.get(name) not in (None, "", none):
            options[name] = str(params[name])
    return options


def _able(asked):
    """Refuses what cannot be asked here, before anything is read."""
    chosen(asked.control)
    if asked.preset == "paper" and importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", advice='pip install "fiftyone-hsd[train]", or preset fast')


def result_of(report, written, out):
    """The result as JSON: the sentence, one row a control, warnings, and what was written."""
    rows = []
    for c in control_overview(report)["controls"]:
        best = next((m for m in c["models"] if m["model"] == c["best"]), None)
        score = best and (best["intact"] or best["random"])
        known = bool(score) and score[0] is not None
        rows.append(
            {
                "control": c["title"],
                "model": best["name"] if best else "",
                "score": f"{score[0]:.3f}" if known else "–",
                "interval": f"{score[1]:.3f} to {score[2]:.3f}" if known and score[1] is not None else "",
                "chance": f"{best['chance']:.3f}" if best and best["chance"] is not None else "",
                "p": f"{best['p']:.2g}" if best and best["p"] is not None else "",
                "verdict": c["verdict"]["text"],
                "given_away": "–" if c["given_away"] is None else f"{c['given_away']:,}",
            }
        )
    notes = [n for n in report.notes if n.topic.startswith("control") and n.level in ("warning", "problem")]
    return {
        "said": sentence(report.notes),
        "images": len(report.samples),
        "controls": rows,
        "notes": [n.text + (f" ({n.count:,})" if n.count else "") for n in notes][:20],
        "fields": list(written.fields),
        "tags": list(written.tags),
        "views": list(written.views),
        "report": str(out / "report.html") if out else "",
    }


def _form(ctx, inputs):
    view = ctx.target_view()
    several = types.AutocompleteView(multiple=True, allow_user_input=False, allow_duplicates=False)
    several.add_choice(ALL, label="all that the corpus allows")
    for name in names():
        several.add_choice(name, label=name.replace("_", " "))
    inputs.list("control", types.String(), label="Control experiments", default=[ALL], view=several)
    _place(inputs, view)
    ways = types.RadioGroup()
    for name, label in PRESETS.items():
        ways.add_choice(name, label=label)
    inputs.enum("preset", ways.values(), label="Models", default=DEFAULTS.preset, view=ways)
    inputs.int("seeds", label="Splits that are averaged", default=DEFAULTS.seeds, min=1, max=1000)
    _acquisition(inputs, view)
    replace_input(ctx, inputs, "controls", "controls")
    inputs.str("out", label="Report folder on the machine that runs FiftyOne (optional)")
    try:
        checked_folder(ctx.params.get("out"), OURS)
        asked = ControlSettings.of(options_of(ctx.params))
        _able(asked)
    except (HsdError, ValueError) as error:
        invalid(inputs, "settings_error", error)
        return
    wanted = chosen(asked.control)
    seconds = expected_seconds(len(view), wanted, asked)
    text = f"{many(len(wanted), 'experiment')} on {many(len(view), 'image')}: {_duration(seconds)} on two cores"
    inputs.view("cost", types.Notice(label=text))


def _place(inputs, view):
    """Where the background crop lies, and what says where the objects are."""
    corners = choices((c, c) for c in CORNERS)
    inputs.enum("corner", corners.values(), label="Background crop at", default=DEFAULTS.corner, view=corners)
    inputs.str("size", label="Size of the crop, WIDTHxHEIGHT in pixels", default=DEFAULTS.size)
    inputs.str("box", label="Or a box x,y,width,height, in pixels or as shares of the picture (optional)")
    objects = dataset.object_fields(view)
    one = [n for n, kind in objects.items() if kind == "Detection"]
    if one:
        boxes = choices([(CORNER, "the place above"), *((n, f"box of field {n}") for n in one)])
        inputs.enum("box_field", boxes.values(), label="Or a box of each image", default=CORNER, view=boxes)
    words = {"Segmentation": "masks of", "Detections": "boxes of", "Detection": "box of"}
    ways = choices([(OTSU, "Otsu's threshold"), *((n, f"{words[k]} field {n}") for n, k in objects.items())])
    first = next(iter(objects), OTSU)
    inputs.enum("objects_field", ways.values(), label="Objects are found by", default=first, view=ways)


def _acquisition(inputs, view):
    """Fields about the acquisition, for the controls that ask about it."""
    fields = dataset.scalar_fields(view)
    labels = ("Session of each image (optional)", "Site or source (optional)", "Order of acquisition (optional)")
    for name, label in zip(FIELDS, labels, strict=True):
        ways = choices((f, f) for f in fields)
        inputs.enum(name, ways.values(), label=label, view=ways)


def _duration(seconds):
    if seconds < 90:
        return f"about {max(1, round(seconds))} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"
