"""Small corpora in memory, drawn with numpy alone: a square (class 1) or a disc (class 0) on a noisy ground."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fiftyone_hsd.control_settings import ControlSettings
from fiftyone_hsd.controls._gallery import Gallery
from fiftyone_hsd.controls._study import Study, study
from fiftyone_hsd.model import Grouping, Links, Samples, Scan

SIDE = 48


def pictures(
    labels: np.ndarray, codes: np.ndarray, rng: np.random.Generator, cue: float, fingerprint: float, noise: float
) -> list[np.ndarray]:
    """One picture a sample.

    cue: how much brighter the ground of class 1 is; fingerprint: spread of the ground between groups; noise: between
    images.
    """
    ground = rng.normal(0, fingerprint, (codes.max() + 1, 3))
    y, x = np.mgrid[:SIDE, :SIDE]
    made = []
    for label, code in zip(labels, codes, strict=True):
        base = 120 + ground[code] + cue * label + rng.normal(0, noise, 3)
        image = np.broadcast_to(base, (SIDE, SIDE, 3)) + rng.normal(0, 2, (SIDE, SIDE, 3))
        cy, cx = rng.uniform(20, 28, 2)
        inside = np.maximum(abs(y - cy), abs(x - cx)) < 9 if label == 1 else np.hypot(y - cy, x - cx) < 5
        image = np.where(inside[..., None], 220, image)
        made.append(np.clip(np.rint(image), 0, 255).astype(np.uint8))
    return made


def build(
    *,
    groups: int = 60,
    images: int = 2,
    share: float = 0.5,
    cue: float = 0.0,
    fingerprint: float = 0.0,
    noise: float = 6.0,
    seed: int = 0,
    metadata: dict[str, Any] | None = None,
    aliased: bool = False,
    blind: bool = False,
    **settings: Any,
) -> Study:
    """`groups` patients with `images` pictures each; `share` of them in class 1. aliased = each class is one group.

    blind = labels are dealt to patients once more after the pictures were drawn: nothing can be read.
    """
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(groups), images)
    labels = (rng.permutation(groups) < round(share * groups)).astype(np.int32)[codes]
    made = pictures(labels, codes, rng, cue, fingerprint, noise)
    if blind:
        labels = (rng.permutation(groups) < round(share * groups)).astype(np.int32)[codes]
    n = len(codes)
    ids = tuple(f"p{c:03d}_{k:04d}.png" for k, c in enumerate(codes))
    samples = Samples(
        ids=ids,
        paths=tuple(f"/nowhere/{i}" for i in ids),
        labels=labels,
        classes=("disc", "square"),
        split=np.full(n, ""),
        metadata={k: np.asarray(v, np.str_) for k, v in (metadata or {}).items()},
        root="/nowhere",
    )
    content = tuple(f"{i:064x}" for i in range(n))
    scan = Scan(content, content, ("",) * n, np.full(n, SIDE), np.full(n, SIDE))
    grouping = Grouping(labels if aliased else codes, Links.of([], [], ""))
    options = ControlSettings(**{"seeds": 2, "size": "12x12", **settings})
    return study(samples, scan, grouping, options, Gallery.holding(made))


@pytest.fixture(scope="session")
def corpus() -> Callable[..., Study]:
    """Builds a Study in memory: corpus(groups=, images=, share=, cue=, fingerprint=, ...)."""
    return build


@pytest.fixture(scope="session")
def score() -> Callable[..., Any]:
    """The pooled balanced accuracy of a reader under a condition, as the ControlResult."""

    def pick(outcome: Any, condition: str, model: str | None = None, what: str = "score") -> Any:
        found = [
            r
            for r in outcome.results
            if r.effect.what == what
            and r.effect.seed is None
            and r.effect.condition == condition
            and r.effect.metric == "balanced_accuracy"
            and (model is None or r.effect.model == model)
        ]
        assert found, dataclasses.asdict(outcome.results[0])
        return max(found, key=lambda r: r.effect.estimate)

    return pick
