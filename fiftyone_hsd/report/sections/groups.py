"""Groups: how many, how large, on what evidence, and what they look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import AuditReport, Ints
from .. import lookup
from ..blocks import Block, Cell, Column, Fact, Facts, Figure, Picture, PictureRow, Pictures, Section, Table
from ..lookup import Evidence
from ..wording import listed, many, part, percent, short

MOST_ROWS = 6
MOST_PICTURES = 7
MOST_RULES = 30
EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)


def section(report: AuditReport) -> Section:
    """The recovered groups."""
    grouping = report.grouping
    sizes = grouping.sizes
    several = sizes > 1
    notes = lookup.notices(grouping.notes, "info")
    if not several.any():
        lead = (
            "No group of two or more images was found. Nothing here can show dependence; that is “no dependence "
            "detectable”, not “clean”."
        )
        return Section("groups", "Groups", 20, lead, (*notes, *_evidence(report)))
    mates = int(sizes[several].sum())
    lead = f"{many(int(several.sum()), 'group')} of two or more images hold {part(mates, len(grouping))} images."
    blocks: list[Block] = [Facts(_facts(report)), _sizes(sizes), *notes, *_evidence(report)]
    browse = _Browse(report)
    blocks += [
        *browse.largest(),
        *browse.across_classes(),
        *browse.copies(),
        *browse.weakest(),
        *browse.against_truth(),
    ]
    return Section("groups", "Groups", 20, lead, tuple(blocks))


def _facts(report: AuditReport) -> tuple[Fact, ...]:
    sizes = report.grouping.sizes
    mean = float((sizes.astype(float) ** 2).sum() / sizes.sum())
    largest = int(sizes.max())
    longest = int(Evidence(report).strength.diameter.max(initial=0))
    return (
        Fact("Groups in all", len(sizes), f"{int((sizes == 1).sum()):,} of them hold a single image.", "count"),
        Fact("Largest group", largest, f"images, {percent(largest / sizes.sum())} of all.", "count"),
        Fact("Longest chain", longest, "links between two images of one group; long chains deserve a look.", "count"),
        Fact("Median size of groups of two or more", float(np.median(sizes[sizes > 1])), "images.", "number"),
        Fact("Group size met by a random image", mean, "images; large groups weigh more.", "number"),
    )


def _sizes(sizes: Ints) -> Figure:
    edges = [e for e in EDGES if e <= sizes.max()]
    place = np.searchsorted(edges, sizes, side="right") - 1
    groups = np.bincount(place, minlength=len(edges))
    images = np.bincount(place, weights=sizes, minlength=len(edges)).astype(int)
    ends = [*(e - 1 for e in edges[1:]), int(sizes.max())]
    names = [f"{a}" if a >= b else f"{a}–{b}" for a, b in zip(edges, ends, strict=True)]
    at = list(range(len(edges)))
    bars = {
        "type": "bar",
        "x": at,
        "y": images.tolist(),
        "customdata": groups.tolist(),
        "text": [f"{g:,}" for g in groups.tolist()],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": ["@c6"] + ["@c1"] * (len(at) - 1) if edges[0] == 1 else "@c1"},
        "hovertemplate": "%{customdata:,} groups<br>%{y:,} images<extra></extra>",
    }
    layout = {
        "xaxis": {
            "tickvals": at,
            "ticktext": names,
            "title": {"text": "images in the group"},
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"title": {"text": "images"}, "rangemode": "tozero"},
        "bargap": 0.25,
        "margin": {"t": 26},
    }
    rows = tuple(zip(names, groups.tolist(), images.tolist(), strict=True))
    table = Table(
        "Group sizes as a table",
        (Column("images in the group"), Column("groups", "count"), Column("images", "count")),
        rows,
        folded=True,
    )
    caption = "Images by the size of their group; the number on a bar counts the groups. Grey: single images."
    return Figure("Group sizes", (bars,), layout, caption, 320, table)


def _evidence(report: AuditReport) -> list[Block]:
    links = report.grouping.links
    if not len(links):
        return []
    sources, source = np.unique(links.source, return_inverse=True)
    # the figures behind the colon differ from pair to pair
    each = np.isin(links.source, ("similarity", "reviewer"))
    general = np.where(each, np.char.partition(links.rule, ":")[:, 0], links.rule)
    rules, rule = np.unique(general, return_inverse=True)
    kinds, number = np.unique(source * len(rules) + rule, return_inverse=True)
    rows: list[tuple[Cell, ...]] = []
    for k, kind in enumerate(kinds.tolist()):
        mine = number == k
        taken = mine & links.accepted
        images = len(np.unique(np.r_[links.a[taken], links.b[taken]]))
        weakest = float(links.score[taken].min()) if taken.any() else float("nan")
        words = (str(sources[kind // len(rules)]), str(rules[kind % len(rules)]))
        rows.append((*words, int(taken.sum()), images, weakest, int((mine & ~links.accepted).sum())))
    rows.sort(key=lambda r: (-int(r[2] or 0), str(r[0]), str(r[1])))  # type: ignore[arg-type]
    columns = (
        Column("source"),
        Column("rule"),
        Column("links", "count", "accepted; a group of m images from one rule has m − 1"),
        Column("images", "count", "touched by them"),
        Column("weakest", "number", "lowest confidence of an accepted link; 1 = certain"),
        Column("turned down", "count", "candidates that were looked at and not accepted"),
    )
    shown = tuple(rows[:MOST_RULES])
    total = len(rows) if len(rows) > len(shown) else 0
    return [Table("Rules and evidence", columns, shown, total=total, file="links.csv")]


class _Browse:
    """Groups as rows of pictures."""

    def __init__(self, report: AuditReport) -> None:
        self.report = report
        self.evidence = Evidence(report)
        self.codes = report.grouping.codes
        self.sizes = report.grouping.sizes
        self.order = np.argsort(self.codes, kind="stable")
        self.starts = np.searchsorted(self.codes[self.order], np.arange(len(self.sizes) + 1))
        found = lookup.primary(report, lookup.EXISTING)
        self.partition = None if found is None else found[0].partition

    def members(self, code: int) -> list[int]:
        """Rows of one group."""
        return [int(r) for r in self.order[self.starts[code] : self.starts[code + 1]]]

    def row(self, title: str, detail: str, rows: Sequence[int], limit: int = MOST_PICTURES) -> PictureRow:
        """Pictures of some samples."""
        return PictureRow(title, detail, tuple(self.picture(r) for r in rows[:limit]), more=max(0, len(rows) - limit))

    def picture(self, row: int) -> Picture:
        samples = self.report.samples
        published = "" if self.partition is None else str(self.partition[row])
        lines = tuple(filter(None, (published,)))
        return Picture(samples.paths[row], samples.ids[row], lines, tag=short(lookup.label_of(self.report, row), 24))

    def said(self, code: int) -> str:
        """Evidence of a group in words."""
        sources, weakest = self.evidence.summary(code)
        if not sources:
            return "no link on record"
        return f"evidence: {sources}" + ("" if weakest >= 1 else f", weakest link {weakest:.2f}")

    def largest(self) -> list[Block]:
        chosen = np.argsort(-self.sizes, kind="stable")[:MOST_ROWS]
        rows = tuple(
            self.row(many(int(self.sizes[c]), "image"), self.said(int(c)), self.members(int(c)))
            for c in chosen.tolist()
            if self.sizes[c] > 1
        )
        return [Pictures("The largest groups", rows, "Do these belong together? If not, a rule is wrong.")]

    def across_classes(self) -> list[Block]:
        labels = self.report.samples.labels
        rows = np.flatnonzero((labels >= 0) & (self.codes >= 0))
        codes, classes = np.unique(lookup.pairs_of(self.codes[rows], labels[rows])[0], return_counts=True)
        codes = codes[classes > 1]
        if not len(codes):
            return []
        order = codes[np.argsort(-self.sizes[codes], kind="stable")]
        shown = []
        for code in order[:MOST_ROWS].tolist():
            members = sorted(self.members(code), key=lambda r: (labels[r], r))
            first = list({int(labels[r]): r for r in reversed(members)}.values())
            rest = [r for r in members if r not in set(first)]
            names = listed(sorted({lookup.label_of(self.report, r) for r in members} - {""}), 4)
            shown.append(self.row(f"{many(len(members), 'image')}: {names}", self.said(code), first[::-1] + rest))
        images = int(self.sizes[codes].sum())
        caption = (
            f"{many(len(codes), 'group')} with {many(images, 'image')} hold more than one class. That is normal where "
            "one patient gives several classes, and a label error where the images are the same."
        )
        return [Pictures("Groups across classes", tuple(shown), caption)]

    def copies(self) -> list[Block]:
        """Sets of images with the same decoded pixels, those that disagree in label or partition first."""
        pixels = np.array(self.report.scan.pixels, dtype=np.str_)
        _, number, counts = np.unique(pixels, return_inverse=True, return_counts=True)
        repeated = np.flatnonzero((counts[number] > 1) & (pixels != ""))
        if not len(repeated):
            return []
        sets: dict[int, list[int]] = {}
        for row in repeated.tolist():
            sets.setdefault(int(number[row]), []).append(row)
        split = self.report.samples.split
        labels = self.report.samples.labels

        def faults(rows: list[int]) -> tuple[bool, bool]:
            classes = {int(labels[r]) for r in rows} - {-1}
            return len(classes) > 1, len({str(split[r]) for r in rows} - {""}) > 1

        order = sorted(sets.values(), key=lambda rows: (*(not f for f in faults(rows)), -len(rows), rows[0]))
        shown = []
        for rows in order[:MOST_ROWS]:
            label, crossing = faults(rows)
            words = ["different labels" if label else "", "in different partitions" if crossing else ""]
            same = len({self.report.scan.content[r] for r in rows}) == 1
            shown.append(
                self.row(
                    f"{len(rows)} times the same {'file' if same else 'pixels'}",
                    " and ".join(filter(None, words)),
                    rows,
                    6,
                )
            )
        conflicts = sum(faults(r)[0] for r in order)
        across = sum(faults(r)[1] for r in order)
        caption = f"{many(len(order), 'set')} of identical pictures ({many(len(repeated), 'image')})."
        if self.report.samples.labelled:
            caption += f" {many(conflicts, 'set')} with different labels."
        if (split != "").any():
            caption += f" {many(across, 'set')} across partitions of the split as published."
        return [Pictures("Exact copies", tuple(shown), caption)]

    def against_truth(self) -> list[Block]:
        """Pairs on which the groups found and the true ones disagree, when the truth was opened."""
        row = {name: i for i, name in enumerate(self.report.samples.ids)}
        blocks: list[Block] = []
        for topic in ("missed pairs", "false pairs"):
            for note in self.report.notes:
                pairs = [tuple(e.split(" | ")) for e in note.examples] if note.topic == topic else []
                shown = [p for p in pairs if len(p) == 2 and all(i in row for i in p)][:MOST_ROWS]
                rows = tuple(self.row(" | ".join(p), "", [row[i] for i in p]) for p in shown)
                if rows:
                    blocks.append(Pictures(f"Against the truth: {topic}", rows, note.text))
        return blocks

    def weakest(self) -> list[Block]:
        """Groups that hang on an uncertain link."""
        links, found = self.report.grouping.links, self.evidence.strength
        uncertain = np.flatnonzero(found.weakest < 1)
        uncertain = uncertain[np.argsort(found.weakest[uncertain], kind="stable")][:MOST_ROWS]
        shown: list[PictureRow] = []
        for r in found.weakest_link[uncertain].tolist():
            pair = [int(links.a[r]), int(links.b[r])]
            shown.append(self.row(f"Confidence {links.score[r]:.2f}", self.evidence.between(*pair), pair))
        if not shown:
            return []
        caption = (
            "The least certain links that hold a group together, one a group. If these are right, the others are too."
        )
        return [Pictures("Weakest links", tuple(shown), caption)]
