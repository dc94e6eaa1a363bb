"""A given key that disagrees with the path is said, with counts; one that agrees, or lies inside, is not."""

from __future__ import annotations

import numpy as np

from fiftyone_hsd.grouping._given_checks import against_names, against_paths
from fiftyone_hsd.grouping.names import infer


def corpus():
    names, patients, visits = [], [], []
    for p in range(100, 140):
        for v in (1, 2):
            for k in range(1, 5):
                names.append(f"TCGA_CS_{p}_1997/TCGA_CS_{p}_1997_v{v}_{k}.tif")
                patients.append(f"TCGA_CS_{p}")
                visits.append(f"TCGA_CS_{p} v{v}")
    return names, np.array(patients), np.array(visits)


def test_a_column_that_agrees_is_not_mentioned():
    names, patients, _ = corpus()
    assert against_paths(patients, names, "column p") == []
    assert against_names(patients, infer(names), names, "column p") == []
    # names of its own that only divide the files in the same way, or more coarsely
    own = np.unique(patients, return_inverse=True)[1].astype(str)
    assert against_paths(own, names, "column p") == []
    assert against_names(np.array([str(int(v) // 4) for v in own]), infer(names), names, "column p") == []


def test_values_of_other_files_are_counted():
    names, patients, _ = corpus()
    shifted = np.roll(patients, 8)
    (note,) = against_paths(shifted, names, "column p")
    assert (note.level, note.topic, note.count) == ("problem", "given key", len(names))
    assert "TCGA_CS_139" in note.examples[0]
    wrong = patients.copy()
    wrong[5] = patients[-1]
    (note,) = against_paths(wrong, names, "column p")
    assert note.count == 1


def test_groupings_that_cross_are_a_problem_and_finer_ones_a_warning():
    names, patients, visits = corpus()
    rule = infer(names)
    rng = np.random.default_rng(0)
    (note,) = against_names(rng.permutation(np.unique(patients, return_inverse=True)[1]).astype(str), rule, names, "c")
    assert note.level == "problem"
    assert note.count > len(names) / 2
    assert len(note.examples) == 5
    (note,) = against_names(visits, rule, names, "c")
    assert note.level == "warning"
    assert "40 groups" in note.text


def test_values_that_occur_by_chance_prove_nothing():
    names = [f"img_{k:04d}.png" for k in range(300)]
    numbers = np.random.default_rng(0).permutation(300).astype(str)
    assert against_paths(numbers, names, "column p") == []
    assert against_names(numbers, infer(names), names, "column p") == []
    assert against_paths(np.full(300, ""), names, "column p") == []
