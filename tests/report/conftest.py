"""A small AuditReport, made by hand so that the report is tested without the steps that usually feed it."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.model import (
    AuditReport,
    Effect,
    Exposure,
    Grouping,
    Links,
    Note,
    Run,
    Samples,
    Scan,
    SplitPlan,
    TrainConfig,
)

NAN = float("nan")
LADDER = ("intact", "q25", "q50", "q75", "random")
NASTY = '</script><script>alert("x")</script><img src=x onerror=alert(1)> & $x$ %{x} =1+1'


def names(n: int) -> list[str]:
    """File names that try to break each format, then plain ones."""
    odd = [
        f"a/{NASTY.replace('/', '_')}.png",
        'a/quote",comma.png',
        "a/line\nbreak.png",
        "a/\udcff\udcfe.png",
        "a/\u202egnp.png",
        "=cmd|' /C calc'!A1.png",
        "-2+3.png",
        "@SUM(A1).png",
        "a/ leading and trailing .png",
        "a/\u00fc \u4e2d\u6587 \U0001f9ec.png",
        "a/cr\rlf.png",
    ]
    return odd + [f"b/image{i:04d}.png" for i in range(n - len(odd))]


def draw(folder: Path, ids: list[str]) -> list[str]:
    """One small picture a sample, under plain names (the ids may not be writable everywhere)."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i in range(len(ids)):
        rng = np.random.default_rng(i // 3)
        pixels = rng.integers(0, 255, (6, 8, 3), dtype=np.uint8).repeat(5, 0).repeat(5, 1)
        path = folder / f"{i:04d}.png"
        Image.fromarray(pixels).save(path)
        paths.append(str(path))
    return paths


def exposure_of(plan: SplitPlan, codes: np.ndarray) -> Exposure:
    """Exposure by counting, with a made-up nearest train sample."""
    train = plan.partition == "train"
    held = np.bincount(codes[train], minlength=codes.max() + 1)
    mates = held[codes] - train
    evaluated = ~train & (plan.partition != "unused")
    nearest = np.where(evaluated & train.any(), np.flatnonzero(train)[0], -1)
    similarity = np.where(evaluated, 0.5 + 0.01 * (np.arange(len(codes)) % 40), np.nan)
    return Exposure(plan.condition, plan.seed, evaluated & (mates > 0), mates, nearest, similarity, evaluated)


def effects_of(classes: tuple[str, ...], n: int) -> list[Effect]:
    """Scores of one model on the ladder, as `effects` would name them."""

    def one(what: str, condition: str, value: float, *, metric: str = "balanced_accuracy", name: str = "") -> Effect:
        low, high = (value - 0.05, value + 0.05) if np.isfinite(value) else (NAN, NAN)
        how = "group bootstrap" if np.isfinite(value) else "not estimable: 2 distinct test groups, 5 needed"
        return Effect(what, "linear_probe", condition, None, "test", name, metric, value, low, high, NAN, n, how)

    rows = [one("score", c, 0.5 + 0.08 * k) for k, c in enumerate((*LADDER, "existing"))]
    rows += [one("inflation", c, 0.08 * k) for k, c in enumerate(LADDER) if k]
    rows += [one("relative_error_removed", c, 0.16 * k) for k, c in enumerate(LADDER) if k]
    rows.append(one("slope_per_10_points", "", 0.031))
    values = [0.3, NAN, *[0.1] * len(classes)]
    rows += [
        one("class_inflation", "random", v, metric="recall", name=c) for c, v in zip(classes, values, strict=False)
    ]
    return rows


def build(folder: Path, *, n: int = 60, labelled: bool = True, grouped: bool = True, split: bool = True) -> AuditReport:
    """A report over n samples: groups of three, three classes with hostile names, two seeds of the ladder."""
    ids = names(n)
    classes = ("plain", NASTY, "class \u00fc\udcfa") if labelled else ()
    codes = np.arange(n) // 3 if grouped else np.arange(n)
    labels = np.where(np.arange(n) < n - 2, codes % 3, -1) if labelled else np.full(n, -1)
    published = np.array(["train", "train", "test"] * n)[:n] if split else np.full(n, "", dtype="<U1")
    samples = Samples(
        ids=tuple(ids),
        paths=tuple(draw(folder, ids)),
        labels=labels,
        classes=classes,
        split=published,
        metadata={},
        root=str(folder),
        notes=(Note("info", "not an image", "files that are no images were left alone", 4),),
    )
    content = tuple(f"{i // 2 if i < 4 else i:064x}" for i in range(n))
    scan = Scan(content, content, ("",) * n, np.full(n, 40), np.full(n, 30))
    named = Links.from_codes(codes, "name", f"the text before {NASTY}", 0.9)
    parts = [named, Links.of([0, 2], [1, 3], "bytes", "byte-identical files")] if grouped else []
    turned_down = dataclasses.replace(Links.of([5], [38], "similarity", "too far", 0.4), accepted=np.array([False]))
    grouping = Grouping(codes, Links.concat([*parts, turned_down]), (Note("info", "rule", "groups by name"),))
    plans = _plans(samples, codes, split, labelled)
    return AuditReport(
        samples=samples,
        failures=(("broken </script>.png", "/x/broken.png", "truncated, 3 of 5 bytes"), ("b\udcff.png", "/x/b", "no")),
        scan=scan,
        grouping=grouping,
        plans=tuple(plans),
        exposures=tuple(exposure_of(p, codes) for p in plans),
        runs=tuple(_runs(samples, plans)) if labelled else (),
        effects=tuple(effects_of(classes, n)) if labelled else (),
        settings={"seeds": 2, "models": ["linear_probe"], "groups": None, "fractions": {"train": 0.7, "test": 0.3}},
        versions={"fiftyone-hsd": "0", "numpy": "2"},
        verdict=f"A sentence about {NASTY}.",
        notes=(
            *(() if labelled else (Note("not evaluated", "ladder", "splits, training and inflation: no labels"),)),
            *(() if split else (Note("not evaluated", "existing split", "existing split: there is none"),)),
            Note("problem", "label conflict", "identical images carry different labels", 1, (NASTY,)),
        ),
    )


def _plans(samples: Samples, codes: np.ndarray, split: bool, labelled: bool) -> list[SplitPlan]:
    plans = [SplitPlan.of("existing", 0, samples.split, samples.ids)] if split else []
    rng = np.random.default_rng(0)
    for seed in range(2 if labelled else 0):
        whole = np.where(rng.random(codes.max() + 1) < 0.7, "train", "test")[codes]
        alone = np.where(rng.random(len(codes)) < 0.7, "train", "test")
        for k, condition in enumerate(LADDER):
            part = np.where(codes % 4 < k, alone, whole)
            part = np.where(samples.labels < 0, "unused", part)
            plans.append(SplitPlan.of(condition, seed, part, samples.ids))
    return plans


def _runs(samples: Samples, plans: list[SplitPlan]) -> list[Run]:
    runs: list[Run] = []
    for plan in plans:
        rows = np.flatnonzero((samples.labels >= 0) & ~np.isin(plan.partition, ["train", "unused"]))
        some: Any = np.full((len(rows), len(samples.classes)), 1 / 3)
        runs.append(
            Run(TrainConfig("linear_probe", plan.seed), plan.condition, plan.seed, rows, some, {"numpy": "2"}, 0.5)
        )
    return runs


@pytest.fixture(scope="session")
def case() -> Callable[..., AuditReport]:
    """Builds a small AuditReport: case(folder, n=, labelled=, grouped=, split=)."""
    return build


@pytest.fixture(scope="session")
def nasty() -> str:
    """Text that tries to leave whatever it is put in."""
    return NASTY


@pytest.fixture
def report(tmp_path: Path) -> AuditReport:
    """The usual one."""
    return build(tmp_path / "images")


@pytest.fixture(scope="session")
def browser_path() -> str:
    """The browser to look with."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
