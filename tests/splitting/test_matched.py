"""The matched swap: what must stay constant, and its estimate against a known effect."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fiftyone_hsd.errors import InfeasibleError, InputError
from fiftyone_hsd.splitting.matched import matched


def where(plan, part):
    return plan.partition == part


@pytest.mark.parametrize("seed", range(40))
def test_everything_but_exposure_is_constant(seed, draw_corpus):
    c = draw_corpus(seed)
    try:
        design = matched(c.labels, c.groups, seed=seed, ids=c.ids, tolerance=0.6)
    except InfeasibleError:
        return
    a, b = design.plans
    assert (where(a, "test") == where(b, "test")).all()
    for count in (lambda p: Counter(c.labels[where(p, "train")].tolist()), lambda p: where(p, "train").sum()):
        assert count(a) == count(b)
    assert len(set(c.groups[where(a, "train")])) == len(set(c.groups[where(b, "train")]))
    for p in range(design.pairs):
        rows = design.pair == p
        pair = np.unique(c.groups[rows])
        assert len(pair) == 2
        content = [Counter(c.labels[rows & where(a, "test") & (c.groups == g)].tolist()) for g in pair]
        assert content[0] == content[1]
        in_first = {int(g) for g in pair if (where(a, "train") & (c.groups == g)).any()}
        in_second = {int(g) for g in pair if (where(b, "train") & (c.groups == g)).any()}
        assert len(in_first) == len(in_second) == 1
        assert in_first != in_second
        exposed = design.own_first & rows & where(a, "test")
        assert set(c.groups[exposed].tolist()) == in_first
        # Nothing else of the two groups is anywhere.
        assert (~np.isin(c.groups, pair) | rows | where(a, "unused")).all()
    assert design.used == pytest.approx((~(where(a, "unused") & where(b, "unused"))).mean())


def test_the_draw_follows_the_ids(draw_corpus):
    c, order = draw_corpus(3), np.random.default_rng(0).permutation(len(draw_corpus(3).labels))
    a = matched(c.labels, c.groups, seed=0, ids=c.ids, tolerance=0.6)
    b = matched(c.labels[order], c.groups[order], seed=0, ids=[c.ids[i] for i in order], tolerance=0.6)
    assert [p.digest for p in a.plans] == [p.digest for p in b.plans]
    other = matched(c.labels, c.groups, seed=1, ids=c.ids, tolerance=0.6)
    assert a.plans[0].digest != other.plans[0].digest


def test_it_says_what_is_out_and_why():
    groups = np.r_[np.repeat(np.arange(20), 4), np.arange(20, 30), np.repeat(30, 40)]
    labels = np.r_[np.repeat(np.arange(20) % 2, 4), np.arange(10) % 2, np.repeat([0, 1], 20)]
    design = matched(labels, groups, seed=0, share=0.9)
    text = " ".join(n.text for n in design.notes)
    assert f"{design.pairs} pairs of groups" in text
    assert "fewer than two files of any one class" in text
    assert 0 < design.used <= 1


def test_what_cannot_be_paired_is_refused():
    with pytest.raises(InfeasibleError, match="no two groups can be paired"):
        matched(np.arange(30) % 2, np.arange(30), seed=0)
    with pytest.raises(InputError):
        matched([0, 0], [0, 1], seed=0, share=1.0)
