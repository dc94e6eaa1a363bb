"""Controls: can classes be told apart without the object? The 2x2 of a control, all controls, what the models saw."""

from __future__ import annotations

from fiftyone_hsd.report.wording import many, part

from ..blocks import EXPOSED, NEUTRAL, UNEXPOSED, Actions, Buttons, Choice, Click, Head, Plot, Rows, Said
from ..drawing import tick

TITLE, ORDER = "Controls", 5
CHOICE = "control_shown"
ANY = "hsd:background:gives-class-away"
SEVERITY = {"not evaluated": "info", "problem": "error", "warning": "warning", "info": "info"}


def tab(overview, state):
    """The stored control experiments, or what running them would do."""
    found = overview.get("controls")
    if not found:
        return [*_none()]
    blocks = [*_sentence(found), *_away(found), *_scores(found), *_table(found)]
    by_name = {c["control"]: c for c in found["controls"]}
    if by_name:
        first = next((n for n, c in by_name.items() if c["without_object"] and c["models"]), next(iter(by_name)))
        chosen = by_name.get(state.get(CHOICE)) or by_name[first]
        names = [(n, c["title"]) for n, c in by_name.items()]
        blocks += [Choice(CHOICE, "Look at one control", names, chosen["control"]), *_one(found, chosen)]
    again = [("Run controls again", "controls", {}), ("Undo the controls", "undo", {"what": "controls"})]
    return [*blocks, Actions("controls_again", again)]


def _none():
    text = (
        "Models see only a corner, a border, eight pixels or the file's size. They should do no better than chance; "
        "where they do, classes differ in how their images were made. Read on groups never seen and on files dealt at "
        "random. Nothing of the images is changed."
    )
    yield Said("No control experiment was run yet.", "info", text)
    yield Actions("controls_run", [("Run control experiments", "controls", {})])


def _sentence(found):
    away = [c for c in found["controls"] if c["without_object"] and c["verdict"]["level"] == "warning"]
    tested = [c for c in found["controls"] if c["without_object"] and c["verdict"]["level"] != "not evaluated"]
    for note in found["general"]:
        yield Said(note["text"], SEVERITY[note["level"]])
    if away:
        text = f"{part(len(away), len(tested))} controls without the object tell classes apart."
        yield Said(text, "warning", _capital(away[0]["reading"][0]["text"]))
    elif tested:
        text = f"None of {many(len(tested), 'control')} without the object tells classes apart."
        yield Said(text, "success", "That is no proof: what a model of these cannot read is not ruled out.")
    else:
        yield Said("No control without the object could be evaluated; the table says why.")


def _capital(text):
    return text[:1].upper() + text[1:]


def _fields(found, control=None):
    return [f for f in (found["label"].partition(".")[0], control and control["field"], "hsd_given_away") if f]


def _away(found):
    """Buttons to the images whose class is given away."""
    known = [c for c in found["controls"] if c["given_away"]]
    if not any(c["given_away"] is not None for c in found["controls"]):
        return
    yield Head("Images whose class the background gives away", "Every run that tested the image named its class")
    if not known:
        yield Said("None: no reader without the object is above chance on groups never seen.", "success")
        return
    clicks = [Click("by any control", {"tagged": [ANY]}, _fields(found))]
    clicks += [Click(f"{c['title']} ({c['given_away']:,})", {"tagged": [c["tag"]]}, _fields(found, c)) for c in known]
    yield Buttons("controls_away", [*clicks, Click("everything", {"everything": True})])


def _best(control):
    return next((m for m in control["models"] if m["model"] == control["best"]), None)


def _first(model):
    """The score on groups never seen, or where these cannot be kept apart the one on single files."""
    return model["intact"] or model["random"]


def _scores(found):
    """The best reader of every control against chance."""
    rows = [(c, _best(c)) for c in found["controls"]]
    rows = [(c, m) for c, m in rows if m and _first(m) and _first(m)[0] is not None]
    if not rows:
        return
    yield Head(
        "Score of each control", "Balanced accuracy on groups never seen, 95 % interval; the dotted line is chance"
    )
    score = [_first(m) for _, m in rows]
    colours = [
        NEUTRAL if not c["without_object"] else EXPOSED if c["verdict"]["level"] == "warning" else UNEXPOSED
        for c, _ in rows
    ]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [s[0] for s in score],
        "y": list(range(len(rows))),
        "error_x": {
            "type": "data",
            "array": [(s[2] - s[0]) if s[2] is not None else 0 for s in score],
            "arrayminus": [(s[0] - s[1]) if s[1] is not None else 0 for s in score],
        },
        "marker": {"color": colours, "size": 9},
        "hovertext": [
            f"{tick(c['title'])}, {tick(m['name'])}: {s[0]:.3f}" for (c, m), s in zip(rows, score, strict=True)
        ],
        "hoverinfo": "text",
    }
    chance = [m["chance"] for _, m in rows if m["chance"] is not None]
    line = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot"}}
    shapes = [{**line, "x0": c, "x1": c} for c in sorted(set(chance))]
    layout = {
        "shapes": shapes,
        "xaxis": {"range": [0, 1.02], "title": {"text": "balanced accuracy"}},
        "yaxis": {
            "tickvals": list(range(len(rows))),
            "ticktext": [tick(c["title"]) for c, _ in rows],
            "autorange": "reversed",
            "automargin": True,
        },
        "margin": {"t": 10, "b": 45, "l": 140, "r": 10},
    }
    clicks = [
        Click(f"given away by {c['title']}", {"tagged": [c["tag"]]}, _fields(found, c)) if c["given_away"] else None
        for c, _ in rows
    ]
    yield Plot("control_scores", [dots], layout, [clicks], height=110 + 26 * len(rows))


def _table(found):
    yield Head("All controls", f"{many(found['images'], 'labelled image')}; {_asked(found['settings'])}")
    columns = (
        ("control", "Control"),
        ("score", "Score"),
        ("chance", "Chance"),
        ("p", "p"),
        ("verdict", "What it says"),
        ("away", "Given away"),
    )
    rows = []
    for c in found["controls"]:
        best = _best(c)
        rows.append(
            {
                "control": c["title"],
                "score": _words(_first(best)) if best else "–",
                "chance": f"{best['chance']:.3f}" if best and best["chance"] is not None else "–",
                "p": f"{best['p']:.2g}" if best and best["p"] is not None else "–",
                "verdict": c["verdict"]["text"],
                "away": "–" if c["given_away"] is None else f"{c['given_away']:,}",
            }
        )
    clicks = [
        Click(f"given away by {c['title']}", {"tagged": [c["tag"]]}, _fields(found, c)) if c["given_away"] else None
        for c in found["controls"]
    ]
    yield Rows("control_table", columns, rows, clicks, "Show the images whose class it gives away")


def _asked(settings):
    return ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in settings.items())


def _words(value, form="{:.3f}"):
    if not value or value[0] is None:
        return "not measured" if not value else "not estimable"
    text = form.format(value[0])
    return text if value[1] is None else f"{text} ({form.format(value[1])} to {form.format(value[2])})"


def _one(found, control):
    """The 2x2 of one control with its reading, and what its models saw."""
    variant = f" ({control['variant']})" if control["variant"] else ""
    yield Head(f"{_capital(control['title'])}{variant}", "The object is left out" if control["without_object"] else "")
    for model in control["models"]:
        yield from _two_by_two(control, model)
    for note in control["reading"]:
        count = f" ({note['count']:,})" if note["count"] and str(note["count"]) not in note["text"] else ""
        yield Said(_capital(note["text"]) + count, SEVERITY[note["level"]], " · ".join(note["examples"]))
    if not control["reading"] and not control["models"]:
        yield Said("Not evaluated: no reading was kept.")
    if control["numbers"]:
        columns = (("what", "What"), ("variant", "Of"), ("value", "Value"), ("chance", "Chance"), ("p", "p"))
        rows = [
            {
                "what": " ".join(filter(None, (n["what"], n["model"], n["condition"]))),
                "variant": n["variant"],
                "value": _words(n["value"]),
                "chance": "–" if n["chance"] is None else f"{n['chance']:.3f}",
                "p": "–" if n["p"] is None else f"{n['p']:.2g}",
            }
            for n in control["numbers"]
        ]
        yield Rows("control_numbers", columns, rows)
    for k, sheet in enumerate(control["sheets"]):
        yield from _sheet(found, control, sheet, k)
    if not control["sheets"]:
        yield Said("This control shows its models no picture.")


def _two_by_two(control, model):
    columns = (("what", model["name"]), ("intact", "Groups never seen"), ("random", "Files dealt at random"))
    # Whole pictures are no control of themselves.
    rows = [
        {"what": "what the control leaves", "intact": _words(model["intact"]), "random": _words(model["random"])},
    ]
    if control["control"] != "full_picture":
        whole = {k: _words(model[f"whole_{k}"]) for k in ("intact", "random")}
        against = "crops around objects" if control["control"] == "objects_background" else "whole pictures"
        rows.insert(0, {"what": against, **whole})
    yield Rows(f"control_2x2_{model['model']}", columns, rows)
    chance = "unknown" if model["chance"] is None else f"{model['chance']:.3f}"
    said = [f"chance {chance}"]
    said += [f"p {model['p']:.2g}"] if model["p"] is not None else []
    said += [f"random minus never seen {_words(model['fingerprint'], '{:+.3f}')}"] if model["fingerprint"] else []
    share = model["share"]
    said += [f"share of the whole {_words(share, '{:.0%}')}"] if share and share[0] is not None else []
    yield Head("", f"{_capital(', '.join(said))}")


def _sheet(found, control, sheet, number):
    """One picture of all crops; a click on a crop shows its image."""
    columns, rows = sheet["columns"], sheet["rows"]
    yield Head("What the models saw", f"{sheet['caption']} A click on a crop shows its image.")
    cells = sheet["cells"]
    places = [(i % columns + 0.5, i // columns + 0.5) for i in range(len(cells))]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "marker": {"size": 44, "symbol": "square", "opacity": 0.01, "color": NEUTRAL},
        "hovertext": [" · ".join(tick(t, 40) for t in (c["label"], c["remark"]) if t) for c in cells],
        "hoverinfo": "text",
    }
    picture = {"source": sheet["uri"], "xref": "x", "yref": "y", "x": 0, "y": 0, "sizex": columns, "sizey": rows}
    axis = {"visible": False, "fixedrange": True}
    layout = {
        "images": [{**picture, "sizing": "stretch", "layer": "below"}],
        "xaxis": {**axis, "range": [0, columns]},
        "yaxis": {**axis, "range": [rows, 0], "scaleanchor": "x"},
        "margin": {"t": 5, "b": 5, "l": 5, "r": 5},
    }
    clicks = [Click(f"crop of {c['label']}", {"ids": [c["id"]]}, _fields(found, control)) for c in cells]
    yield Plot(f"control_sheet_{number}", [dots], layout, [clicks], height=20 + 110 * rows)
    remarks = sum(bool(c["remark"]) for c in cells)
    if remarks:
        yield Said(f"{part(remarks, len(cells))} crops shown are not blank.")
