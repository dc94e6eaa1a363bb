"""Ladder: score against exposure with intervals, and what each class gains."""

from __future__ import annotations

from fiftyone_hsd.report.wording import percent

from ..blocks import EXPOSED, NEUTRAL, UNEXPOSED, Buttons, Choice, Click, Head, Plot, Rows, Said
from ..drawing import tick

TITLE, ORDER = "Ladder", 2
COLOURS = (UNEXPOSED, EXPOSED, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHOWN_CLASSES = 30


def tab(overview, state):
    """The curve of every model, the table of one, and its gains per class."""
    ladder = overview["ladder"]
    if not ladder["models"]:
        why = [t for t in overview["not_evaluated"] if "inflation" in t or "split" in t]
        text = "Not evaluated: no model was run under the conditions of the ladder."
        return [Said(text, "info", " ".join(why)), *_splits(overview)]
    names = [(m["model"], m["name"]) for m in ladder["models"]]
    by_name = {m["model"]: m for m in ladder["models"]}
    model = by_name.get(state.get("model")) or ladder["models"][0]
    blocks = [*curve(ladder), Choice("model", "Model", names, model["model"]), *table(model)]
    return [*blocks, *gains(model, ladder, overview), *_splits(overview)]


def curve(ladder):
    """The score of every model against the exposure that was achieved."""
    metric = ladder["metric"].replace("_", " ")
    yield Head(f"{metric.capitalize()} against exposure", "From intact to random; 95 % intervals over groups")
    traces = []
    for i, model in enumerate(ladder["models"]):
        rows = [r for r in model["rows"] if r["score"] and r["score"][0] is not None and r["exposure"] is not None]
        score = [r["score"] for r in rows]
        colour = COLOURS[i % len(COLOURS)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers+text" if i == 0 else "lines+markers",
                "name": tick(model["name"]),
                "x": [r["exposure"] for r in rows],
                "y": [s[0] for s in score],
                "text": [r["condition"] for r in rows],
                "textposition": "top center",
                "error_y": {
                    "type": "data",
                    "array": [(s[2] - s[0]) if s[2] is not None else 0 for s in score],
                    "arrayminus": [(s[0] - s[1]) if s[1] is not None else 0 for s in score],
                    "thickness": 1.3,
                },
                "marker": {"color": colour, "size": 8},
                "line": {"color": colour},
            }
        )
    layout = {
        "xaxis": {"title": {"text": "exposed share of test images"}, "tickformat": ".0%", "range": [-0.06, 1.08]},
        "yaxis": {"title": {"text": metric}},
        "margin": {"t": 30, "b": 45, "l": 60, "r": 10},
    }
    yield Plot("curve", traces, layout, height=300)


def table(model):
    """Score and inflation of one model under each condition."""
    yield Head("Steps", "Inflation is the score minus that under intact, paired; 95 % intervals")
    columns = (("condition", "Condition"), ("exposure", "Exposed"), ("score", "Score"), ("inflation", "Inflation"))
    rows = [
        {
            "condition": r["condition"],
            "exposure": "–" if r["exposure"] is None else percent(r["exposure"]),
            "score": words(r["score"], "{:.3f}"),
            "inflation": "the reference" if r["condition"] == "intact" else words(r["inflation"], "{:+.3f}"),
        }
        for r in model["rows"]
    ]
    yield Rows("steps", columns, rows)


def words(value, form):
    """An estimate with its interval."""
    if not value or value[0] is None:
        return "not estimable"
    text = form.format(value[0])
    return text if value[1] is None else f"{text} ({form.format(value[1])} to {form.format(value[2])})"


def gains(model, ladder, overview, within=None):
    """Change of each class; a click shows its images, those that the filter `within` wants."""
    rows = model["gains"][:SHOWN_CLASSES]
    known = [r for r in rows if r["gain"][0] is not None]
    if not known:
        why = "not estimable, too few groups a class" if rows else "not evaluated"
        yield Said(f"Gains per class: {why}.")
        return
    text = (
        f"Change of {model['gain_metric']} from intact to {ladder['endpoint']}; no bar: too few groups for an interval"
    )
    yield Head("Gain per class", text)
    names = [tick(r["class"]) for r in known]
    gain = [r["gain"] for r in known]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [g[0] for g in gain],
        "y": list(range(len(known))),
        "error_x": {
            "type": "data",
            "array": [(g[2] - g[0]) if g[2] is not None else 0 for g in gain],
            "arrayminus": [(g[0] - g[1]) if g[1] is not None else 0 for g in gain],
        },
        "marker": {"color": UNEXPOSED, "size": 9},
        "hovertext": [f"{n}: {g[0]:+.3f}, n = {r['n']:,}" for n, g, r in zip(names, gain, known, strict=True)],
        "hoverinfo": "text",
    }
    fields = [overview["label"].partition(".")[0], f"hsd_{ladder['endpoint']}_exposed"]
    clicks = [
        Click(f"class {r['class']}", {**(within or {}), "equal": {overview["label"]: r["class"]}}, fields)
        for r in known
    ]
    layout = {
        "xaxis": {"zeroline": True, "zerolinecolor": NEUTRAL, "title": {"text": f"change of {model['gain_metric']}"}},
        "yaxis": {"tickvals": list(range(len(known))), "ticktext": names, "autorange": "reversed", "automargin": True},
        "margin": {"t": 10, "b": 45, "l": 140, "r": 10},
    }
    yield Plot("gains", [dots], layout, [clicks] if overview["label"] else (), height=110 + 28 * len(known))


def _splits(overview):
    """Buttons that show the test images of each condition."""
    leaks = [leak for leak in overview["leaks"] if leak["partition"]]
    if leaks:
        yield Head("Look at the splits", "Images that each condition tests on")
        clicks = [
            Click(
                f"{leak['condition']} ({leak['n']:,})",
                {"equal": {leak["fields"]["partition"]: leak["partition"]}},
                [leak["fields"]["partition"], leak["fields"]["exposed"]],
            )
            for leak in leaks
        ]
        yield Buttons("splits", clicks)
