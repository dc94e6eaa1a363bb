"""What control experiments work on, and what they hand back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..control_settings import ControlSettings
from ..dependence import undetectable
from ..errors import InfeasibleError
from ..exposure import exposure
from ..model import (
    TEST,
    TRAIN,
    UNUSED,
    Bools,
    ControlResult,
    ControlSheet,
    Exposure,
    Grouping,
    Note,
    Run,
    Samples,
    Scan,
    SplitPlan,
)
from ..splitting import MAXIMAL_RELEASE, SHUFFLE, intact, ladder, shuffle
from ._gallery import Gallery

INTACT, RANDOM = "intact", "random"
FAST_SHARES = {TRAIN: 0.7, TEST: 0.3}
PAPER_SHARES = {TRAIN: 0.8, TEST: 0.2}
"""P2 trains on four images and tests on one."""
ALPHA = 0.05
TOPIC = "control: groups"
ALIASED = (
    "each class is one group, so no split keeps groups apart and classes and sessions are indistinguishable by design; "
    "asked is only, image by image, whether acquisitions can be told apart"
)

Pixels = NDArray[np.uint8]
Change = Callable[[int, Pixels], Pixels]


@dataclass(frozen=True)
class Look:
    """One way to change pictures.

    Attributes:
        control: name of the experiment.
        variant: its settings in words.
        left: what is left of the picture, as it stands in a sentence ("the 20 x 20 pixels at the upper left").
        object_free: True = nothing of the object is meant to be left, so that anything above chance is acquisition;
            False = the object is destroyed in part only.
        whole: what it is compared with.
        change: (row, picture) -> picture, uint8 (h, w, 3); the preset `paper` makes pictures of different sizes alike.
    """

    control: str
    variant: str
    left: str
    object_free: bool
    change: Change
    whole: str = "whole pictures"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one experiment found.

    Attributes:
        results: the numbers; rows of controls.csv.
        notes: the reading in words, first; then what must be known. Topics start with `control`.
        runs: the models of a picture control.
        sheets: what they saw.
    """

    results: tuple[ControlResult, ...] = ()
    notes: tuple[Note, ...] = ()
    runs: tuple[Run, ...] = ()
    sheets: tuple[ControlSheet, ...] = ()


@dataclass(frozen=True, eq=False)
class Study:
    """One corpus with the splits that all experiments share.

    Attributes:
        samples, scan, grouping: n usable images; no group is unknown. Unlabelled images take no part.
        settings: what was asked for.
        plans: `intact` and `random` of every seed, or only those that can be drawn.
        exposures: one a plan.
        gallery: the pictures.
        per_image: True = each class is one group, so the question can only be whether acquisitions can be told apart.
        notes: about the splits.
        kept: runs that several experiments use, by name.
        masks: sample id -> bool (h, w), the pixels of objects; None = they are found by threshold or given as boxes.
        state: folder where slow runs are kept, so that an interrupted call goes on; None = nowhere.
    """

    samples: Samples
    scan: Scan
    grouping: Grouping
    settings: ControlSettings
    plans: tuple[SplitPlan, ...]
    exposures: tuple[Exposure, ...]
    gallery: Gallery
    per_image: bool
    notes: tuple[Note, ...] = ()
    kept: dict[str, tuple[Run, ...]] = field(default_factory=dict)
    state: Path | None = None
    masks: Mapping[str, Bools] | None = None

    @property
    def units(self) -> Grouping:
        """The groups that intervals and null models resample: single images where each class is one group."""
        if not self.per_image:
            return self.grouping
        return Grouping(np.arange(len(self.samples)), self.grouping.links)

    @property
    def conditions(self) -> list[str]:
        """The conditions that could be drawn."""
        return list(dict.fromkeys(p.condition for p in self.plans))

    @property
    def models(self) -> tuple[str, ...]:
        """The readers of the preset for pictures."""
        return ("lenet5",) if self.settings.preset == "paper" else ("nearest_neighbour", "linear_probe")


def study(samples: Samples, scan: Scan, grouping: Grouping, settings: ControlSettings, gallery: Gallery) -> Study:
    """Draw the splits.

    Raises:
        InfeasibleError: not even single images can be dealt to train and test.
    """
    shares = dict(settings.fractions or (PAPER_SHARES if settings.preset == "paper" else FAST_SHARES))
    per_image = one_group_a_class(samples, grouping)
    notes = [Note("warning", TOPIC, ALIASED)] if per_image else []
    pairs: list[SplitPlan] = []
    for seed in range(settings.seeds):
        try:
            found = _pair(samples, grouping, shares, seed, per_image)
        except InfeasibleError as error:
            if per_image:
                raise
            text = f"no split keeps whole groups apart ({error}); only single images are dealt"
            notes.append(Note("not evaluated", TOPIC, text))
            per_image = True
            found = _pair(samples, grouping, shares, seed, per_image)
        pairs += found
    if any(n.topic == SHUFFLE for p in pairs for n in p.notes):
        text = "the random split is a plain shuffle of files within classes, since groups could not be released fully"
        notes.append(Note("info", TOPIC, text))
    plans = tuple(sorted(pairs, key=lambda p: (p.condition != INTACT, p.seed)))
    exposures = tuple(exposure(p, grouping) for p in plans)
    return Study(samples, scan, grouping, settings, plans, exposures, gallery, per_image, tuple(notes))


def one_group_a_class(samples: Samples, grouping: Grouping) -> bool:
    """Whether every class is one group of several images."""
    return undetectable(samples, grouping).startswith("each class is one group")


def _pair(
    samples: Samples, grouping: Grouping, shares: dict[str, float], seed: int, per_image: bool
) -> list[SplitPlan]:
    """Whole groups and single files with the same class counts; only one of them where the other has no meaning."""
    rows = np.flatnonzero(samples.labels >= 0)
    labels, ids = samples.labels[rows], [samples.ids[i] for i in rows]
    if per_image:
        drawn = [intact(labels, np.arange(len(rows)), shares, seed=seed, ids=ids, names=samples.classes)]
        titles = [RANDOM]
    elif not (grouping.sizes > 1).any():
        drawn = [intact(labels, grouping.codes[rows], shares, seed=seed, ids=ids, names=samples.classes)]
        titles = [INTACT]
    else:
        drawn = ladder(labels, grouping.codes[rows], shares, seed=seed, ids=ids, names=samples.classes, conditions=2)
        titles = [INTACT, RANDOM]
        if any(n.topic == MAXIMAL_RELEASE for n in drawn[-1].notes):
            drawn[-1] = shuffle(labels, drawn[-1], ids=ids)
    result = []
    for title, plan in zip(titles, drawn, strict=True):
        partition = np.full(len(samples), UNUSED, dtype="<U32")
        partition[rows] = plan.partition
        said = [Note("info", SHUFFLE, "a plain shuffle of files")] if plan.condition == SHUFFLE else []
        result.append(SplitPlan.of(title, seed, partition, samples.ids, said))
    return result
