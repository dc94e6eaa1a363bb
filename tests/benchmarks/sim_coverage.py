"""Do the intervals hold? A simulation with known truth, over numbers of groups, group sizes and ICC.

    python tests/benchmarks/sim_coverage.py --repeats 1000 --out coverage.csv

Each repeat draws a corpus, deals it into `intact` and `random` with the package's own ladder, draws correct and wrong
predictions with known expectation, and asks `effects` for intervals.

Model: group g of class c has its own accuracy p_g, Beta with mean MEAN[c] and the cell's ICC. Sample i under seed j is
right with chance p_g + delta (1 - p_g) if it is exposed and p_g if not, plus training noise b_j p_g (1 - p_g),
b_j ~ N(0, .1) cut to [-1, 1], of its own for each condition. Half of the variance of a sample's latent difficulty stays
over seeds. So intact has expectation MEAN[c] a class, and the inflation of a class is delta (1 - MEAN[c]) times its
achieved exposure: both exact, since neither sizes nor exposure depend on p_g.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom, norm, t

from fiftyone_hsd.effects import effects
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import TEST, Effect, Exposure, Grouping, Links, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.splitting import ladder

FRACTIONS = {"train": 0.70, "val": 0.15, "test": 0.15}
MEAN = (0.85, 0.7, 0.55)
SIZE = 6
SEEDS = 5
DRAWS = 400
REDRAWS = 5
"""Sets of predictions drawn on each corpus and its splits."""


@dataclass(frozen=True)
class Cell:
    """One set of conditions of the simulation."""

    groups: int
    sizes: str
    icc: float
    delta: float


@dataclass
class Tally:
    """What came of one cell."""

    repeats: int = 0
    score: int = 0
    inflation: int = 0
    inflation_width: float = 0.0
    one_split: int = 0
    one_split_given: int = 0
    class_inflation: int = 0
    class_given: int = 0
    claims: int = 0
    image_score: int = 0
    image_inflation: int = 0
    seeds_score: int = 0
    seeds_inflation: int = 0


@dataclass(frozen=True)
class Design:
    """A corpus with its splits."""

    samples: Samples
    grouping: Grouping
    plans: list[SplitPlan]
    exposures: list[Exposure]


def design(cell: Cell, seed: int) -> Design:
    """A corpus of single-class groups, its intact and random splits for every seed, and one more intact split."""
    rng = np.random.default_rng([seed, 0])
    k = cell.groups * len(MEAN)
    sizes = np.full(k, SIZE)
    if cell.sizes == "heavy":
        sizes = np.maximum(1, np.round(rng.lognormal(np.log(SIZE) - 0.5, 1.0, k))).astype(int)
    codes = np.repeat(np.arange(k), sizes)
    labels = codes % len(MEAN)
    ids = tuple(f"{i:06d}" for i in range(len(codes)))
    samples = Samples(ids, ids, labels, tuple(f"c{c}" for c in range(len(MEAN))), np.full(len(codes), ""), {}, "", ())
    grouping = Grouping(codes, Links.of([], [], ""))
    plans = []
    for j in range(SEEDS):
        plans += [p for p in ladder(labels, grouping.codes, FRACTIONS, seed=j) if p.condition in ("intact", "random")]
    more = ladder(labels, grouping.codes, FRACTIONS, seed=SEEDS)[0]
    plans.append(SplitPlan.of("existing", 0, more.partition))
    return Design(samples, grouping, plans, [exposure(p, grouping) for p in plans])


def draw_runs(cell: Cell, made: Design, seed: int) -> list[Run]:
    """Predictions of every plan; a wrong one names the next class."""
    rng = np.random.default_rng([seed, 1])
    labels, codes = made.samples.labels.astype(int), made.grouping.codes
    mean = np.asarray(MEAN)[np.arange(made.grouping.n_groups) % len(MEAN)]
    strength = 1 / cell.icc - 1
    p = rng.beta(mean * strength, (1 - mean) * strength)[codes]
    lasting = rng.normal(size=len(labels))
    fresh = [rng.normal(size=len(labels)) for _ in range(SEEDS + 1)]
    runs = []
    for plan, result in zip(made.plans, made.exposures, strict=True):
        j = SEEDS if plan.condition == "existing" else plan.seed
        u = norm.cdf(np.sqrt(0.5) * (lasting + fresh[j]))
        noise = float(np.clip(rng.normal(0, 0.1), -1, 1))
        chance = p + noise * p * (1 - p)
        chance = chance + cell.delta * (1 - chance) * result.exposed
        rows = np.flatnonzero(plan.partition != "train")
        predicted = np.where(u[rows] < chance[rows], labels[rows], (labels[rows] + 1) % len(MEAN))
        chances = np.eye(len(MEAN), dtype=np.float32)[predicted]
        runs.append(Run(TrainConfig("simulated", plan.seed), plan.condition, plan.seed, rows, chances, {}, 0.0))
    return runs


def truth(cell: Cell, made: Design) -> tuple[float, np.ndarray]:
    """Balanced accuracy of intact, and the inflation of each class."""
    gain = []
    for plan, result in zip(made.plans, made.exposures, strict=True):
        if plan.condition == "random":
            test = plan.partition == TEST
            rate = [result.exposed[test & (made.samples.labels == c)].mean() for c in range(len(MEAN))]
            gain.append(cell.delta * (1 - np.asarray(MEAN)) * rate)
    return float(np.mean(MEAN)), np.mean(gain, axis=0)


def one(found: list[Effect], what: str, condition: str, metric: str, name: str = "") -> Effect:
    """The pooled number of that name."""
    return next(
        e
        for e in found
        if (e.what, e.condition, e.metric, e.class_name, e.seed) == (what, condition, metric, name, None)
    )


def holds(e: Effect, value: float) -> bool:
    """Whether the interval holds the value."""
    return bool(e.low <= value <= e.high)


def image_level(made: Design, runs: list[Run]) -> tuple[list[tuple[float, float]], np.ndarray]:
    """What is often done instead: ((estimate, half width) of score and inflation as if images were independent, from
    the first seed), and the (J, 2) scores of intact and random for the seeds-as-replicates interval."""
    scores, variances = np.zeros((SEEDS, 2)), np.zeros((SEEDS, 2))
    for plan, run in zip(made.plans, runs, strict=True):
        if plan.condition == "existing":
            continue
        inside = plan.partition[run.rows] == TEST
        y = made.samples.labels[run.rows][inside]
        right = run.predicted[inside] == y
        recall = np.array([right[y == c].mean() for c in range(len(MEAN))])
        size = np.bincount(y, minlength=len(MEAN))
        at = (plan.seed, int(plan.condition == "random"))
        scores[at] = recall.mean()
        variances[at] = (recall * (1 - recall) / size).sum() / len(MEAN) ** 2
    z = float(norm.ppf(0.975))
    naive = [
        (scores[0, 0], z * variances[0, 0] ** 0.5),
        (scores[0, 1] - scores[0, 0], z * variances[0].sum() ** 0.5),
    ]
    return naive, scores


def run_repeat(cell: Cell, made: Design, seed: int, tally: Tally) -> None:
    """One set of predictions, judged."""
    runs = draw_runs(cell, made, seed)
    found = effects(made.samples, made.grouping, made.plans, made.exposures, runs, draws=DRAWS, seed=seed)
    level, gain = truth(cell, made)
    inflation = one(found, "inflation", "random", "balanced_accuracy")
    tally.repeats += 1
    tally.score += holds(one(found, "score", "intact", "balanced_accuracy"), level)
    tally.inflation += holds(inflation, float(gain.mean()))
    tally.inflation_width += inflation.high - inflation.low
    tally.claims += inflation.low > 0
    single = one(found, "score", "existing", "balanced_accuracy")
    tally.one_split_given += bool(np.isfinite(single.low))
    tally.one_split += holds(single, level)
    for c, name in enumerate(made.samples.classes):
        e = one(found, "class_inflation", "random", "recall", name)
        tally.class_given += bool(np.isfinite(e.low))
        tally.class_inflation += holds(e, float(gain[c]))
    naive, scores = image_level(made, runs)
    tally.image_score += bool(abs(naive[0][0] - level) <= naive[0][1])
    tally.image_inflation += bool(abs(naive[1][0] - gain.mean()) <= naive[1][1])
    for name, values, value in (
        ("seeds_score", scores[:, 0], level),
        ("seeds_inflation", scores[:, 1] - scores[:, 0], gain.mean()),
    ):
        half = t.ppf(0.975, SEEDS - 1) * values.std(ddof=1) / SEEDS**0.5
        setattr(tally, name, getattr(tally, name) + bool(abs(values.mean() - value) <= half))


def run_cell(cell: Cell, repeats: int, start: int = 0) -> Tally:
    """`repeats` sets of predictions, REDRAWS of them on each corpus."""
    tally = Tally()
    for r in range(start, start + repeats):
        if r == start or r % REDRAWS == 0:
            made = design(cell, r)
        run_repeat(cell, made, r, tally)
    return tally


def cells() -> Iterator[Cell]:
    """The table: groups a class x sizes x ICC, without and with an effect."""
    for delta in (0.5, 0.0):
        for groups, sizes, icc in itertools.product((10, 20, 30, 60), ("equal", "heavy"), (0.05, 0.2, 0.4)):
            yield Cell(groups, sizes, icc, delta)


def summary(cell: Cell, tally: Tally) -> dict[str, object]:
    """One row of the table; shares of repeats."""
    n = tally.repeats
    return {
        **asdict(cell),
        "repeats": n,
        "inflation": round(tally.inflation / n, 3),
        "width": round(tally.inflation_width / n, 3),
        "score_intact": round(tally.score / n, 3),
        "one_split": round(tally.one_split / max(1, tally.one_split_given), 3),
        "one_split_given": round(tally.one_split_given / n, 3),
        "class_inflation": round(tally.class_inflation / max(1, tally.class_given), 3),
        "class_given": round(tally.class_given / n / len(MEAN), 3),
        "claims": round(tally.claims / n, 3),
        "image_score": round(tally.image_score / n, 3),
        "image_inflation": round(tally.image_inflation / n, 3),
        "seeds_score": round(tally.seeds_score / n, 3),
        "seeds_inflation": round(tally.seeds_inflation / n, 3),
        "p_false_alarm": "" if cell.delta else round(float(binom.sf(tally.claims - 1, n, 0.05)), 4),
    }


def _job(job: tuple[Cell, int]) -> dict[str, object]:
    return summary(job[0], run_cell(*job))


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--power", action="store_true", help="instead: claims against delta on one kind of corpus")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    table = list(cells())
    if options.power:
        table = [Cell(30, "equal", 0.2, d / 20) for d in range(13)]
    begin = time.perf_counter()
    out = options.out.open("w", newline="", encoding="utf-8") if options.out else sys.stdout
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        writer = None
        for row in pool.imap(_job, [(c, options.repeats) for c in table]):
            if writer is None:
                writer = csv.DictWriter(out, list(row))
                writer.writeheader()
            writer.writerow(row)
            out.flush()
    out.write(f"# {time.perf_counter() - begin:.0f} s\n")
    if options.out:
        out.close()


if __name__ == "__main__":
    main()
