"""Labels that are probably wrong, seen through groups.

Confident learning on out-of-fold probabilities from two kinds of folds, because each is blind where the other sees: in
random folds correct mates expose a single wrong label, but a group that is wrong as a whole vouches for itself; in
group-disjoint folds no mate is asked. What both find is put together and named by its mechanism:

- cross-class duplicate: the same bytes or pixels stand under several labels; at least one of them is wrong;
- mixed group: an error is suspected, and less than or just half of the group's images have this label;
- group-wide: group-disjoint folds speak against at least half of the group's images with this label, so that all of
  them are listed;
- isolated: any other suspected error.

Confident learning takes what a model gets wrong with confidence for errors of the labels, also where all labels are
right. So every suspicion is weighed (see `label_beliefs.bound`), and `likely` says which ones hold. The mechanisms,
their order (the first that fits counts), the weighing and the score are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .errors import InfeasibleError
from .label_beliefs import Labelled, Voice, together, voice
from .metrics import Predictions, group_draws, score, totals
from .model import Bools, Descriptors, Effect, Grouping, LabelIssues, Note, OutOfFold, Samples, Strings
from .out_of_fold import GROUP, KINDS, RANDOM, out_of_fold
from .progress import Progress
from .stats import DRAWS, Support, seed_interval

ISOLATED, WIDE, DUPLICATE, MIXED = "isolated", "group-wide", "cross-class duplicate", "mixed group"
MECHANISMS = (DUPLICATE, MIXED, WIDE, ISOLATED)
TOPIC = "label issues"


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
    corpus = Labelled.of(samples, whole)
    voices = {k: voice(corpus, o) for k, o in seen.items() if _heard(k, effects, samples, notes)}
    issues = _together(corpus, model, voices, effects, notes)
    return replace(issues, options={"folds": folds, "seeds": seeds, "descriptor": descriptors.name})


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


def _together(
    corpus: Labelled, model: str, voices: Mapping[str, Voice], effects: tuple[Effect, ...], notes: list[Note]
) -> LabelIssues:
    n = len(corpus.labels)
    by = {k: voices[k].flagged if k in voices else np.zeros(n, bool) for k in KINDS}
    given = {k: voices[k].given if k in voices else np.full(n, np.nan) for k in KINDS}
    likely = corpus.torn.copy()
    for spoken in voices.values():
        likely |= spoken.likely
    wide = np.zeros(n, bool)
    if GROUP in voices:
        wide = _wide(corpus, voices[GROUP], voices[GROUP].flagged)
        likely |= _wide(corpus, voices[GROUP], voices[GROUP].likely)
    score, suggested = together(list(voices.values()), corpus.labels)
    return LabelIssues(
        model=model,
        mechanism=_mechanism(corpus, by[GROUP] | by[RANDOM], wide),
        suggested=suggested,
        score=score,
        by_group=by[GROUP],
        by_random=by[RANDOM],
        score_group=given[GROUP],
        score_random=given[RANDOM],
        effects=effects,
        notes=(*notes, *_unevaluated(corpus.labels, voices)),
        likely=likely,
    )


def _wide(corpus: Labelled, spoken: Voice, flagged: Bools) -> Bools:
    """bool (n,), the images of every (group, label) with two images or more of which at least half are flagged."""
    wide = np.zeros(len(flagged), bool)
    inside = np.flatnonzero(corpus.cell >= 0)
    cell = corpus.cell[inside]
    several = np.bincount(corpus.cell[spoken.rows], minlength=int(corpus.cell.max(initial=-1)) + 1) > 1
    half = corpus.mean(flagged.astype(np.float64), spoken.rows)[inside] >= 0.5
    wide[inside] = half & several[cell]
    return wide


def _mechanism(corpus: Labelled, flagged: Bools, wide: Bools) -> Strings:
    minority = np.nan_to_num(corpus.share, nan=1.0) <= 0.5
    suspected = flagged | wide
    choices = [corpus.torn, suspected & minority, wide, suspected]
    return np.asarray(np.select(choices, list(MECHANISMS), ""), np.str_)


def _unevaluated(labels: NDArray[np.int32], voices: Mapping[str, Voice]) -> list[Note]:
    missing = int((labels < 0).sum())
    notes = [Note("not evaluated", TOPIC, "label issues: images without a label", missing)] if missing else []
    if not voices:
        notes.append(Note("not evaluated", TOPIC, "label issues: nothing but exact copies with several labels"))
    return notes
