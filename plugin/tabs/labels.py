"""Labels: labels that may be wrong, by mechanism, class and group; before they were looked for, what that would do."""

from __future__ import annotations

from fiftyone_hsd.report.wording import many, part, percent

from ..blocks import EXPOSED, UNEXPOSED, Actions, Buttons, Click, Head, Plot, Rows, Said
from ..drawing import tick

TITLE, ORDER = "Labels", 4
FIELDS = ("hsd_label_issue", "hsd_label_suggested", "hsd_label_score")
LIKELY, EVERY = "hsd:label-issue:likely", "hsd:label-issue"
SHOWN_CLASSES, SHOWN_GROUPS, SHOWN_SUSPECTS = 30, 15, 20
MODEL_ONLY = "What is suspected only may be the model's own error."


def tab(overview, state):  # noqa: ARG001 - the signature of every tab
    """The stored label results, or what looking for them would do."""
    found = overview.get("labels")
    if not found:
        return [*_none()]
    blocks = [*_sentence(found), *_views(found), *_mechanisms(found), *_classes(found), *_groups(found)]
    blocks += [*_suspects(found), *_folds(found), *_checks(found), *_notes(found)]
    again = [("Look again", "labels", {}), ("Undo the label results", "undo", {"what": "labels"})]
    return [*blocks, Actions("labels_again", again)]


def _none():
    text = (
        "A model predicts every label twice, from folds that keep groups whole and from folds that do not: a correct "
        "mate exposes a single wrong label, and a group that is wrong as a whole cannot vouch for itself. No label is "
        "changed."
    )
    yield Said("Label errors have not been looked for yet.", "info", text)
    yield Actions("labels_find", [("Find label errors", "labels", {})])


def _sentence(found):
    n = found["labelled"]
    if not found["evaluated"]:
        more = (
            f"{many(found['flagged'], 'exact copy', 'exact copies')} disagree in their label."
            if found["flagged"]
            else ""
        )
        yield Said("Label errors were not evaluated; the reasons are below.", "warning", more)
    elif not found["flagged"]:
        yield Said(f"No label is suspected by {found['model']}, out of {n:,}.", "success")
    else:
        likely, every = part(found["likely"], n), part(found["flagged"], n)
        text = f"{likely} labels are likely to be wrong by {found['model']}; {every} are suspected."
        yield Said(text, "warning" if found["likely"] else "info", MODEL_ONLY)


def _views(found):
    names = {
        "hsd-label-likely": f"likely ({found['likely']:,})",
        "hsd-label-issues": f"all suspected ({found['flagged']:,})",
    }
    clicks = [Click(names[v], {"saved": v}, FIELDS) for v in names if v in found["views"]]
    if clicks:
        yield Buttons("label_views", [*clicks, Click("everything", {"everything": True})])


def _mechanisms(found):
    yield Head(
        "By mechanism", "Likely: of the images up to there, at least half would be wrong if 3.3 % of all labels were"
    )
    columns = (
        ("mechanism", "Mechanism"),
        ("images", "Images"),
        ("likely", "Likely"),
        ("group", "Group folds"),
        ("random", "Random folds"),
        ("meaning", "What it is"),
    )
    clicks = [
        Click(r["mechanism"], {"equal": {"hsd_label_issue": r["mechanism"]}}, FIELDS) if r["images"] else None
        for r in found["mechanisms"]
    ]
    yield Rows("label_mechanisms", columns, found["mechanisms"], clicks, "Show these images")


def _classes(found):
    rows = found["classes"][:SHOWN_CLASSES]
    if not rows:
        return
    yield Head("By class", "Suspected labels of each class, the largest share first; a click shows them")
    names = [tick(r["class"]) for r in rows]
    sides = ((LIKELY, EXPOSED, "likely"), (EVERY, UNEXPOSED, "suspected only"))
    traces, clicks = [], []
    for tag, colour, word in sides:
        counts = [r["likely"] if tag == LIKELY else r["flagged"] - r["likely"] for r in rows]
        hover = [f"{n}: {c:,} of {r['n']:,} {word}" for n, c, r in zip(names, counts, rows, strict=True)]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": word,
                "x": counts,
                "y": list(range(len(rows))),
                "marker": {"color": colour},
                "text": [f"{c:,}" if c else "" for c in counts],
                "hovertext": hover,
                "hoverinfo": "text",
            }
        )
        tags = {"tagged": [LIKELY]} if tag == LIKELY else {"tagged": [EVERY], "untagged": [LIKELY]}
        wanted = [{**tags, "equal": {found["label"]: r["class"]}} for r in rows]
        clicks.append([Click(f"{word}, {r['class']}", w, FIELDS) for r, w in zip(rows, wanted, strict=True)])
    layout = {
        "barmode": "stack",
        "bargap": 0.3,
        "margin": {"t": 30, "b": 30, "l": 140, "r": 10},
        "yaxis": {"tickvals": list(range(len(rows))), "ticktext": names, "autorange": "reversed", "automargin": True},
        "xaxis": {"rangemode": "tozero", "tickformat": ",d"},
    }
    yield Plot("label_classes", traces, layout, clicks if found["label"] else (), height=110 + 26 * len(rows))
    if len(found["classes"]) > len(rows):
        yield Said(f"{len(found['classes']) - len(rows)} more classes have suspected labels.")


def _groups(found):
    rows = found["groups"][:SHOWN_GROUPS]
    yield Head(
        "Groups that look wrong as a whole", "Folds without mates speak against at least half of the group's label"
    )
    if not rows:
        why = "" if found["folds"][0]["evaluated"] else " Folds that keep groups whole were not evaluated."
        yield Said(f"None was found.{why}")
        return
    columns = (("first", "First image"), ("images", "Images"), ("label", "Label"), ("likely", "Likely"))
    shown = [
        {"first": r["first"], "images": f"{r['images']:,} of {r['size']:,}", "label": _rather(r), "likely": r["likely"]}
        for r in rows
    ]
    clicks = [Click(f"group {r['group']}", {"ids": r["ids"]}, FIELDS) for r in rows]
    yield Rows("label_groups", columns, shown, clicks, "Show the group's images of this label")
    if len(found["groups"]) > len(rows):
        yield Said(f"{len(found['groups']) - len(rows)} or more further groups are in the view of this mechanism.")


def _suspects(found):
    rows = found["suspects"][:SHOWN_SUSPECTS]
    if not rows:
        return
    yield Head("The least believed labels", "A row's button shows the image and its mates")
    columns = (("name", "Image"), ("label", "Label"), ("why", "Mechanism"), ("belief", "Belief"))
    shown = [
        {
            "name": r["name"],
            "label": _rather(r),
            "why": f"{r['mechanism']}, likely" if r["likely"] else r["mechanism"],
            "belief": "–" if r["belief"] is None else f"{r['belief']:.3f}",
        }
        for r in rows
    ]
    clicks = [Click(r["name"], {"ids": [r["id"], *r["mates"]]}, FIELDS) for r in rows]
    yield Rows("label_suspects", columns, shown, clicks, "Show it with its mates")


def _rather(row):
    return f"{row['label']}, rather {row['suggested']}?" if row["suggested"] else row["label"]


def _folds(found):
    yield Head(
        "How far the model can be trusted", "Balanced accuracy against the given labels, 95 % intervals over groups"
    )
    columns = (("folds", "Folds"), ("score", "Score"), ("images", "Called errors"), ("status", "Status"))
    words = {"group": "keep groups whole", "random": "deal single images"}
    rows = [
        {
            "folds": words[f["kind"]],
            "score": _score(f["skill"]),
            "images": f["images"] if f["evaluated"] else "–",
            "status": "evaluated" if f["evaluated"] else f"not evaluated: {f['reason'] or 'no reason was kept'}",
        }
        for f in found["folds"]
    ]
    yield Rows("label_folds", columns, rows)
    yield Said(
        f"Suspected {_share(found, 'flagged')} and likely {_share(found, 'likely')} of the labels.",
        "info",
        "A model also suspects what it gets wrong with confidence, also where all labels are right.",
    )


def _score(skill):
    if not skill or skill[0] is None:
        return "not estimable"
    return f"{skill[0]:.3f}" if skill[1] is None else f"{skill[0]:.3f} ({skill[1]:.3f} to {skill[2]:.3f})"


def _share(found, key):
    return percent(found[key] / found["labelled"]) if found["labelled"] else "none"


def _checks(found):
    yield Head("Further checks of cleanlab's Datalab")
    if not found["checks"]:
        yield Said("None was asked for; the form of Find label errors offers them.")
        return
    columns = (("check", "Check"), ("images", "Images"), ("status", "Status"))
    rows = [
        {
            "check": c["check"],
            "images": "–" if c["images"] is None else c["images"],
            "status": f"not evaluated: {c['reason']}" if c["reason"] else "evaluated",
        }
        for c in found["checks"]
    ]
    clicks = [Click(c["check"], {"ids": c["ids"]}, FIELDS) if c["ids"] else None for c in found["checks"]]
    yield Rows("label_checks", columns, rows, clicks, "Show the worst of them")


def _notes(found):
    kinds = {"not evaluated": "info", "problem": "error", "warning": "warning", "info": "info"}
    for note in found["notes"]:
        count = f" ({note['count']:,})" if note["count"] else ""
        head = "Not evaluated: " if note["level"] == "not evaluated" else ""
        yield Said(f"{head}{note['text']}{count}", kinds[note["level"]])
