"""Effects against numbers worked out by hand, on corpora with and without an effect, and with nothing to say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import t

from fiftyone_hsd.dependence import undetectable
from fiftyone_hsd.effects import effects
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import Effect, Grouping, Links, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.splitting import ladder
from fiftyone_hsd.stats import adjusted
from fiftyone_hsd.verdict import verdict

CLASSES = ("a", "b")


def corpus(labels: np.ndarray, classes: tuple[str, ...] = CLASSES, split: np.ndarray | None = None) -> Samples:
    ids = tuple(f"{i:04d}" for i in range(len(labels)))
    return Samples(ids, ids, labels, classes, np.full(len(labels), "") if split is None else split, {}, "")


def grouped(codes: np.ndarray) -> Grouping:
    return Grouping(codes, Links.of([], [], ""))


def run(plan: SplitPlan, predicted: np.ndarray, n_classes: int = 2, model: str = "m") -> Run:
    rows = np.flatnonzero((plan.partition != "train") & (plan.partition != "unused"))
    chances = np.eye(n_classes, dtype=np.float32)[predicted[rows]]
    return Run(TrainConfig(model, plan.seed), plan.condition, plan.seed, rows, chances, {}, 0.0)


def one(found: list[Effect], what: str, **wanted: object) -> Effect:
    hits = [e for e in found if e.what == what and all(getattr(e, k) == v for k, v in wanted.items())]
    assert len(hits) == 1, (what, wanted, len(hits))
    return hits[0]


class Deal:
    """12 groups of 4 images, 6 a class, two seeds of intact and random by hand."""

    labels = np.repeat([0, 1], 24)
    codes = np.repeat(np.arange(12), 4)

    def __init__(self, wrong: dict[tuple[str, int], list[int]], sentinel: bool = False) -> None:
        self.samples, self.grouping = corpus(self.labels), grouped(self.codes)
        member = np.tile(np.arange(4), 12)
        self.plans = []
        for seed in (0, 1):
            tested = np.isin(self.codes % 6, (0, 1) if seed == 0 else (2, 3))
            intact = np.where(tested, "test", "train").astype("<U8")
            random = np.where(np.isin(member, (0, 1)) & (self.codes % 6 < 4), "test", "train").astype("<U8")
            if sentinel:
                intact[self.codes % 6 == 5] = random[self.codes % 6 == 5] = "sentinel"
            self.plans += [SplitPlan.of("intact", seed, intact), SplitPlan.of("random", seed, random)]
        self.exposures = [exposure(p, self.grouping) for p in self.plans]
        self.runs = []
        for plan in self.plans:
            predicted = self.labels.copy()
            at = wrong.get((plan.condition, plan.seed), [])
            predicted[at] = 1 - predicted[at]
            self.runs.append(run(plan, predicted))

    def effects(self) -> list[Effect]:
        return effects(self.samples, self.grouping, self.plans, self.exposures, self.runs, draws=200)


@pytest.fixture(scope="module")
def by_hand() -> list[Effect]:
    # intact, seed 0 tests groups 0, 1 (class a) and 6, 7 (b), 8 images each: group 0 and half of group 6 are wrong.
    # intact, seed 1 tests groups 2, 3, 8, 9: group 2 is wrong. random: 8 a class, image 0 is wrong in seed 0.
    wrong = {("intact", 0): [0, 1, 2, 3, 24, 25], ("intact", 1): [8, 9, 10, 11], ("random", 0): [0]}
    return Deal(wrong).effects()


def test_scores_of_single_seeds(by_hand: list[Effect]) -> None:
    e = one(by_hand, "score", condition="intact", seed=0, metric="balanced_accuracy")
    assert e.estimate == pytest.approx((4 / 8 + 6 / 8) / 2)
    assert e.n == 16
    assert np.isnan(e.low)
    f1 = one(by_hand, "score", condition="intact", seed=0, metric="macro_f1").estimate
    # class a: 4 hits, 8 true, 4 + 2 predicted; class b: 6 hits, 8 true, 6 + 4 predicted
    assert f1 == pytest.approx((8 / 14 + 12 / 18) / 2)


def test_inflation_is_the_mean_paired_difference(by_hand: list[Effect]) -> None:
    e = one(by_hand, "inflation", condition="random", metric="balanced_accuracy")
    intact = [(4 / 8 + 6 / 8) / 2, (4 / 8 + 8 / 8) / 2]
    random = [(7 / 8 + 1) / 2, 1.0]
    assert e.estimate == pytest.approx(np.mean(random) - np.mean(intact))
    assert e.low < e.estimate < e.high
    assert e.seed is None
    removed = one(by_hand, "relative_error_removed", condition="random", metric="balanced_accuracy")
    assert removed.estimate == pytest.approx(1 - (1 - np.mean(random)) / (1 - np.mean(intact)))


def test_what_both_conditions_share_cancels() -> None:
    """Groups differ a lot, but each scores the same in both conditions: the difference is 0 and known well."""
    codes = np.repeat(np.arange(40), 4)
    labels, known = np.repeat([0, 1], 80), grouped(codes)
    samples, member = corpus(labels), np.tile(np.arange(4), 40)
    tested = codes % 20 < 16
    parts = [("intact", tested & (member < 2)), ("random", tested & (member >= 2))]
    plans = [SplitPlan.of(c, s, np.where(t, "test", "train")) for c, t in parts for s in (0, 1)]
    predicted = np.where(codes % 2 == 0, labels, 1 - labels)
    runs = [run(p, predicted) for p in plans]
    found = effects(samples, known, plans, [exposure(p, known) for p in plans], runs, draws=200)
    e = one(found, "inflation", metric="accuracy")
    level = one(found, "score", metric="accuracy", condition="intact", seed=None)
    assert e.estimate == 0
    assert level.high - level.low > 0.25
    assert e.high - e.low < 0.2


def test_p_values_of_classes_are_adjusted() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(120), 2)
    labels, names = np.repeat(np.arange(4), 60), tuple("abcd")
    samples, known = corpus(labels, names), grouped(codes)
    plans = [
        SplitPlan.of("intact", 0, np.where(codes % 30 < 15, "test", "train")),
        SplitPlan.of("random", 0, np.where(np.arange(240) % 2 == 0, "test", "train")),
    ]
    runs = []
    for plan, wrong in zip(plans, ((0.5, 0.4, 0.3, 0.2), (0.1, 0.15, 0.2, 0.2)), strict=True):
        miss = rng.random(240) < np.array(wrong)[labels]
        runs.append(run(plan, np.where(miss, (labels + 1) % 4, labels), 4))
    found = effects(samples, known, plans, [exposure(p, known) for p in plans], runs, draws=300)
    rows = [one(found, "class_inflation", metric="recall", class_name=c) for c in names]
    raw = []
    for e in rows:
        half = (e.high - e.low) / 2
        df = e.n - 1
        raw.append(2 * t.sf(abs(e.estimate) / (half / t.ppf(0.975, df)), df))
    expected = adjusted(raw)
    assert max(abs(e.low) for e in rows) < 1  # nothing was cut at the ends of the scale
    assert [e.p for e in rows] == pytest.approx(expected)
    assert (expected > np.array(raw)).sum() >= 2


def test_no_inflation_of_intact_against_itself(by_hand: list[Effect]) -> None:
    assert not [e for e in by_hand if e.what == "inflation" and e.condition == "intact"]


def test_class_rules_of_five_and_ten_groups(by_hand: list[Effect]) -> None:
    # 4 distinct test groups of each class over both seeds: not estimable.
    e = one(by_hand, "class_inflation", class_name="a", metric="recall", condition="random")
    assert e.n == 4
    assert np.isnan(e.estimate)
    assert "4 distinct test groups" in e.method


@pytest.mark.parametrize(("tested", "estimable", "interval"), [(4, False, False), (5, True, False), (10, True, True)])
def test_five_and_ten(tested: int, estimable: bool, interval: bool) -> None:
    codes = np.repeat(np.arange(40), 2)
    labels = np.repeat([0, 1], 40)
    intact = np.where(codes % 20 < tested, "test", "train")
    random = np.where((np.arange(80) % 2 == 0) & (codes % 20 < 2 * tested), "test", "train")
    plans = [SplitPlan.of("intact", 0, intact), SplitPlan.of("random", 0, random)]
    predicted = np.where(codes % 3 == 0, 1 - labels, labels)
    known = grouped(codes)
    found = effects(
        corpus(labels), known, plans, [exposure(p, known) for p in plans], [run(p, predicted) for p in plans], draws=50
    )
    e = one(found, "class_inflation", class_name="b", metric="recall")
    assert (bool(np.isfinite(e.estimate)), bool(np.isfinite(e.low))) == (estimable, interval)
    assert e.n == tested


def test_identity_is_exact() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    codes = np.r_[np.repeat(np.arange(20), 3), np.repeat(np.arange(20, 50), 2)]
    known, samples = grouped(codes), corpus(labels)
    plans = [p for s in range(3) for p in ladder(labels, codes, {"train": 0.6, "test": 0.4}, seed=s)]
    plans = [p for p in plans if p.condition in ("intact", "q25", "q50")]
    runs = [run(p, np.where(rng.random(120) < 0.3, 1 - labels, labels)) for p in plans]
    found = effects(samples, known, plans, [exposure(p, known) for p in plans], runs, draws=20)
    for condition in ("q25", "q50"):
        inflation = one(found, "inflation", condition=condition, metric="accuracy").estimate
        terms = [
            one(found, f"identity_{t}_term", condition=condition, metric="accuracy", class_name="").estimate
            for t in ("exposed", "unexposed")
        ]
        assert sum(terms) == pytest.approx(inflation)
        for c, name in enumerate(CLASSES):
            terms = [
                one(found, f"identity_{t}_term", condition=condition, metric="recall", class_name=name).estimate
                for t in ("exposed", "unexposed")
            ]
            change = [
                np.mean(
                    [(r.predicted == labels[r.rows])[(labels[r.rows] == c) & read_out(p, r)].mean() for p, r in both]
                )
                for both in (pairs(plans, runs, condition), pairs(plans, runs, "intact"))
            ]
            assert sum(terms) == pytest.approx(change[0] - change[1])


def read_out(plan: SplitPlan, r: Run) -> np.ndarray:
    return plan.partition[r.rows] == "test"


def pairs(plans: list[SplitPlan], runs: list[Run], condition: str) -> list[tuple[SplitPlan, Run]]:
    return [(p, r) for p, r in zip(plans, runs, strict=True) if p.condition == condition]


def test_identity_and_naive_difference_where_all_are_exposed(by_hand: list[Effect]) -> None:
    e = one(by_hand, "identity_exposed_term", condition="random", metric="accuracy", class_name="")
    assert np.isnan(e.estimate)
    assert "all or none" in e.method
    naive = one(by_hand, "naive_exposed_minus_unexposed")
    assert np.isnan(naive.estimate)
    assert "all of 16" in naive.method


def test_naive_difference_stands_beside_its_overlap() -> None:
    # Ten singletons, five pairs a class: in `random` each pair is torn, so its test image is exposed.
    codes = np.r_[np.arange(10), np.repeat(np.arange(10, 20), 2)]
    labels = np.r_[np.repeat([0, 1], 5), np.repeat([0, 1], 10)]
    part = np.where(np.r_[np.arange(10) % 2 == 0, np.arange(20) % 2 == 0], "test", "train")
    plan = SplitPlan.of("random", 0, part)
    predicted = labels.copy()
    predicted[[0, 2]] = 1 - predicted[[0, 2]]
    known = grouped(codes)
    found = effects(corpus(labels), known, [plan], [exposure(plan, known)], [run(plan, predicted)], draws=20)
    e = one(found, "naive_exposed_minus_unexposed")
    assert e.estimate == pytest.approx(1 - 3 / 5)
    assert (e.n, np.isnan(e.low)) == (15, True)
    assert "10 exposed, 5 unexposed, of which 100% singletons" in e.method
    assert one(found, "unexposed_singleton_share").estimate == 1
    # A pair is exposed with a chance of about a half, a singleton never: 10 of 15 overlap.
    assert one(found, "exposure_overlap").estimate == pytest.approx(10 / 15)


def test_sentinel_takes_out_what_sentinels_gain_too() -> None:
    # Sentinel groups 5 and 11; in intact 2 of their 8 images are wrong, in random none: a real gain of 1/4.
    wrong = {("intact", 0): [0, 1, 20, 44], ("intact", 1): [8, 9, 20, 44], ("random", 0): [], ("random", 1): []}
    found = Deal(wrong, sentinel=True).effects()
    plain = one(found, "inflation", metric="accuracy").estimate
    corrected = one(found, "sentinel_corrected_inflation", metric="accuracy").estimate
    assert plain == pytest.approx(2 / 16)
    assert corrected == pytest.approx(2 / 16 - 2 / 8)
    assert not [e for e in Deal(wrong).effects() if e.what == "sentinel_corrected_inflation"]


def test_slope_of_a_straight_line() -> None:
    """Accuracy is built to be .5 + .4 E exactly, so the slope is .04 per 10 points in every seed."""
    labels, codes = np.repeat([0, 1], 100), np.repeat(np.arange(40), 5)
    known, samples = grouped(codes), corpus(labels)
    plans = [p for s in range(2) for p in ladder(labels, codes, {"train": 0.5, "test": 0.5}, seed=s)]
    exposures = [exposure(p, known) for p in plans]
    runs, rates = [], []
    for p, e in zip(plans, exposures, strict=True):
        rows = np.flatnonzero(p.partition == "test")
        rate = e.exposed[rows].mean()
        predicted = labels.copy()
        wrong = rows[np.linspace(0, len(rows) - 1, round(len(rows) * (0.5 - 0.4 * rate))).astype(int)]
        predicted[wrong] = 1 - predicted[wrong]
        runs.append(run(p, predicted))
        rates.append(rate)
    assert len({round(r, 3) for r in rates}) > 3
    found = effects(samples, known, plans, exposures, runs, draws=100)
    assert one(found, "slope_per_10_points", metric="accuracy").estimate == pytest.approx(0.04, abs=0.002)


def test_exposure_numbers_by_hand(by_hand: list[Effect]) -> None:
    assert one(by_hand, "exposure_rate", condition="intact", seed=0, class_name="").estimate == 0
    assert one(by_hand, "exposure_rate", condition="random", seed=0, class_name="").estimate == 1
    assert one(by_hand, "exposure_rate", condition="random", seed=None, class_name="a").estimate == 1
    assert one(by_hand, "macro_exposure_rate", condition="random", seed=1).n == 2
    assert one(by_hand, "crossing_groups", condition="random", seed=0).estimate == pytest.approx(8 / 12)
    assert one(by_hand, "crossing_groups", condition="intact", seed=0).estimate == 0
    assert one(by_hand, "mean_mates_in_train", condition="random", seed=0).estimate == 2
    assert one(by_hand, "chance", condition="random", seed=0, metric="balanced_accuracy").estimate == 0.5


def test_exposure_to_validation_counts_where_asked() -> None:
    codes, labels = np.repeat(np.arange(6), 2), np.repeat([0, 1], 6)
    part = np.array(["val", "test", "train", "test", "test", "test"] * 2)
    plan, known = SplitPlan.of("existing", 0, part), grouped(codes)
    found = effects(corpus(labels), known, [plan], [exposure(plan, known)], [], draws=5)
    assert one(found, "exposure_rate", partition="test", class_name="").estimate == pytest.approx(2 / 8)
    assert one(found, "exposure_rate_to_train_and_val", partition="test").estimate == pytest.approx(4 / 8)


def test_chance_is_the_test_share_of_the_largest_train_class() -> None:
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    plan = SplitPlan.of("existing", 0, np.array(["train"] * 4 + ["test"] * 4))
    known = grouped(np.arange(8))
    found = effects(corpus(labels), known, [plan], [exposure(plan, known)], [], draws=5)
    assert one(found, "chance", metric="accuracy").estimate == 0.25


def test_the_published_split_is_scored_on_whatever_it_calls_its_test_set() -> None:
    labels, codes = np.tile([0, 1], 12), np.arange(24) // 2
    plan = SplitPlan.of("existing", 0, np.where(np.arange(24) < 12, "train", "fold 2"))
    known = grouped(codes)
    predicted = labels.copy()
    predicted[12] = 1
    found = effects(corpus(labels), known, [plan], [exposure(plan, known)], [run(plan, predicted)], draws=100)
    e = one(found, "score", metric="accuracy", seed=None)
    assert (e.partition, e.estimate) == ("fold 2", pytest.approx(11 / 12))
    assert "this one split" in e.method
    assert one(found, "inflation").method == "not evaluated: no intact split of these groups was drawn"


def test_without_labels_or_runs_the_gap_is_named() -> None:
    samples, known = corpus(np.full(6, -1), ()), grouped(np.repeat(np.arange(3), 2))
    plan = SplitPlan.of("existing", 0, np.array(["train", "test"] * 3))
    found = effects(samples, known, [plan], [exposure(plan, known)], [])
    e = one(found, "inflation")
    assert np.isnan(e.estimate)
    assert e.method == "not evaluated: no labels"
    assert one(found, "exposure_rate", class_name="").estimate == 1
    deal = Deal({})
    found = effects(deal.samples, deal.grouping, deal.plans, deal.exposures, [])
    assert one(found, "inflation").method == "not evaluated: no model was run"


def test_a_run_without_a_plan_is_an_error() -> None:
    deal = Deal({})
    with pytest.raises(InputError, match="belongs to no plan"):
        effects(deal.samples, deal.grouping, deal.plans[:1], deal.exposures[:1], deal.runs)


def test_unknown_groups_count_as_singletons() -> None:
    deal = Deal({})
    codes = Deal.codes.copy()
    codes[:4] = -1
    found = effects(deal.samples, grouped(codes), deal.plans, deal.exposures, deal.runs, draws=10)
    assert one(found, "score", condition="intact", seed=0, metric="accuracy").estimate == 1


def test_same_input_same_numbers(by_hand: list[Effect]) -> None:
    wrong = {("intact", 0): [0, 1, 2, 3, 24, 25], ("intact", 1): [8, 9, 10, 11], ("random", 0): [0]}
    assert repr(Deal(wrong).effects()) == repr(by_hand)


def test_two_equal_models_share_their_draws() -> None:
    deal = Deal({("intact", 0): [0, 1, 2, 3]})
    twin = [Run(TrainConfig("n", r.seed), r.condition, r.seed, r.rows, r.probabilities, {}, 0.0) for r in deal.runs]
    found = effects(deal.samples, deal.grouping, deal.plans, deal.exposures, [*deal.runs, *twin], draws=100)
    first, second = (one(found, "inflation", model=m, metric="macro_f1") for m in "mn")
    assert (first.low, first.high) == (second.low, second.high)


def test_when_no_dependence_is_detectable() -> None:
    labels = np.repeat([0, 1], 10)
    single = undetectable(corpus(labels), grouped(np.arange(20)))
    giant = undetectable(corpus(labels), grouped(np.r_[np.zeros(11), np.arange(1, 10)]))
    same = undetectable(corpus(labels), grouped(labels))
    assert "none of the 20 images shares a group" in single
    assert "one group holds 11 of 20" in giant
    assert "each class is one group" in same
    assert undetectable(corpus(labels), grouped(np.repeat(np.arange(10), 2))) == ""
    assert "each class is one group" not in undetectable(corpus(np.full(4, -1), ()), grouped(np.repeat([0, 1], 2)))


def test_singletons_only_are_never_called_clean() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    samples, known = corpus(labels), grouped(np.arange(100))
    plans = [p for s in range(3) for p in ladder(labels, known.codes, {"train": 0.7, "test": 0.3}, seed=s)]
    exposures = [exposure(p, known) for p in plans]
    runs = [run(p, np.where(rng.random(100) < 0.3, 1 - labels, labels)) for p in plans]
    found = effects(samples, known, plans, exposures, runs, draws=100)
    e = one(found, "inflation", condition="random", metric="balanced_accuracy")
    assert e.method.startswith("no dependence detectable: none of the 100 images")
    assert e.low <= 0 <= e.high
    slope = one(found, "slope_per_10_points", metric="accuracy")
    assert (np.isnan(slope.estimate), slope.method) == (True, "not estimable: exposure does not change")
    text = verdict(samples, known, plans, exposures, found)
    assert text.startswith("No dependence detectable")
    assert "clean" not in text


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    path = Path(__file__).parent / "benchmarks" / "sim_coverage.py"
    spec = importlib.util.spec_from_file_location("sim_coverage", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sim_coverage"] = module
    spec.loader.exec_module(module)
    return module


def test_intervals_cover_a_known_inflation_and_image_level_ones_do_not(simulation: ModuleType) -> None:
    repeats = 100
    tally = simulation.run_cell(simulation.Cell(20, "equal", 0.4, 0.5), repeats)
    assert tally.given["inflation"] == tally.given["score_intact"] == repeats
    assert tally.coverage("inflation") >= 0.92
    assert tally.coverage("score_intact") >= 0.92
    assert tally.coverage("image_score") <= 0.75
    assert tally.coverage("image_inflation") <= 0.88


def test_without_an_effect_none_is_claimed(simulation: ModuleType) -> None:
    repeats = 100
    tally = simulation.run_cell(simulation.Cell(20, "equal", 0.2, 0.0), repeats)
    assert tally.coverage("inflation") >= 0.92
    assert tally.claims <= 0.05 * repeats
