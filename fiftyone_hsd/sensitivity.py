"""How much the inflation depends on the grouping: other groups, other splits, a cheap model again (method, 4.10)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import trainers
from .audit import ladder_plans, read_images
from .descriptors import by_name
from .effects import effects
from .errors import InputError, StaleError
from .exposure import exposure
from .model import TEST, AuditReport, Descriptors, Effect, Grouping, Ints, Links, Note, TrainConfig
from .progress import Progress, guarded
from .report import lookup
from .settings import Settings
from .splitting import CONDITIONS
from .trainers._recipes import is_network

SHARE = 0.1
"""Of the links that are dropped or added (the method's choice)."""
PREFIX = "sensitivity: "
ENDS = (CONDITIONS[0], CONDITIONS[-1])


@dataclass(frozen=True, eq=False)
class Variant:
    """Other groups that the same evidence could have given.

    Attributes:
        name: short, in effects.csv behind `sensitivity: `.
        words: what was changed.
    """

    name: str
    words: str
    grouping: Grouping


def variants(grouping: Grouping, labels: NDArray[np.signedinteger[Any]], *, seed: int = 0) -> list[Variant]:
    """The groupings to compare with the one that was found.

    A tenth of the links dropped at random, or the weakest tenth; a tenth as many false joins of two groups of one
    class added; and without each source of evidence where there are several.

    Args:
        grouping: with accepted links inside groups.
        labels: int (n,), false joins are drawn inside classes.
    """
    links = grouping.links
    inside = np.flatnonzero(links.accepted & (grouping.codes[links.a] == grouping.codes[links.b]))
    if not len(inside):
        return []
    rng = np.random.default_rng([seed, 410])
    drop = max(1, round(SHARE * len(inside)))
    found = [
        Variant(
            "links dropped",
            f"{drop:,} of {len(inside):,} links dropped at random",
            _linked(grouping, rng.permutation(inside)[drop:]),
        )
    ]
    score = links.score[inside]
    if score.min() < score.max():
        order = inside[np.argsort(score, kind="stable")]
        words = f"the {drop:,} weakest of {len(inside):,} links dropped"
        found.append(Variant("weakest links dropped", words, _linked(grouping, order[drop:])))
    joins = max(1, round(SHARE * (len(grouping) - grouping.n_groups)))
    found.append(
        Variant("links added", f"{joins:,} false links inside classes added", _joined(grouping, labels, joins, rng))
    )
    sources = np.unique(links.source[inside]).tolist()
    for source in sources if len(sources) > 1 else ():
        kept = inside[links.source[inside] != source]
        found.append(Variant(f"without {source}", f"without the evidence of {source}", _linked(grouping, kept)))
    return found


def _linked(grouping: Grouping, rows: Ints) -> Grouping:
    """Groups by some of the links alone."""
    links = grouping.links.take(np.sort(rows))
    return Grouping(_components(len(grouping), links.a, links.b), links)


def _joined(
    grouping: Grouping, labels: NDArray[np.signedinteger[Any]], joins: int, rng: np.random.Generator
) -> Grouping:
    """The groups, with random pairs of groups of one class made one."""
    first = np.unique(grouping.codes, return_index=True)[1]
    pairs: list[tuple[int, int]] = []
    for c in np.unique(labels[first]).tolist():
        mine = first[labels[first] == c]
        k = round(joins * len(mine) / len(first))
        if len(mine) > 1:
            pairs += [tuple(rng.choice(mine, 2, replace=False).tolist()) for _ in range(max(1, k))]
    star = Links.from_codes(grouping.codes, "group")
    a = np.r_[star.a, [p[0] for p in pairs]].astype(np.int64)
    b = np.r_[star.b, [p[1] for p in pairs]].astype(np.int64)
    return Grouping(_components(len(grouping), a, b), grouping.links)


def _components(n: int, a: Ints, b: Ints) -> Ints:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def sensitivity(report: AuditReport, state: Path | None = None, progress: Progress | None = None) -> list[Effect]:
    """The inflation of a cheap model again, under the splits of each variant of the groups.

    Args:
        report: an audit; the model is its linear probe, else its first one that is no network.
        state: the state folder of the audit, where its descriptors are.

    Returns:
        one effect a variant, `what` = `sensitivity: NAME`; nan with the reason where a variant has no splits.

    Raises:
        InputError: the report holds no cheap model.
        StaleError: images changed since.
    """
    tell = guarded(progress)
    cheap = [m for m in dict.fromkeys(r.config.model for r in report.runs) if not is_network(m)]
    if not cheap:
        raise InputError("no cheap model was run", "linear_probe or nearest_neighbour", "run `hsd audit` with one")
    model = "linear_probe" if "linear_probe" in cheap else cheap[0]
    known = {f.name for f in dataclasses.fields(Settings)}
    options = Settings.of({k: v for k, v in report.settings.items() if k in known})
    found, vectors = read_images(report.samples, by_name(options.descriptor), state, tell)
    if found.content != report.scan.content:
        raise StaleError("images changed since the audit", advice="run the audit again")
    several = variants(report.grouping, report.samples.labels)
    made = []
    for done, one in enumerate(several):
        tell(done, len(several), f"sensitivity to the groups: {one.name}")
        made.append(_inflation(report, one, model, vectors, options))
    return made


def _inflation(report: AuditReport, one: Variant, model: str, vectors: Descriptors, options: Settings) -> Effect:
    metric, nan, samples = lookup.metric(report), float("nan"), report.samples
    notes: list[Note] = []
    plans = [p for p in ladder_plans(samples, one.grouping, options, notes, guarded(None)) if p.condition in ENDS]
    if not plans:
        why = f"{one.words}; not evaluated: {notes[-1].text if notes else 'no split of these groups'}"
        return Effect(PREFIX + one.name, model, ENDS[1], None, TEST, "", metric, nan, nan, nan, nan, 0, why)
    train = trainers.by_name(model)
    runs = [train(samples, p, vectors, TrainConfig(model, p.seed)) for p in plans]
    exposures = [exposure(p, one.grouping) for p in plans]
    rows = effects(samples, one.grouping, plans, exposures, runs)
    wanted = [e for e in rows if (e.what, e.condition, e.metric, e.class_name) == ("inflation", ENDS[1], metric, "")]
    base = wanted[0] if wanted else Effect("", model, ENDS[1], None, TEST, "", metric, nan, nan, nan, nan, 0, "none")
    groups = f"{one.words}: {one.grouping.n_groups:,} groups instead of {report.grouping.n_groups:,}"
    return dataclasses.replace(base, what=PREFIX + one.name, method=f"{groups}; {base.method}")
