"""Labels that are probably wrong, seen through groups.

Confident learning on out-of-fold probabilities from two kinds of folds, because each is blind where the other sees: in
random folds correct mates expose a single wrong label, but a group that is wrong as a whole vouches for itself; in
group-disjoint folds no mate is asked. What both find is put together and named by its mechanism:

- cross-class duplicate: the same bytes or pixels stand under several labels; at least one of them is wrong;
- mixed group: an error is suspected, and less than or just half of the group's images have this label;
- group-wide: group-disjoint folds speak against at least half of the group's images with this label, so that all of
  them are listed;
- isolated: any other suspected error.

The mechanisms, their order (the first that fits counts) and the score are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .errors import InfeasibleError
from .grouping.merge import merge
from .metrics import Predictions, group_draws, score, totals
from .model import Bools, Descriptors, Effect, Floats, Grouping, Ints, LabelIssues, Note, OutOfFold, Samples, Strings
from .out_of_fold import GROUP, KINDS, RANDOM, out_of_fold
from .progress import Progress
from .stats import DRAWS, Support, seed_interval

ISOLATED, WIDE, DUPLICATE, MIXED = "isolated", "group-wide", "cross-class duplicate", "mixed group"
MECHANISMS = (DUPLICATE, MIXED, WIDE, ISOLATED)
TOPIC = "label issues"
COPIES = ("bytes", "pixels")
FLOOR = 1e-6
"""Smallest probability that enters a score: one certain model must not outvote everything else for good."""


def label_issues(
    samples: Samples,
    grouping: Grouping,
    descriptors: Descriptors,
    model: str = "linear_probe",
    *,
    folds: int = 5,
    seeds: int = 5,
    progress: Progress | None = None,
) -> LabelIssues:
    """Suspected label errors of a corpus.

    A kind of folds whose model is not shown to be better than chance (the 95 % interval of its balanced accuracy
    reaches 1/C) has nothing to say about labels: it is "not evaluated".

    Args:
        samples, grouping, descriptors: n rows each.
        model: a trainer by name.
        folds, seeds: folds of one division, and divisions that are averaged.

    Returns:
        LabelIssues; without labels of two classes nothing is evaluated, and notes say so.

    Raises:
        FieldError, InputError: as `out_of_fold`.
        MissingExtraError: cleanlab is not installed.
    """
    whole = grouping.with_unknown_as_singletons()
    seen: dict[str, OutOfFold] = {}
    notes: list[Note] = []
    for kind in KINDS:
        try:
            seen[kind] = out_of_fold(
                samples, whole, descriptors, model, kind=kind, k=folds, seeds=seeds, progress=progress
            )
            notes += seen[kind].notes
        except InfeasibleError as error:
            notes.append(Note("not evaluated", TOPIC, f"label issues by {kind} folds: {error}"))
    effects = _skill(samples, whole, model, seen)
    voices = {k: _voice(samples.labels, o) for k, o in seen.items() if _heard(k, effects, samples, notes)}
    issues = _together(_Corpus.of(samples, whole), model, voices, effects, notes)
    return replace(issues, options={"folds": folds, "seeds": seeds, "descriptor": descriptors.name})


@dataclass(frozen=True, eq=False)
class _Voice:
    """What one kind of folds says: rows evaluated, flagged (n,), belief in the given label (n,), probabilities."""

    rows: Ints
    flagged: Bools
    belief: Floats
    probabilities: NDArray[np.float64]


def _voice(labels: NDArray[np.integer], seen: OutOfFold) -> _Voice:
    from .datalab.confident import confident_learning

    rows = np.flatnonzero(seen.evaluated & (labels >= 0))
    flagged, belief = np.zeros(len(labels), bool), np.full(len(labels), np.nan)
    probabilities = np.asarray(seen.probabilities, np.float64)
    flagged[rows], belief[rows] = confident_learning(labels[rows], probabilities[rows])
    return _Voice(rows, flagged, belief, probabilities)


def _skill(samples: Samples, grouping: Grouping, model: str, seen: Mapping[str, OutOfFold]) -> tuple[Effect, ...]:
    """Accuracies under each kind of folds, against the given labels, under the same draws of group weights."""
    parts, kinds = [], []
    for kind, fold in seen.items():
        rows = np.flatnonzero(fold.evaluated & (samples.labels >= 0))
        if len(np.unique(samples.labels[rows])) > 1:
            truth, said = samples.labels[rows].astype(np.int64), fold.probabilities[rows].argmax(axis=1)
            parts.append(Predictions(grouping.codes[rows], truth, said, len(samples.classes)))
            kinds.append(kind)
    effects = []
    for kind, part, drawn in zip(kinds, parts, group_draws(parts, grouping.n_groups, DRAWS, 0), strict=True):
        support = Support.of(part.groups, part.truth)
        method = f"out of fold, {kind} folds, {len(seen[kind].plans)} divisions averaged; bootstrap over groups"
        for metric in ("balanced_accuracy", "accuracy"):
            value, draws = float(score(totals(part), metric)), score(drawn, metric)
            found = seed_interval(value, [value], draws, support, paired=False).within(0.0, 1.0)
            head = ("out_of_fold_score", model, f"{kind} folds", None, "", "", metric)
            effects.append(Effect(*head, found.estimate, found.low, found.high, float("nan"), len(part), method))
    return tuple(effects)


def _heard(kind: str, effects: tuple[Effect, ...], samples: Samples, notes: list[Note]) -> bool:
    """Whether the model knows anything under this kind of folds; if not, a note says so."""
    wanted = (f"{kind} folds", "balanced_accuracy")
    skill = next((e for e in effects if (e.condition, e.metric) == wanted), None)
    if skill is None:
        text = f"label issues by {kind} folds: fewer than two classes have images that could be evaluated"
        notes.append(Note("not evaluated", TOPIC, text))
        return False
    chance = 1 / len(np.unique(samples.labels[samples.labels >= 0]))
    if skill.low > chance:
        return True
    bound = f"{skill.low:.2f} to {skill.high:.2f}" if np.isfinite(skill.low) else "no interval: too few groups"
    text = (
        f"label issues by {kind} folds: {skill.model} is not shown to know more than chance there "
        f"(balanced accuracy {skill.estimate:.2f}, {bound}; chance {chance:.2f})"
    )
    notes.append(Note("not evaluated", TOPIC, text))
    return False


@dataclass(frozen=True, eq=False)
class _Corpus:
    """Labels and groups, with counts over the labelled images.

    Attributes:
        labels: int (n,).
        cell: int64 (n,), number of the (group, label); -1 without a label.
        share: float64 (n,), part of the group's labelled images that have this label; nan without a label.
        torn: bool (n,), in a set of copies with several labels.
    """

    labels: NDArray[np.int32]
    cell: Ints
    share: Floats
    torn: Bools

    @staticmethod
    def of(samples: Samples, grouping: Grouping) -> _Corpus:
        """Counts of a corpus."""
        n, labels = len(samples), samples.labels
        rows = np.flatnonzero(labels >= 0)
        key = grouping.codes[rows] * (len(samples.classes) + 1) + labels[rows]
        cell, share = np.full(n, -1, np.int64), np.full(n, np.nan)
        cell[rows] = np.unique(key, return_inverse=True)[1]
        size = np.bincount(grouping.codes[rows], minlength=grouping.n_groups)
        share[rows] = np.bincount(cell[rows])[cell[rows]] / size[grouping.codes[rows]] if len(rows) else 0
        return _Corpus(labels, cell, share, _torn(labels, grouping))

    def mean(self, values: NDArray[np.float64], rows: Ints) -> NDArray[np.float64]:
        """float64 (n,), the mean over the rows of each cell; nan where a cell has none."""
        cells = int(self.cell.max(initial=-1)) + 1
        count = np.bincount(self.cell[rows], minlength=cells)
        total = np.bincount(self.cell[rows], values[rows], minlength=cells)
        result = np.full(len(self.cell), np.nan)
        inside = self.cell >= 0
        with np.errstate(invalid="ignore"):
            result[inside] = (total / count)[self.cell[inside]]
        return result


def _torn(labels: NDArray[np.int32], grouping: Grouping) -> Bools:
    """bool (n,), whether the same bytes or pixels occur under another label too."""
    links = grouping.links
    copies = links.take(links.accepted & np.isin(links.source, COPIES))
    torn = np.zeros(len(labels), bool)
    if len(copies):
        sets = merge(len(labels), [copies], np.ones(len(labels), bool)).codes
        rows = np.flatnonzero(labels >= 0)
        several = np.bincount(np.unique(np.stack([sets[rows], labels[rows]]), axis=1)[0], minlength=int(sets.max()) + 1)
        torn[rows] = several[sets[rows]] > 1
    return torn


def _together(
    corpus: _Corpus, model: str, voices: Mapping[str, _Voice], effects: tuple[Effect, ...], notes: list[Note]
) -> LabelIssues:
    n = len(corpus.labels)
    by = {k: voices[k].flagged if k in voices else np.zeros(n, bool) for k in KINDS}
    belief = {k: voices[k].belief if k in voices else np.full(n, np.nan) for k in KINDS}
    wide = np.zeros(n, bool)
    if GROUP in voices:
        voice = voices[GROUP]
        several = np.bincount(corpus.cell[voice.rows], minlength=int(corpus.cell.max(initial=-1)) + 1) > 1
        inside = np.flatnonzero(corpus.cell >= 0)
        half = corpus.mean(voice.flagged.astype(np.float64), voice.rows)[inside] >= 0.5
        wide[inside] = half & several[corpus.cell[inside]]
    notes = [*notes, *_unevaluated(corpus.labels, voices)]
    return LabelIssues(
        model=model,
        mechanism=_mechanism(corpus, by[GROUP] | by[RANDOM], wide),
        suggested=_suggested(corpus, voices),
        score=_score(corpus, voices),
        by_group=by[GROUP],
        by_random=by[RANDOM],
        score_group=belief[GROUP],
        score_random=belief[RANDOM],
        effects=effects,
        notes=tuple(notes),
    )


def _mechanism(corpus: _Corpus, flagged: Bools, wide: Bools) -> Strings:
    minority = np.nan_to_num(corpus.share, nan=1.0) <= 0.5
    suspected = flagged | wide
    choices = [corpus.torn, suspected & minority, wide, suspected]
    return np.asarray(np.select(choices, list(MECHANISMS), ""), np.str_)


def _score(corpus: _Corpus, voices: Mapping[str, _Voice]) -> Floats:
    """Geometric mean of the beliefs in the given label: of the image and of the mean over mates with the same label,
    under each kind of folds that was evaluated for it."""
    n = len(corpus.labels)
    total, count = np.zeros(n), np.zeros(n)
    for voice in voices.values():
        for belief in (voice.belief, corpus.mean(voice.belief, voice.rows)):
            there = np.isfinite(belief) & np.isfinite(voice.belief)
            total[there] += np.log(np.maximum(belief[there], FLOOR))
            count[there] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp(total / np.where(count, count, np.nan)))


def _suggested(corpus: _Corpus, voices: Mapping[str, _Voice]) -> NDArray[np.int32]:
    """The most probable class over both kinds of folds, with mates of the same label; -1 if it is the given one."""
    n = len(corpus.labels)
    result = np.full(n, -1, np.int32)
    if not voices:
        return result
    classes = next(iter(voices.values())).probabilities.shape[1]
    total = np.zeros((n, classes))
    for voice in voices.values():
        rows = voice.rows
        total[rows] += np.log(np.maximum(voice.probabilities[rows], FLOOR))
        for c in range(classes):
            total[rows, c] += np.log(np.maximum(corpus.mean(voice.probabilities[:, c], rows)[rows], FLOOR))
    best = total.argmax(axis=1)
    there = (total != 0).any(axis=1) & (best != corpus.labels)
    result[there] = best[there]
    return result


def _unevaluated(labels: NDArray[np.int32], voices: Mapping[str, _Voice]) -> list[Note]:
    missing = int((labels < 0).sum())
    notes = [Note("not evaluated", TOPIC, "label issues: images without a label", missing)] if missing else []
    if not voices:
        notes.append(Note("not evaluated", TOPIC, "label issues: nothing but exact copies with several labels"))
    return notes
