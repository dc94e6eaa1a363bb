"""Do the intervals hold? A simulation with known truth, over numbers of groups, group sizes and ICC.

    python tests/benchmarks/sim_coverage.py --repeats 1000 --out coverage.csv

Cells that the file holds already are not run again.

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
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, fields
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
REDRAWS = 20
"""Sets of predictions drawn on each corpus and its splits."""


@dataclass(frozen=True)
class Cell:
    """One set of conditions of the simulation."""

    groups: int
    sizes: str
    icc: float
    delta: float


CELL = tuple(f.name for f in fields(Cell))


class Tally:
    """What came of one cell: how often an interval was given, and how often it held the truth."""

    def __init__(self) -> None:
        self.repeats = 0
        self.claims = 0
        self.width = 0.0
        self.given: Counter[str] = Counter()
        self.held: Counter[str] = Counter()

    def judge(self, name: str, low: float, high: float, value: float) -> None:
        """Count one interval; one that is not given neither holds nor fails."""
        self.given[name] += bool(np.isfinite(low))
        self.held[name] += bool(low <= value <= high)

    def coverage(self, name: str) -> float:
        """Share of the given intervals that hold the truth."""
        return self.held[name] / self.given[name] if self.given[name] else float("nan")


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
    tally.repeats += 1
    inflation = one(found, "inflation", "random", "balanced_accuracy")
    tally.claims += bool(inflation.low > 0)
    tally.width += inflation.high - inflation.low if np.isfinite(inflation.low) else 0.0
    rows = [("inflation", inflation, float(gain.mean()))]
    rows += [("score_intact", one(found, "score", "intact", "balanced_accuracy"), level)]
    rows += [("one_split", one(found, "score", "existing", "balanced_accuracy"), level)]
    for c, name in enumerate(made.samples.classes):
        rows.append(("class_inflation", one(found, "class_inflation", "random", "recall", name), float(gain[c])))
    for name, e, value in rows:
        tally.judge(name, e.low, e.high, value)
    naive, scores = image_level(made, runs)
    seeds = [scores[:, 0], scores[:, 1] - scores[:, 0]]
    for name, value, image, of_seed in zip(("score", "inflation"), (level, gain.mean()), naive, seeds, strict=True):
        tally.judge(f"image_{name}", image[0] - image[1], image[0] + image[1], value)
        half = t.ppf(0.975, SEEDS - 1) * of_seed.std(ddof=1) / SEEDS**0.5
        tally.judge(f"seeds_{name}", of_seed.mean() - half, of_seed.mean() + half, value)


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
    row: dict[str, object] = {**asdict(cell), "repeats": n}
    row["width"] = round(tally.width / max(1, tally.given["inflation"]), 3)
    row["claims"] = round(tally.claims / n, 3)
    row["p_false_alarm"] = "" if cell.delta else round(float(binom.sf(tally.claims - 1, n, 0.05)), 4)
    for name in ("inflation", "score_intact", "one_split", "class_inflation"):
        row[name] = round(tally.coverage(name), 3)
        row[f"{name}_given"] = round(tally.given[name] / n / (len(MEAN) if name.startswith("class") else 1), 3)
    for name in ("image_score", "image_inflation", "seeds_score", "seeds_inflation"):
        row[name] = round(tally.coverage(name), 3)
    return row


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
    kept = list(csv.DictReader(options.out.read_text("utf-8").splitlines())) if there(options.out) else []
    done = {tuple(row[k] for k in CELL) for row in kept if row["repeats"] == str(options.repeats)}
    table = [c for c in table if tuple(map(str, astuple(c))) not in done]
    out = options.out.open("a", newline="", encoding="utf-8") if options.out else sys.stdout
    writer = None
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for row in pool.imap(_job, [(c, options.repeats) for c in table]):
            writer = writer or csv.DictWriter(out, list(row))
            if not kept:
                writer.writeheader()
            kept.append(row)
            writer.writerow(row)
            out.flush()
    print(f"{len(table)} cells in {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    if options.out:
        out.close()


def there(path: Path | None) -> bool:
    """Whether rows of an earlier call are kept."""
    return path is not None and path.exists() and path.stat().st_size > 0


if __name__ == "__main__":
    main()
