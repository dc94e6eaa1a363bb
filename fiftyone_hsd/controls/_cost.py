"""What an experiment will take, from costs measured on two busy cores by tests/benchmarks/bench_controls.py."""

from __future__ import annotations

from ._study import Study

DECODE, CHANGE = 1.5e-3, 1.5e-3
"""Seconds to decode an image of 300 x 300 pixels, and to change and shrink it."""
FIT = {"nearest_neighbour": 4e-5, "linear_probe": 4e-5, "random_forest": 5e-4, "lenet5": 0.025}
"""Seconds of one training per training image, all epochs together."""


def fast_seconds(study: Study, name: str) -> float:
    """About how many seconds the experiment of that name will take; 0 where it trains nothing."""
    n, fits = len(study.samples), len(study.plans)
    models = ("random_forest",) if name in ("eight_pixels", "file_properties") else study.models
    first = not any(k.startswith("full_picture|") for k in study.kept)
    per_image = (DECODE if first else 0.0) + CHANGE
    rounds = 2 if first and name != "full_picture" else 1
    return n * (per_image + rounds * fits * sum(FIT[m] for m in models))
