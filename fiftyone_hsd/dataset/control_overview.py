"""What the panel shows of control experiments: each 2x2 and its reading, counts, what models saw. Plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..controls import names
from ..controls._given_away import BACKGROUND, given_away
from ..model import SCHEMA, AuditReport, ControlResult, ControlSheet, Effect, Note
from ..report import lookup
from .control_marks import METRIC, best_of, controls_of, field_of, tag_of

FULL, OBJECTS = "full_picture", "objects_background"
STOPS, WHERE = (": ", ". "), (", on groups", ", image by image")
"""What ends the first words of a reading."""
COLUMNS = 6
"""Pictures in one row of a sheet."""
MOST_NUMBERS = 40
SHOWN_SETTINGS = ("preset", "seeds", "corner", "size", "box", "box_field", "objects_field")


def control_overview(report: AuditReport, *, label: str = "") -> dict[str, Any]:
    """The panel's value of the control experiments of a report.

    Args:
        label: path of the class names in the dataset ("" = the samples have none).
    """
    asked = {k: report.settings.get(f"control_{k}") for k in SHOWN_SETTINGS}
    return {
        "schema": SCHEMA,
        "label": label,
        "images": int((report.samples.labels >= 0).sum()),
        "settings": {k: v for k, v in asked.items() if v is not None},
        "controls": [_control(report, name) for name in _there(report)],
        "general": [_note(n) for n in report.notes if n.topic == "control: groups"],
    }


def _there(report: AuditReport) -> list[str]:
    """Controls with a number or a note, whole pictures and those without the object first."""
    found = {c.control for c in report.control_results}
    found |= {n.topic.removeprefix("control: ") for n in report.notes if n.topic.startswith("control: ")}
    order = (FULL, *BACKGROUND, OBJECTS)
    return [c for c in order if c in found] + [c for c in names() if c in found and c not in order]


def _control(report: AuditReport, name: str) -> dict[str, Any]:
    mine = [c for c in report.control_results if c.control == name]
    reading = [_note(n) for n in report.notes if n.topic == f"control: {name}"]
    # Of objects against background the crops away from objects are the control.
    shown = [c for c in mine if c.variant == "background"] if name == OBJECTS else mine
    away = given_away(report, name) if name in controls_of(report) else None
    best = best_of(shown)
    return {
        "control": name,
        "title": name.replace("_", " "),
        "without_object": name in BACKGROUND or name == OBJECTS,
        "variant": shown[0].variant if shown else "",
        "best": None if best is None else best.effect.model,
        "models": [_two_by_two(report, name, shown, m) for m in dict.fromkeys(_models(shown))],
        "verdict": _verdict(reading),
        "reading": reading,
        "given_away": None if away is None else len(away),
        "tag": tag_of(name),
        "field": field_of(name),
        "numbers": _numbers(mine),
        "sheets": [_sheet(report, s) for s in report.control_sheets if s.control == name and len(s.rows)],
    }


def _models(found: Sequence[ControlResult]) -> list[str]:
    return [c.effect.model for c in found if (c.effect.what, c.effect.metric) == ("score", METRIC)]


def _two_by_two(report: AuditReport, name: str, mine: Sequence[ControlResult], model: str) -> dict[str, Any]:
    """{whole pictures, control} x {intact, random} of one reader; what was not measured is None."""
    if name == OBJECTS:
        whole = [c for c in report.control_results if (c.control, c.variant) == (OBJECTS, "objects")]
    else:
        whole = [] if name == FULL else [c for c in report.control_results if c.control == FULL]

    def at(found: Sequence[ControlResult], what: str, condition: str) -> ControlResult | None:
        key = (what, condition, METRIC, model, None, "")
        return next((c for c in found if _key(c.effect) == key), None)

    scores = {c: at(mine, "score", c) for c in ("intact", "random")}
    tested = next((c for c in scores.values() if c is not None and c.effect.p == c.effect.p), None)
    first = next((c for c in scores.values() if c is not None), None)
    return {
        "model": model,
        "name": lookup.model_name(model),
        "chance": None if first is None else _number(first.chance),
        **{condition: _estimate(found) for condition, found in scores.items()},
        **{f"whole_{c}": _estimate(at(whole, "score", c)) for c in ("intact", "random")},
        "p": None if tested is None else _number(tested.effect.p),
        "fingerprint": _estimate(at(mine, "fingerprint", "random")),
        "inflation": _estimate(
            next((f for w in ("whole_picture", "objects") if (f := at(mine, f"inflation_{w}", "random"))), None)
        ),
        "share": _estimate(at(mine, "recovered_share", "intact") or at(mine, "recovered_share", "random")),
    }


def _key(effect: Effect) -> tuple[Any, ...]:
    return effect.what, effect.condition, effect.metric, effect.model, effect.seed, effect.class_name


def _estimate(found: ControlResult | None) -> list[float | None] | None:
    if found is None:
        return None
    return [_number(v) for v in (found.effect.estimate, found.effect.low, found.effect.high)]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _note(note: Note) -> dict[str, Any]:
    return {"level": note.level, "text": note.text, "count": note.count, "examples": list(note.examples)[:6]}


def _verdict(reading: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The first words of the reading, and how serious they are."""
    if not reading:
        return {"level": "not evaluated", "text": "no reading was kept"}
    text = reading[0]["text"]
    end = _end(text, *STOPS)
    # "eight pixels: not testable: ..." names itself first.
    rest = text[end + 2 :]
    if reading[0]["level"] == "not evaluated" and rest:
        return {"level": "not evaluated", "text": f"not evaluated: {rest[: _end(rest, *STOPS)]}"}
    return {"level": reading[0]["level"], "text": text[: _end(text, *STOPS, *WHERE)]}


def _end(text: str, *stops: str) -> int:
    """Where the first of some marks stands; the length where there is none."""
    return min((i for s in stops if (i := text.find(s)) > 0), default=len(text))


def _numbers(mine: Sequence[ControlResult]) -> list[dict[str, Any]]:
    """Numbers of experiments that are no 2x2: over all seeds and classes, as they stand in controls.csv."""
    known = ("score", "fingerprint", "inflation_whole_picture", "inflation_objects", "recovered_share")
    found = [c for c in mine if c.effect.what not in known and c.effect.seed is None and not c.effect.class_name]
    return [
        {
            "what": c.effect.what.replace("_", " "),
            "variant": c.variant,
            "model": lookup.model_name(c.effect.model) if c.effect.model else "",
            "condition": c.effect.condition,
            "value": _estimate(c),
            "chance": _number(c.chance),
            "p": _number(c.effect.p),
            "n": c.effect.n,
        }
        for c in found[:MOST_NUMBERS]
    ]


def _sheet(report: AuditReport, sheet: ControlSheet) -> dict[str, Any]:
    """What a model saw as one picture, `COLUMNS` in a row, and whose crops they are."""
    from PIL import Image

    from ..report.pictures import encoded

    k, h, w = sheet.pictures.shape[:3]
    columns = min(COLUMNS, k)
    rows = -(-k // columns)
    whole = np.full((rows * h, columns * w, 3), 255, np.uint8)
    for i, picture in enumerate(sheet.pictures):
        y, x = divmod(i, columns)
        whole[y * h : (y + 1) * h, x * w : (x + 1) * w] = picture
    return {
        "variant": sheet.variant,
        "caption": sheet.caption,
        "uri": encoded(Image.fromarray(whole)),
        "columns": columns,
        "rows": rows,
        "cells": [
            {"id": report.samples.ids[r], "label": lookup.label_of(report, r), "remark": line}
            for r, line in zip(sheet.rows.tolist(), sheet.lines, strict=True)
        ],
    }
