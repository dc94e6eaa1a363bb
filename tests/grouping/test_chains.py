"""Why two samples are in one group: the strongest chain, the weakest link, the diameter."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.grouping._chains import chain, strength, strongest_tree
from fiftyone_hsd.grouping.merge import merge
from fiftyone_hsd.model import Links

LINKS = Links.of(
    [0, 1, 0, 2, 5], [1, 2, 2, 3, 6], "similarity", ["a", "b", "weak", "c", "d"], [0.9, 0.8, 0.4, 0.7, 0.99]
)
GROUPING = merge(8, [LINKS, Links.of([5], [6], "bytes", "same")], np.ones(8, bool))


def test_the_chain_avoids_the_weak_link():
    assert chain(GROUPING, 0, 3).rule.tolist() == ["a", "b", "c"]
    assert chain(GROUPING, 3, 0).rule.tolist() == ["c", "b", "a"]
    assert chain(GROUPING, 5, 6).rule.tolist() == ["same"]
    assert not len(chain(GROUPING, 0, 5))
    assert not len(chain(GROUPING, 4, 4))


def test_weakest_link_and_diameter():
    found = strength(GROUPING)
    first, pair = GROUPING.codes[0], GROUPING.codes[5]
    assert found.weakest[[first, pair]].tolist() == [0.7, 1.0]
    assert GROUPING.links.rule[found.weakest_link[first]] == "c"
    assert found.diameter[[first, pair, GROUPING.codes[7]]].tolist() == [3, 1, 0]
    assert len(strongest_tree(GROUPING)) == 8 - GROUPING.n_groups
