"""The mates of an opened sample in the order in which they should be judged, and what is known about each pair."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from types import SimpleNamespace

from fiftyone_hsd import dataset
from fiftyone_hsd.report.lookup import Evidence

MOST = 20
_KEPT = {}


@dataclass(frozen=True)
class Shown:
    """One pair as the panel shows it."""

    a: str
    b: str
    paths: tuple[str, str]
    why: str
    here: tuple[str, ...]
    there: tuple[str, ...]
    said: str


def following(found, author):
    """The first pair of the queue that this author has not judged."""
    return next(iter(dataset.waiting(found, author)), None)


def count(found, sample_id):
    """Number of mates that can be shown for a sample."""
    return len(_others(found, sample_id))


def pair(found, sample_id, number, author):
    """The pair of the opened sample and one of its mates; None if it has none."""
    others = _others(found, sample_id)
    if not others:
        return None
    mine = {frozenset((v.path_a, v.path_b)) for v in dataset.verdicts(found) if v.author == author}
    waiting = [o for o in others if frozenset((sample_id, o[0])) not in mine]
    other, why = (waiting + [o for o in others if o not in waiting])[number % len(others)]
    fields = [f for f in ("id", "filepath", *_fields(found)) if f == "id" or found.has_field(f.partition(".")[0])]
    read = {row[0]: row for row in zip(*found.select([sample_id, other]).values(fields), strict=True)}
    if len(read) < 2:
        return None
    here, there = read[sample_id], read[other]
    lines = [tuple(str(v) for v in (PurePosixPath(r[1]).name, *r[2:]) if v is not None) for r in (here, there)]
    said = [v for v in dataset.verdicts(found) if {v.path_a, v.path_b} == {sample_id, other}]
    words = "; ".join(f"{v.author}: {v.verdict}" for v in said[-4:])
    first, second = sorted((sample_id, other))
    return Shown(first, second, (here[1], there[1]), why, *lines, f"Verdicts so far: {words}" if words else "")


def _fields(found):
    overview = dataset.stored_overview(found)
    return [f for f in (overview["label"], _partition(found), "hsd_group") if f]


def _partition(found):
    """The field with the split that is looked at: as published, else the last condition."""
    leaks = dataset.stored_overview(found)["leaks"]
    names = {leak["condition"]: leak["fields"]["partition"] for leak in leaks}
    return names.get("existing") or next(reversed(names.values()), "hsd_evidence")


def _others(found, sample_id):
    """[(id of another sample, why the two are shown together)]: pairs of the queue, then train mates, then the rest."""
    report = dataset.judged_report(found)
    if report is None or not sample_id:
        return []
    others = {}
    for pair in dataset.stored_queue(found):
        if sample_id in (pair.a, pair.b):
            other = pair.b if pair.a == sample_id else pair.a
            score = f", score {pair.score:.2f}" if pair.score == pair.score else ""
            others[other] = f"{pair.kind}: {pair.source + ': ' if pair.source else ''}{pair.rule}{score}"
    group, near, similarity = _known(found, sample_id)
    if group:
        grouping = dataset.groups_after(found)
        rows, evidence = _kept("rows", report, _rows), _kept("evidence", grouping, _evidence)
        members = found.match({"hsd_group": group}).limit(200).values(["id", _partition(found)])
        ordered = sorted(zip(*members, strict=True), key=lambda m: m[1] != "train")
        for other, _ in ordered[: MOST + 1]:
            if other != sample_id and other in rows and sample_id in rows:
                others.setdefault(other, evidence.between(rows[sample_id], rows[other]))
    if near:
        others.setdefault(near, f"nearest train image, similarity {similarity:.3f}; nothing links the two")
    there = dataset.alive(found, others)
    return [(other, why) for other, why in others.items() if other in there][:MOST]


def _known(found, sample_id):
    names = ("hsd_group", "hsd_nearest_train", "hsd_nearest_similarity")
    there = [n for n in names if found.has_field(n)]
    values = dict(zip(there, found.select(sample_id).values(there), strict=True))
    return tuple(next(iter(values.get(n) or [None]), None) for n in names)


def _rows(report):
    return {name: i for i, name in enumerate(report.samples.ids)}


def _evidence(grouping):
    return Evidence(SimpleNamespace(grouping=grouping))


def _kept(name, of, make):
    """What `make(of)` gives, made once as long as it is asked of the same value."""
    if _KEPT.get(name, (None,))[0] is not of:
        _KEPT[name] = (of, make(of))
    return _KEPT[name][1]
