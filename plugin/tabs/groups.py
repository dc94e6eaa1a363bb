"""Groups: sizes, rules in words, what else was considered, weak links, conflicts."""

from __future__ import annotations

from fiftyone_hsd.report.wording import listed, many, part

from ..blocks import NEUTRAL, UNEXPOSED, Buttons, Click, Head, Plot, Rows, Said

TITLE = "Groups"
ORDER = 0
FIELDS = ["hsd_group", "hsd_evidence", "hsd_group_size"]


def tab(overview, state):  # noqa: ARG001 - the signature of every tab
    """The blocks; this tab has no state."""
    groups, n = overview["groups"], overview["images"]
    if not groups["several"]:
        text = (
            "No group of two or more images was found: no dependence is detectable, which does not mean there is none."
        )
        return [Said(text), *_rules(groups)]
    text = f"{many(groups['several'], 'group')} of two or more images hold {part(groups['with_mate'], n)} images"
    blocks = [Said(text, "info", f"The largest holds {groups['largest']:,}; {groups['groups']:,} groups in all.")]
    clicks = [Click("images with a mate", {"saved": "hsd-groups"}, FIELDS), Click("everything", {"everything": True})]
    blocks += [Buttons("mates", clicks), *_sizes(groups), *_rules(groups), *_conflicts(groups), *_weakest(groups)]
    blocks += _list("largest", "The largest groups", groups["list"])
    if groups["across"]:
        title = f"{many(groups['across_classes'], 'group')} with several classes"
        blocks += _list("across", title, groups["across"])
    return blocks


def _sizes(groups):
    rows = groups["sizes"]
    names = [f"{r['low']}" if r["low"] >= r["high"] else f"{r['low']}–{r['high']}" for r in rows]
    bars = {
        "type": "bar",
        "x": list(range(len(rows))),
        "y": [r["images"] for r in rows],
        "text": [many(r["groups"], "group") for r in rows],
        "marker": {"color": [NEUTRAL if r["high"] == 1 else UNEXPOSED for r in rows]},
        "hovertext": [f"{many(r['groups'], 'group')}, {many(r['images'], 'image')}" for r in rows],
        "hoverinfo": "text",
    }
    clicks = [
        Click(
            f"groups of {n}",
            {"at_least": {"hsd_group_size": r["low"]}, "below": {"hsd_group_size": r["high"] + 1}},
            FIELDS,
        )
        for n, r in zip(names, rows, strict=True)
    ]
    layout = {
        "xaxis": {"tickvals": list(range(len(rows))), "ticktext": names, "title": {"text": "images in the group"}},
        "yaxis": {"title": {"text": "images"}, "rangemode": "tozero"},
        "margin": {"t": 10, "b": 45, "l": 55, "r": 10},
    }
    yield Head("Sizes", "Images by the size of their group; a click shows them")
    yield Plot("sizes", [bars], layout, [clicks], height=230)


def _rules(groups):
    yield Head("Rules", "What links images, and how sure the weakest link is")
    if not groups["rules"]:
        yield Said("No link was found.")
    else:
        columns = (
            ("source", "Source"),
            ("rule", "Rule"),
            ("links", "Links"),
            ("images", "Images"),
            ("weakest", "Weakest"),
            ("turned_down", "Turned down"),
        )
        rows = [{**r, "weakest": _score(r["weakest"])} for r in groups["rules"]]
        yield Rows("rules", columns, rows)
    for note in groups["said"]:
        severity = "warning" if note["level"] in ("warning", "problem") else "info"
        yield Said(
            note["text"],
            severity,
            "Also considered or seen: " + listed(note["examples"], 8) if note["examples"] else "",
        )


def _conflicts(groups):
    yield Head("Conflicts between sources")
    if not groups["conflicts"]:
        yield Said("None: no source contradicts another.", "success")
    for note in groups["conflicts"]:
        yield Said(f"{note['text']} ({note['count']:,})", "error", listed(note["examples"], 6))


def _weakest(groups):
    rows = groups["weakest"]
    yield Head("Weakest links", "Accepted, but the least certain: look at these pairs first")
    if not rows:
        yield Said("Every accepted link is certain (1).", "success")
        return
    columns = (("score", "Score"), ("source", "Source"), ("rule", "Rule"), ("pair", "Pair"))
    shown = [
        {**r, "score": _score(r["score"]), "pair": " · ".join(n.rpartition("/")[2] for n in r["names"])} for r in rows
    ]
    clicks = [Click("a weak link", {"ids": [r["a"], r["b"]]}, FIELDS) for r in rows]
    yield Rows("weakest", columns, shown, clicks, "Show the pair")


def _list(name, title, rows):
    yield Head(title, "A row's button shows the group")
    columns = (
        ("size", "Images"),
        ("evidence", "Evidence"),
        ("weakest", "Weakest"),
        ("classes", "Classes"),
    )
    shown = [
        {**r, "weakest": _score(r["weakest"]), "classes": listed(r["classes"], 4) if r["classes"] else "–"}
        for r in rows
    ]
    clicks = [Click(f"group {r['group']}", {"equal": {"hsd_group": r["group"]}}, FIELDS) for r in rows]
    yield Rows(name, columns, shown, clicks, "Show the group")


def _score(value):
    return "–" if value is None else f"{value:.3f}"
