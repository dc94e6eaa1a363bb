"""The answer in a few words, never claiming more than the numbers hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .dependence import undetectable
from .exposure import crossing, exposure_rate
from .metrics import METRICS
from .model import SENTINEL, TRAIN, UNUSED, Effect, Exposure, Grouping, Samples, SplitPlan
from .scoreboard import readout
from .splitting import CONDITIONS, SHUFFLE
from .trainers._recipes import in_words

MOST_MODELS = 3


def verdict(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    effects: Sequence[Effect],
) -> str:
    """What was found, about the split as published and about random splits, with the uncertainty.

    Args:
        samples, grouping, plans, exposures: of one audit.
        effects: its numbers; an inflation is claimed only where its interval lies above 0.
    """
    known = grouping.with_unknown_as_singletons()
    published = _existing(known, plans, exposures)
    doubt = undetectable(samples, known)
    if doubt:
        parts = [f"No dependence detectable: {doubt}. That is not a proof of independence."]
        if (known.sizes > 1).any():
            parts.append(published)
        return " ".join(p for p in parts if p)
    sizes = known.sizes
    shared, several = int(sizes[sizes > 1].sum()), int((sizes > 1).sum())
    found = (
        f"{shared} of {len(samples)} images share a group with another "
        f"({several} {'group' if several == 1 else 'groups'} of two or more)."
    )
    return " ".join(p for p in (found, published, _inflation(samples, plans, effects)) if p)


def _existing(grouping: Grouping, plans: Sequence[SplitPlan], exposures: Sequence[Exposure]) -> str:
    for plan, result in zip(plans, exposures, strict=True):
        if plan.condition != "existing":
            continue
        _, _, crossed = crossing(plan, grouping.codes)
        read = readout(plan)
        others = sorted(set(plan.partition.tolist()) - {TRAIN, UNUSED, SENTINEL}, key=lambda p: (p != read, p))
        if not crossed:
            return f"The published split ({TRAIN}, {', '.join(others)}) crosses no known group."
        k = int((plan.partition == read).sum())
        rate = exposure_rate(result, plan.partition == read)
        return (
            f"The published split crosses {crossed} {'group' if crossed == 1 else 'groups'}: "
            f"{rate:.1%} of its {k} {read} images have a mate in train."
        )
    return ""


def _inflation(samples: Samples, plans: Sequence[SplitPlan], effects: Sequence[Effect]) -> str:
    if not samples.labelled:
        return "Inflation was not evaluated: no labels."
    if not any(p.condition == CONDITIONS[0] for p in plans):
        return "No intact split of these groups exists, so inflation was not evaluated; the notes name the classes."
    # Where `random` could not release the groups, the plain shuffle is the true endpoint of the ladder.
    end = SHUFFLE if any(e.what == "inflation" and e.condition == SHUFFLE for e in effects) else CONDITIONS[-1]
    of = [e for e in effects if e.what == "inflation" and e.condition == end and e.metric == METRICS[0] and e.model]
    if not of:
        return "Inflation was not evaluated: no model was run under both intact and random."
    # The first model asked for speaks: picking the one with the largest change would be picking a winner.
    first, others = of[0], of[1:MOST_MODELS]
    words = f"From whole groups to a random split, balanced accuracy of {_change(first)}: {_claim(first)}"
    if others:
        words += f"; {', '.join(_change(e) for e in others)}"
        disagree = [e for e in others if _claims(e) != _claims(first)]
        if disagree and _claims(first):
            words += f", which {'does' if len(disagree) == 1 else 'do'} not support it"
    return words + "."


def _change(e: Effect) -> str:
    name = in_words(e.model)
    if not np.isfinite(e.estimate):
        return f"{name} is not estimable"
    if not np.isfinite(e.low):
        return f"{name} changes by {e.estimate:+.3f} (no interval can be given)"
    return f"{name} changes by {e.estimate:+.3f} (95 % interval {e.low:+.3f} to {e.high:+.3f})"


def _claims(e: Effect) -> bool:
    return bool(np.isfinite(e.low) and e.low > 0)


def _claim(e: Effect) -> str:
    if _claims(e):
        return "a random split of these images inflates the score"
    if np.isfinite(e.high) and e.high < 0:
        return "a random split scores lower here, no inflation"
    return "no inflation can be claimed"
