"""The invariants of the ladder, each computed here from the plans alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest

from fiftyone_hsd.errors import InputError
from fiftyone_hsd.splitting import CONDITIONS, MAXIMAL_RELEASE, ladder, shuffle
from fiftyone_hsd.splitting.release import expected_pair_leak, permute_in_cells


def counts(labels, partition):
    return Counter(zip(labels.tolist(), partition.tolist(), strict=True))


def exposed(partition, groups):
    """Test samples with a mate in train, by the definition: one group after the other."""
    members = defaultdict(list)
    for i, g in enumerate(groups.tolist()):
        members[g].append(i)
    return {
        i for rows in members.values() for i in rows if partition[i] == "test" for j in rows if partition[j] == "train"
    }


def crossing(partition, groups):
    parts = defaultdict(set)
    for g, p in zip(groups.tolist(), partition.tolist(), strict=True):
        parts[g].add(p)
    return sum(len(p) > 1 for p in parts.values())


def check_invariants(corpus, plans):
    assert [p.condition for p in plans] == list(CONDITIONS)
    assert crossing(plans[0].partition, corpus.groups) == 0
    sets = [exposed(p.partition, corpus.groups) for p in plans]
    assert sets[0] == set()
    assert all(a <= b for a, b in pairwise(sets)), "exposed test sets are not nested"
    assert all(counts(corpus.labels, p.partition) == counts(corpus.labels, plans[0].partition) for p in plans)


VARIANTS = (
    {},
    {"sentinel": 0.1},
    {"with_source": True},
    {"with_source": True, "sentinel": 0.15, "validation": "intact"},
)


def drawn_ladder(corpus, fractions, seed, with_source=False, **options):
    source = corpus.source if with_source else None
    return ladder(corpus.labels, corpus.groups, fractions, seed=seed, ids=corpus.ids, source=source, **options)


@pytest.mark.parametrize("block", range(10))
def test_invariants_on_200_random_corpora(block, draw_corpus, three):
    for seed in range(20 * block, 20 * block + 20):
        corpus = draw_corpus(seed)
        check_invariants(corpus, drawn_ladder(corpus, three, seed, **VARIANTS[seed % 4]))


@pytest.mark.parametrize("variant", range(len(VARIANTS)))
def test_invariants_on_odd_corpora(odd_corpus, three, variant):
    for seed in range(4):
        check_invariants(odd_corpus, drawn_ladder(odd_corpus, three, seed, **VARIANTS[variant]))


def test_two_samples_can_still_be_two_partitions():
    plans = ladder([0, 0], [4, 9], {"train": 0.5, "test": 0.5}, seed=0)
    assert all(sorted(p.partition.tolist()) == ["test", "train"] for p in plans)


@pytest.mark.parametrize("seed", range(6))
def test_the_draw_follows_the_ids_and_not_the_rows(seed, draw_corpus, three):
    corpus, order = draw_corpus(seed), np.random.default_rng(seed).permutation(len(draw_corpus(seed).labels))
    plans = drawn_ladder(corpus, three, seed, with_source=True, sentinel=0.1)
    other = ladder(
        corpus.labels[order],
        corpus.groups[order],
        three,
        seed=seed,
        ids=[corpus.ids[i] for i in order],
        source=corpus.source[order],
        sentinel=0.1,
    )
    for a, b in zip(plans, other, strict=True):
        assert (a.partition[order] == b.partition).all()
        assert a.digest == b.digest


def test_the_same_seed_repeats_and_another_differs(draw_corpus, three):
    corpus = draw_corpus(3)
    first, again, other = (drawn_ladder(corpus, three, seed) for seed in (0, 0, 1))
    assert [p.digest for p in first] == [p.digest for p in again]
    assert not {p.digest for p in first} & {p.digest for p in other}


def test_group_numbers_do_not_matter(draw_corpus, three):
    corpus = draw_corpus(5)
    renumbered = np.random.default_rng(0).permutation(corpus.groups.max() + 1)[corpus.groups]
    a = drawn_ladder(corpus, three, 0)
    b = ladder(corpus.labels, renumbered, three, seed=0, ids=corpus.ids)
    assert [p.digest for p in a] == [p.digest for p in b]


def test_the_sentinel_is_whole_groups_and_never_moves(draw_corpus, three):
    corpus = draw_corpus(8)
    plans = drawn_ladder(corpus, three, 0, sentinel=0.1)
    away = plans[0].partition == "sentinel"
    assert 0.02 < away.mean() < 0.25
    assert not set(corpus.groups[away]) & set(corpus.groups[~away])
    assert all(((p.partition == "sentinel") == away).all() for p in plans)


def test_an_intact_validation_set_never_moves(draw_corpus, three):
    corpus = draw_corpus(8)
    plans = drawn_ladder(corpus, three, 0, validation="intact")
    val = plans[0].partition == "val"
    assert all(((p.partition == "val") == val).all() for p in plans)
    crossed = drawn_ladder(corpus, three, 0)
    assert any(((p.partition == "val") != (crossed[0].partition == "val")).any() for p in crossed)


def test_exposure_rises_in_near_equal_steps_where_groups_are_many(three):
    groups = np.repeat(np.arange(400), 5)
    plans = ladder(groups % 2, groups, three, seed=0)
    rates = [len(exposed(p.partition, groups)) / (p.partition == "test").sum() for p in plans]
    assert rates == pytest.approx([0, 0.25, 0.5, 0.75, 1.0], abs=0.04)


def test_other_numbers_of_conditions(draw_corpus, three):
    corpus = draw_corpus(11)
    names = [p.condition for p in drawn_ladder(corpus, three, 0, conditions=3)]
    assert names == ["intact", "q50", "random"]
    assert len(drawn_ladder(corpus, three, 0, conditions=2)) == 2
    with pytest.raises(InputError):
        drawn_ladder(corpus, three, 0, conditions=1)
    with pytest.raises(InputError):
        drawn_ladder(corpus, three, 0, validation="none")


def test_the_expected_pair_leak_is_exact():
    """Against the mean over every arrangement of two cells, enumerated here."""
    cells, a = np.array([0, 0, 0, 0, 1, 1, 1, -1]), np.array([0, 0, 1, 1, 0, 1, 1, 2])
    groups, kinds = np.array([0, 0, 1, 1, 0, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    pairs = [(i, j) for i, j in combinations(range(7), 2) if groups[i] == groups[j]]
    apart = []
    for first in combinations(range(4), 2):
        for second in (4, 5, 6):
            part = np.ones(7, int)
            part[list(first)] = 0
            part[second] = 0
            apart.append(np.mean([part[i] != part[j] for i, j in pairs]))
    scale = 1 - (3 / 7) ** 2 - (4 / 7) ** 2
    leak, by_kind = expected_pair_leak(cells, a, groups, kinds)
    assert leak == pytest.approx(np.mean(apart) / scale)
    assert by_kind[0] == pytest.approx((2 / 3) / scale)
    assert np.isnan(by_kind[1])


def test_the_expected_pair_leak_is_the_mean_of_draws(draw_corpus):
    corpus = draw_corpus(21)
    rng = np.random.default_rng(0)
    a, cells = rng.integers(0, 3, len(corpus.labels)), corpus.labels
    expected, _ = expected_pair_leak(cells, a, corpus.groups, corpus.labels)
    i, j = np.triu_indices(len(a), 1)
    mates = corpus.groups[i] == corpus.groups[j]
    scale = 1 - ((np.bincount(a) / len(a)) ** 2).sum()
    draws = [permute_in_cells(a, cells, rng) for _ in range(300)]
    values = [(r[i] != r[j])[mates].mean() / scale for r in draws]
    assert expected == pytest.approx(np.mean(values), abs=4 * np.std(values) / 300**0.5)


def topics(plan):
    return {n.topic: n for n in plan.notes}


def test_a_release_that_cannot_be_full_is_called_maximal(odd_corpora, three):
    groups = np.repeat(np.arange(100), 5)
    assert MAXIMAL_RELEASE not in topics(ladder(groups % 2, groups, three, seed=0)[-1])
    plan = drawn_ladder(odd_corpora["giant group"], three, 0)[-1]
    note = topics(plan)[MAXIMAL_RELEASE]
    assert note.level == "warning"
    assert "maximal release only" in note.text
    assert note.examples
    plain = shuffle(odd_corpora["giant group"].labels, plan, ids=odd_corpora["giant group"].ids)
    labels = odd_corpora["giant group"].labels
    assert counts(labels, plain.partition) == counts(labels, plan.partition)
    assert len(exposed(plain.partition, odd_corpora["giant group"].groups)) > 0


def test_singletons_have_no_defined_pair_leak(odd_corpora, three):
    plan = drawn_ladder(odd_corpora["singletons only"], three, 0)[-1]
    assert "not defined" in topics(plan)["release"].text


def test_source_cells_keep_files_in_their_source_where_they_can_take_it(three):
    """Two sources of 400 groups each: between intact and random, no source gains or loses a place."""
    groups = np.repeat(np.arange(800), 3)
    source = np.where(groups < 400, "a", "b")
    plans = ladder(np.zeros(len(groups), int), groups, three, seed=0, source=source)
    assert counts(source, plans[0].partition) == counts(source, plans[-1].partition)
    free = ladder(np.zeros(len(groups), int), groups, three, seed=0)
    assert counts(source, free[0].partition) != counts(source, free[-1].partition)


def test_too_many_sources_are_merged_and_still_release(odd_corpora, three):
    corpus = odd_corpora["many sources"]
    plans = drawn_ladder(corpus, three, 0, with_source=True)
    assert len(exposed(plans[-1].partition, corpus.groups)) > 0.5 * (plans[-1].partition == "test").sum()


def test_several_labels_a_sample(draw_corpus, three):
    corpus = draw_corpus(2)
    rng = np.random.default_rng(0)
    several = np.stack([rng.random(len(corpus.labels)) < p for p in (0.6, 0.3, 0.2)], axis=1)
    plans = ladder(several, corpus.groups, three, seed=0, ids=corpus.ids)
    for p in plans:
        for column in several.T:
            assert counts(column, p.partition) == counts(column, plans[0].partition)
    assert crossing(plans[0].partition, corpus.groups) == 0
    sets = [exposed(p.partition, corpus.groups) for p in plans]
    assert all(a <= b for a, b in pairwise(sets))
    assert sets[-1]
