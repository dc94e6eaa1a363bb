"""Leaks: who is exposed under a condition, per class, by similarity to train, and whether the model gets them right."""

from __future__ import annotations

from fiftyone_hsd.dataset import overview as stored
from fiftyone_hsd.report.wording import many, part, percent

from ..blocks import EXPOSED, UNEXPOSED, Buttons, Choice, Click, Head, Plot, Said, Slide
from ..drawing import tick

TITLE = "Leaks"
ORDER = 1
SHOWN_CLASSES = 30
GROUPED = 5
"""Stored bins that one bar of the histogram holds."""


def tab(overview, state):
    """The blocks for the chosen condition, model and threshold."""
    leaks = overview["leaks"]
    if not leaks:
        why = [t for t in overview["not_evaluated"] if "split" in t]
        return [Said("Not evaluated: there is no split to judge.", "info", " ".join(why))]
    by_name = {leak["condition"]: leak for leak in leaks}
    leak = by_name.get(state.get("condition")) or leaks[0]
    names = [(c, "the split as published" if c == "existing" else f"condition {c}") for c in by_name]
    blocks = [Choice("condition", "Split", names, leak["condition"]), *_head(leak), *_classes(leak, overview)]
    blocks += [*_similarity(leak, state), *_models(leak, overview)]
    return blocks


def _fields(leak, overview, *more):
    label = overview["label"].partition(".")[0]
    return [f for f in (label, "hsd_group", leak["fields"]["partition"], leak["fields"]["exposed"], *more) if f]


def _side(leak, exposed, **more):
    equal = {leak["fields"]["partition"]: leak["partition"], leak["fields"]["exposed"]: exposed, **more}
    return {"equal": equal}


def _head(leak):
    n, k, name = leak["n"], leak["exposed"], leak["partition"]
    if not n:
        yield Said(f"Not evaluated: no image of {name or 'any partition'} can be compared with train.")
        return
    low, high = leak["interval"]
    between = f", 95 % interval {percent(low)} to {percent(high)}" if low is not None and high is not None else ""
    crossed, of = leak["crossing"]
    dose = f" An exposed image has {leak['dose']:g} mates in train (median)." if (leak["dose"] or 0) > 0 else ""
    text = f"{part(k, n)} {name} images have a mate in train{between}."
    more = f"{crossed:,} of {many(of, 'group')} of two or more images cross the split.{dose}"
    yield Said(text, "warning" if k else "success", more)
    fields = [leak["fields"]["partition"], leak["fields"]["exposed"]]
    clicks = [
        Click(f"exposed ({k:,})", _side(leak, True), fields),
        Click(f"unexposed ({n - k:,})", _side(leak, False), fields),
    ]
    if leak["condition"] == "existing" and k:
        clicks.append(Click("pairs side by side", {"saved": "hsd-existing-pairs"}, ["hsd_existing", "hsd_group"]))
    yield Buttons("sides", [*clicks, Click("everything", {"everything": True})])


def _classes(leak, overview):
    rows = leak["classes"][:SHOWN_CLASSES]
    if not rows or not overview["label"]:
        yield Said("Per class: not evaluated, the images have no labels.")
        return
    yield Head("Per class", f"Images of {leak['partition']}; a click shows them")
    names = [tick(r["class"]) for r in rows]
    sides = ((True, EXPOSED, "exposed"), (False, UNEXPOSED, "unexposed"))
    traces, clicks = [], []
    for exposed, colour, word in sides:
        counts = [r["exposed"] if exposed else r["n"] - r["exposed"] for r in rows]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": word,
                "x": counts,
                "y": list(range(len(rows))),
                "marker": {"color": colour},
                "text": [f"{c:,}" if c else "" for c in counts],
                "hovertext": [f"{n}: {c:,} of {r['n']:,} {word}" for n, c, r in zip(names, counts, rows, strict=True)],
                "hoverinfo": "text",
            }
        )
        clicks.append(
            [
                Click(
                    f"{word}, {r['class']}",
                    _side(leak, exposed, **{overview["label"]: r["class"]}),
                    _fields(leak, overview),
                )
                for r in rows
            ]
        )
    layout = {
        "barmode": "stack",
        "bargap": 0.3,
        "margin": {"t": 30, "b": 30, "l": 140, "r": 10},
        "yaxis": {"tickvals": list(range(len(rows))), "ticktext": names, "autorange": "reversed", "automargin": True},
        "xaxis": {"rangemode": "tozero", "tickformat": ",d"},
    }
    yield Plot("classes", traces, layout, clicks, height=110 + 26 * len(rows))
    if len(leak["classes"]) > len(rows):
        yield Said(f"{len(leak['classes']) - len(rows)} more classes are in the report.")


def _similarity(leak, state):
    histogram = leak["histogram"]
    if histogram is None:
        return
    threshold = _threshold(state)
    counts = stored.above(histogram, threshold)
    both = sum(counts.values())
    edges = stored.edges()
    field = leak["fields"].get("similarity")
    at_or_above = (
        f"{part(both, leak['n'])} {leak['partition']} images are at least {threshold:.3f} similar to a train image"
    )
    yield Head(
        "Similarity to the nearest train image", "Cosine of colour or network vectors; groups decide who is exposed"
    )
    first = next((k for k in range(0, stored.BINS, GROUPED) if _held(histogram, k)), 0)
    starts = range(first, stored.BINS, GROUPED)
    middle = [(edges[k] + edges[k + GROUPED]) / 2 for k in starts]
    traces, clicks = [], []
    for exposed, colour, word in ((True, EXPOSED, "exposed"), (False, UNEXPOSED, "unexposed")):
        heights = [sum(histogram[word][k : k + GROUPED]) for k in starts]
        traces.append({"type": "bar", "name": word, "x": middle, "y": heights, "marker": {"color": colour}})
        clicks.append([_range(leak, field, edges[k], edges[k + GROUPED], exposed) if field else None for k in starts])
    line = {
        "type": "line",
        "x0": threshold,
        "x1": threshold,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"dash": "dot", "color": "#CC79A7"},
    }
    layout = {
        "barmode": "stack",
        "bargap": 0.05,
        "shapes": [line],
        "xaxis": {"title": {"text": "cosine similarity"}, "range": [edges[first], 1.002]},
        "yaxis": {"title": {"text": "images"}},
        "margin": {"t": 30, "b": 45, "l": 55, "r": 10},
    }
    yield Plot("similarity", traces, layout, clicks if field else (), height=240)
    yield Slide("threshold", "Threshold", 0.5, 1.0, 0.005, threshold)
    more = f"{counts['exposed']:,} of them are exposed by their group, {counts['unexposed']:,} are not: worth a look."
    yield Said(at_or_above, "info", more)
    if field:
        equal = {leak["fields"]["partition"]: leak["partition"]}
        fields = [field, leak["fields"]["exposed"]]
        similar = {"equal": equal, "at_least": {field: threshold}}
        hidden = {**similar, "equal": {**equal, leak["fields"]["exposed"]: False}}
        yield Buttons(
            "similar",
            [
                Click(f"at least {threshold:.3f} ({both:,})", similar, fields),
                Click(f"of these unexposed ({counts['unexposed']:,})", hidden, fields),
            ],
        )
    else:
        yield Said("This audit was stored without similarities for this split: run HSD: audit again to filter by them.")


def _threshold(state):
    value = state.get("threshold")
    value = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.95
    return min(1.0, max(0.5, round(value / 0.005) * 0.005))


def _held(histogram, k):
    return any(sum(histogram[w][k : k + GROUPED]) for w in ("exposed", "unexposed"))


def _range(leak, field, low, high, exposed):
    wanted = {**_side(leak, exposed), "at_least": {field: low}}
    if high < 1:
        wanted["below"] = {field: high}
    return Click(f"similarity {low:.3f} to {high:.3f}", wanted, [field, leak["fields"]["exposed"]])


def _models(leak, overview):
    if not leak["models"] or not overview["label"]:
        yield Said("Right and wrong: not evaluated, no model was run under this split.")
        return
    yield Head(
        "Right and wrong", "Exposed images are often right because they were seen; the two sides are not exchangeable"
    )
    for i, model in enumerate(leak["models"]):
        (a, n), (b, m) = model["exposed"], model["unexposed"]
        path, label = f"{model['field']}.label", overview["label"]
        fields = _fields(leak, overview, model["field"])
        yield Said(f"{model['model']}: {part(a, n)} exposed and {part(b, m)} unexposed images right")
        yield Buttons(
            f"right_{i}",
            [
                Click(f"exposed and correct ({a:,})", {**_side(leak, True), "correct": [path, label]}, fields),
                Click(f"exposed and wrong ({n - a:,})", {**_side(leak, True), "wrong": [path, label]}, fields),
                Click(f"unexposed and correct ({b:,})", {**_side(leak, False), "correct": [path, label]}, fields),
                Click(f"unexposed and wrong ({m - b:,})", {**_side(leak, False), "wrong": [path, label]}, fields),
            ],
        )
