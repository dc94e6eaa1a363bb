"""The images decide what the names leave open, and only with an interval that chance does not make."""

from __future__ import annotations

import numpy as np
import pytest

from fiftyone_hsd.agreement import agreement
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.grouping._witness import across, mates, witness
from fiftyone_hsd.grouping.names import infer
from fiftyone_hsd.model import Descriptors


def pictures(rng, groups, labels, alike, d=32):
    """Unit rows: a part of the class, a part of the group (share `alike` of the variance), and noise."""
    of_class, of_group = rng.normal(size=(9, d)), rng.normal(size=(int(groups.max()) + 1, d))
    rows = of_class[labels] + alike**0.5 * of_group[groups] + (1 - alike) ** 0.5 * rng.normal(size=(len(groups), d))
    return Descriptors("drawn", (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


def test_ratio_of_the_drawn_variance():
    """Squared distance of strangers is 2 (a + 1 - a), of mates 2 (1 - a): the ratio is 1 / (1 - a) before scaling."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 4)
    labels = groups % 3
    found = mates(witness(pictures(rng, groups, labels, 0.6), labels), groups)
    assert found.low < 1 / (1 - 0.6) < found.high
    assert found.low > 1.5


def test_classes_alone_make_no_mates():
    """Strangers come from the same class: in 60 corpora without groups the 99 % interval holds 1 nearly always."""
    outside = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(60), 3)
        labels = groups % 3
        found = mates(witness(pictures(rng, groups, labels, 0.0), labels), groups)
        outside += not found.low <= 1 <= found.high
    assert outside <= 4


def test_few_pairs_and_pictures_without_vector_decide_nothing():
    values = np.zeros((40, 4), np.float32)
    values[:6] = 0.5
    found = mates(witness(Descriptors("drawn", values), np.zeros(40, int)), np.repeat(np.arange(20), 2))
    assert (found.low, found.high) == (0, np.inf)
    with pytest.raises(InputError):
        witness(Descriptors("drawn", values), np.zeros(3, int))


def clinic(rng, own):
    """`person7_bacteria_2`: the persons are counted in each word, or once with both words as findings."""
    names, groups = [], []
    for word in ("bacteria", "virus"):
        for p in range(1, 61):
            for k in (1, 2):
                names.append(f"person{p}_{word}_{k}.png")
                groups.append(f"{word}{p}" if own else str(p))
    return names, np.unique(groups, return_inverse=True)[1], np.zeros(len(names), int)


@pytest.mark.parametrize("own", [True, False])
def test_pictures_say_whether_a_count_starts_again_with_a_word(own):
    rng = np.random.default_rng(1)
    names, groups, labels = clinic(rng, own)
    images = witness(pictures(rng, groups, labels, 0.7), labels)
    rule = infer(names, labels, images=images)
    assert agreement(rule.codes, groups).f1 == 1
    assert any("near" in e for e in rule.evidence)


def test_mates_that_look_like_strangers_overrule_a_number_but_not_a_word():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(400), 6)
    labels = np.zeros(2400, int)
    images = witness(pictures(rng, groups, labels, 0.0, d=256), labels)
    for text, overruled in (("", True), ("patient", False)):
        names = [f"{text}{7 * g}_{k}.png" for k, g in zip(np.arange(2400) % 6, groups, strict=True)]
        before, after = infer(names, labels), infer(names, labels, images=images)
        assert not before.abstained
        assert after.abstained == overruled
        if overruled:
            assert "no more alike" in after.reason
        else:
            assert after.confidence < before.confidence
            assert any("do not confirm" in e for e in after.evidence)


def test_across_compares_with_strangers_of_the_second_word():
    """Masks look like masks, not like their image: a kind of its own is no evidence against one thing."""
    rng = np.random.default_rng(3)
    key, word = np.repeat(np.arange(200), 2), np.tile([0, 1], 200)
    shown = pictures(rng, key, word, 0.6)
    found = across(witness(shown, np.zeros(400, int)), key, word)
    assert found.low > 1.05
