"""Training: what each run of the grid did and cost, the score against exposure, gains per class, who is right."""

from __future__ import annotations

from fiftyone_hsd.report.wording import duration, many, part

from ..blocks import Actions, Buttons, Choice, Click, Head, Rows, Said
from . import ladder

TITLE, ORDER = "Training", 5
MIB = 1 << 20
SHOWN_FAILED = 8
SIDES = (
    ("exposed", "correct", "exposed and correct"),
    ("exposed", "wrong", "exposed and wrong"),
    ("unexposed", "correct", "unexposed and correct"),
    ("unexposed", "wrong", "unexposed and wrong"),
)


def tab(overview, state):
    """What runs now, then the stored training, or the way to one."""
    training = overview.get("training")
    running = overview.get("running") or ""
    overview = {**overview, "label": (training or {}).get("label") or overview["label"]}
    blocks = [*_running(running)]
    if not training:
        return [*blocks, *([] if running else _none())]
    blocks += [
        *_lead(training),
        *_runs(training),
        *_scores(training, overview, state),
        *_matched(training),
        *_right(training, state, overview),
    ]
    again = [("Train more, or go on", "train", {}), ("Undo the training", "undo", {"what": "training"})]
    return [*blocks, *([] if running else [Actions("training_again", again)])]


def _running(words):
    if words:
        yield Said(words, "info", "Finished runs are kept: a training that is stopped goes on when it is run again.")
        yield Actions("training_stop", [("Stop", "stop", {})])


def _none():
    text = (
        "The same recipe is trained under every condition of the ladder, from whole groups to single files; the "
        "difference is what hidden dependence adds to a test score. Runs that are finished are never repeated."
    )
    yield Said("No model has been trained on these splits yet.", "info", text)
    yield Actions(
        "training_start", [("Train models", "train", {}), ("Only try a few steps", "train", {"dry_run": True})]
    )


def _lead(training):
    done = training["total"] - training["failures"]
    text = f"{part(done, training['total'])} runs done, {duration(training['seconds'])} of training in all."
    yield Said(text, "success" if not training["failures"] else "warning", training["line"])
    if training["failures"]:
        lines = [
            f"{f['model']}, {f['condition']}, seed {f['seed']}: {f['reason'] or f['status']}"
            for f in training["failed"][:SHOWN_FAILED]
        ]
        rest = training["failures"] - len(lines)
        lines += [f"and {rest:,} more, in the report"] if rest > 0 else []
        yield Said(f"{many(training['failures'], 'run')} did not end well", "error", " · ".join(lines))


def _runs(training):
    yield Head("Runs", "Time of all attempts and seeds together; (best val) is a second readout of the same training")
    columns = (
        ("model", "Model"),
        ("condition", "Condition"),
        ("done", "Seeds done"),
        ("time", "Time"),
        ("memory", "Memory"),
        ("remark", "Remark"),
    )
    rows = [
        {
            "model": r["model"],
            "condition": r["condition"],
            "done": f"{r['done']:,} of {r['runs']:,}",
            "time": "" if r["second"] else duration(r["seconds"]),
            "memory": "" if r["memory"] is None else f"{r['memory'] / MIB:,.0f} MiB",
            "remark": r["remark"],
        }
        for r in training["runs"]
    ]
    fields = {(t["name"], t["condition"]): t["fields"] for t in training["tested"]}
    clicks = [_tested(fields.get((r["model"], r["condition"])), r["condition"]) for r in training["runs"]]
    yield Rows("training_runs", columns, rows, clicks, "Show the images it was tested on")


def _tested(fields, condition):
    if fields is None:
        return None
    return Click(f"tested under {condition}", {"present": [fields["tested"]]}, [fields["tested"], fields["predicted"]])


def _scores(training, overview, state):
    """Curve, steps and gains of the trained models, as the tab of the ladder has them for the audit's own."""
    scored = training["ladder"]
    if not scored["models"]:
        yield Said("Score against exposure: not evaluated, no run under the conditions of the ladder ended well.")
        return
    yield from ladder.curve(scored)
    by_name = {m["model"]: m for m in scored["models"]}
    model = by_name.get(state.get("trained_model")) or scored["models"][0]
    yield Choice("trained_model", "Model", [(m["model"], m["name"]) for m in scored["models"]], model["model"])
    yield from ladder.table(model)
    ends = [t for t in training["tested"] if (t["model"], t["condition"]) == (model["model"], scored["endpoint"])]
    within = {"present": [ends[0]["fields"]["tested"]]} if ends else {}
    yield from ladder.gains(model, scored, overview, within)


def _matched(training):
    for one in training["matched"]:
        words = f"{one['model']}: own mates in train change the accuracy by {ladder.words(one['effect'], '{:+.3f}')}"
        more = "Matched swap: against as many unrelated files, exposure by a coin; not the inflation of a random split."
        yield Said(f"{words}, {many(one['pairs'], 'pair')} of groups", "info", more)


def _right(training, state, overview):
    there = training["tested"]
    chosen = state.get("trained_model") or (there[0]["model"] if there else "")
    mine = [t for t in there if t["model"] == chosen]
    if not mine or not overview["label"]:
        yield Said("Right and wrong: not evaluated, there is no finished run at the first seed.")
        return
    by_name = {t["condition"]: t for t in mine}
    one = by_name.get(state.get("trained_condition")) or mine[-1]
    text = f"{one['name']} at seed {one['seed']}. Exposed and unexposed images are not exchangeable"
    yield Head("Right and wrong", text)
    yield Choice("trained_condition", "Condition", [(c, c) for c in by_name], one["condition"])
    fields, label = one["fields"], overview["label"]
    shown = [label.partition(".")[0], fields["predicted"], fields["tested"]]
    clicks = []
    for side, word, name in SIDES:
        right, n = one[side]
        k = right if word == "correct" else n - right
        wanted = {"equal": {fields["tested"]: side}, word: [f"{fields['predicted']}.label", label]}
        clicks.append(Click(f"{name} ({k:,})", wanted, shown))
    yield Buttons("training_right", [*clicks, Click("everything", {"everything": True})])
    yield Said(f"FiftyOne's panel Model Evaluation opens this as {fields['evaluation']}.")
    columns = (("class", "Class"), ("exposed", "Exposed, right"), ("unexposed", "Unexposed, right"))
    rows = [
        {"class": r["class"], **{side: part(*r[side]) if r[side][1] else "none" for side in ("exposed", "unexposed")}}
        for r in one["classes"][: ladder.SHOWN_CLASSES]
    ]
    clicks = [
        Click(f"class {r['class']}", {"present": [fields["tested"]], "equal": {label: r["class"]}}, shown) for r in rows
    ]
    yield Rows("training_classes", columns, rows, clicks, "Show the class")
