"""Sessions are divided by long pauses, and only where there are any."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.grouping.acquisition import acquisition


def sessions(rng, n=12, size=8):
    start, when, truth = 0.0, [], []
    for s in range(n):
        start += rng.uniform(3, 9) * 3600
        for _ in range(size):
            start += rng.uniform(3, 40)
            when.append(start)
            truth.append(s)
    return np.array(when), np.array(truth)


def test_pauses_divide_sessions_whatever_the_order():
    rng = np.random.default_rng(0)
    when, truth = sessions(rng)
    order = rng.permutation(len(when))
    links, rule = acquisition(when[order], ["a"] * len(when))
    assert len(links) == len(when) - 12
    assert (truth[order][links.a] == truth[order][links.b]).all()
    assert "s or more" in rule


def test_two_devices_are_never_linked():
    when, truth = sessions(np.random.default_rng(1))
    device = np.array(["a", "b"])[np.arange(len(when)) % 2]
    links, _ = acquisition(when, device)
    assert (device[links.a] == device[links.b]).all()
    assert len(links) == len(when) - 24
    assert (truth[links.a] == truth[links.b]).all()


def test_steps_of_one_kind_show_no_sessions():
    rng = np.random.default_rng(2)
    for steps in (rng.exponential(60, 400), np.full(400, 5.0), rng.lognormal(4, 1, 400)):
        links, why = acquisition(np.cumsum(steps), ["a"] * 400)
        assert len(links) == 0
        assert "no pauses" in why


def test_unknown_times_link_nothing():
    when, _ = sessions(np.random.default_rng(3))
    when[::2] = np.nan
    links, _ = acquisition(when, ["a"] * len(when))
    assert not np.isnan(when[np.r_[links.a, links.b]]).any()
    links, why = acquisition(np.full(50, np.nan), [""] * 50)
    assert len(links) == 0
    assert "0 of 50" in why
