"""What an experiment will take, from costs measured on two busy cores by tests/benchmarks/bench_controls.py."""

from __future__ import annotations

from collections.abc import Sequence

from ..control_settings import ControlSettings
from ._study import Study

DECODE, CHANGE = 1.5e-3, 1.5e-3
"""Seconds to decode an image of 300 x 300 pixels, and to change and shrink it."""
FIT = {"nearest_neighbour": 4e-5, "linear_probe": 4e-5, "random_forest": 5e-4, "lenet5": 0.025}
"""Seconds of one training per training image, all epochs together."""


PIXELS_ONLY = ("eight_pixels", "file_properties")
"""Controls that are read by a random forest alone."""


def fast_seconds(study: Study, name: str) -> float:
    """About how many seconds the experiment of that name will take; 0 where it trains nothing."""
    first = not any(k.startswith("full_picture|") for k in study.kept)
    return _seconds(len(study.samples), len(study.plans), name, study.settings.preset, first)


def expected_seconds(images: int, names: Sequence[str], settings: ControlSettings) -> float:
    """About how many seconds experiments will take together, before anything is read: `images` labelled images."""
    fits = 2 * int(settings.seeds)
    return sum(_seconds(images, fits, name, settings.preset, k == 0) for k, name in enumerate(names))


def _seconds(images: int, fits: int, name: str, preset: str, first: bool) -> float:
    usual = ("lenet5",) if preset == "paper" else ("nearest_neighbour", "linear_probe")
    models = ("random_forest",) if name in PIXELS_ONLY else usual
    per_image = (DECODE if first else 0.0) + CHANGE
    rounds = 2 if first and name != "full_picture" else 1
    return images * (per_image + rounds * fits * sum(FIT[m] for m in models))
