"""The answer in one or two sentences, never claiming more than the numbers hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .exposure import crossing, exposure_rate
from .model import TEST, TRAIN, UNUSED, Effect, Exposure, Grouping, Samples, SplitPlan
from .splitting import CONDITIONS
from .stats import METRICS

GIANT = 0.5
"""Share of all images in one group above which nothing can be said about dependence."""


def verdict(
    samples: Samples,
    grouping: Grouping,
    plans: Sequence[SplitPlan],
    exposures: Sequence[Exposure],
    effects: Sequence[Effect],
) -> str:
    """What was found, about the split as published and about random splits, with the uncertainty."""
    sizes = grouping.sizes
    n = len(samples)
    if not (sizes > 1).any():
        return (
            f"No dependence detectable: none of the {n} images shares a group with another by the sources used. "
            "That is not a proof of independence."
        )
    if sizes.max() > GIANT * n:
        return (
            f"No dependence detectable: one group holds {int(sizes.max())} of {n} images, so no split can keep groups "
            "whole and still test; explain that group first."
        )
    shared = int(sizes[sizes > 1].sum())
    found = f"{shared} of {n} images share a group with another ({int((sizes > 1).sum())} groups of two or more)."
    parts = [found, _existing(grouping, plans, exposures), _inflation(samples, plans, effects)]
    return " ".join(p for p in parts if p)


def _existing(grouping: Grouping, plans: Sequence[SplitPlan], exposures: Sequence[Exposure]) -> str:
    for plan, result in zip(plans, exposures, strict=True):
        if plan.condition != "existing":
            continue
        _, _, crossed = crossing(plan, grouping.codes)
        parts = sorted(set(plan.partition.tolist()) - {TRAIN, UNUSED}, key=lambda p: (p != TEST, p))
        if not crossed:
            return f"The published split ({TRAIN}, {', '.join(parts)}) crosses no known group."
        rate = exposure_rate(result, plan.partition == parts[0])
        k = int((plan.partition == parts[0]).sum())
        return (
            f"The published split crosses {crossed} group{'s' if crossed > 1 else ''}: "
            f"{rate:.1%} of its {k} {parts[0]} images have a mate in train."
        )
    return ""


def _inflation(samples: Samples, plans: Sequence[SplitPlan], effects: Sequence[Effect]) -> str:
    if not samples.labelled:
        return "Inflation was not evaluated: no labels."
    if not any(p.condition == CONDITIONS[0] for p in plans):
        return "No intact split of these groups exists, so inflation was not evaluated; the notes name the classes."
    chosen = [e for e in effects if e.what == "inflation" and e.condition == CONDITIONS[-1] and e.metric == METRICS[0]]
    if not chosen:
        return "Inflation was not evaluated: no model was run."
    # The model whose change is largest relative to its interval is not picked: the first one asked for speaks.
    e = chosen[0]
    words = f"balanced accuracy of {e.model.replace('_', ' ')} changes by {e.estimate:+.3f}"
    if not np.isfinite(e.low):
        return f"From whole groups to a random split, {words}; no interval can be given."
    words += f" (95 % interval {e.low:+.3f} to {e.high:+.3f})"
    if e.low > 0:
        return f"From whole groups to a random split, {words}: a random split of these images inflates the score."
    if e.high < 0:
        return f"From whole groups to a random split, {words}: a random split scores lower here."
    return f"No inflation can be claimed: from whole groups to a random split, {words}."
