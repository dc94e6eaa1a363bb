"""The drawn corpus holds exactly the dependences that its recipe asks for."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.drawn import (
    COPIES,
    DEMO,
    INDEPENDENT,
    PATTERN,
    PRESETS,
    SIXTY,
    SMALL,
    UNRELATED,
    changed,
    draw,
    vectors,
)
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.folder import from_folder, read_groups
from fiftyone_hsd.images import read_image
from fiftyone_hsd.scan import scan

TINY = changed(SMALL, patients=6, fields=2, duplicates=0, side=32)


def truth_of(root: Path) -> list[dict[str, str]]:
    with (root / "truth.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def content(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def one_nearest_neighbour(x: np.ndarray, y: np.ndarray, fold: np.ndarray) -> float:
    """Balanced accuracy of 1-NN by cosine, each fold tested on the others."""
    similarity = x @ x.T
    similarity[fold[:, None] == fold[None, :]] = -2
    hit = y[similarity.argmax(1)] == y
    return float(np.mean([hit[y == c].mean() for c in np.unique(y)]))


def gap(recipe, root: Path) -> tuple[float, float]:
    """(1-NN with whole patients held out, 1-NN with random files held out) on colour histograms."""
    images = draw(root, recipe)
    samples = from_folder(images)
    _, (x,) = scan(samples, [by_name("colour_histogram")])
    patient = np.unique(read_groups(root / "truth.csv", samples), return_inverse=True)[1]
    rng = np.random.default_rng(0)
    whole = one_nearest_neighbour(x.values, samples.labels, rng.permutation(patient.max() + 1)[patient] % 5)
    return whole, one_nearest_neighbour(x.values, samples.labels, rng.permutation(len(samples)) % 5)


def test_truth_lists_exactly_the_images(small_corpus):
    rows = truth_of(small_corpus)
    files = {p.relative_to(small_corpus / "images").as_posix() for p in (small_corpus / "images").rglob("*.jpg")}
    assert len(rows) == len(files)
    assert {r["path"] for r in rows} == files
    assert {r["source_image"] for r in rows} <= files
    assert all(r["group"] == r["patient"] for r in rows)


def test_a_reader_of_folders_agrees_with_the_truth(small_corpus):
    samples = from_folder(small_corpus / "images")
    by_path = {r["path"]: r for r in truth_of(small_corpus)}
    for row, name in enumerate(samples.ids):
        assert samples.classes[samples.labels[row]] == by_path[name]["label"]
        assert samples.split[row] == by_path[name]["split"]
    assert not samples.notes


def test_levels_nest_and_patients_have_several_classes(small_corpus):
    rows = truth_of(small_corpus)
    for child, parent in (("source_image", "field"), ("field", "slide"), ("slide", "patient"), ("field", "label")):
        seen = defaultdict(set)
        for r in rows:
            seen[r[child]].add(r[parent])
        assert all(len(parents) == 1 for parents in seen.values()), (child, parent)
    classes = defaultdict(set)
    for r in rows:
        classes[r["patient"]].add(r["label"])
    assert {len(c) for c in classes.values()} == {SMALL.classes_per_patient}
    patients = Counter(label for labels in classes.values() for label in labels)
    assert max(patients.values()) - min(patients.values()) <= 1


def test_same_recipe_same_bytes_other_seed_other_bytes(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        draw(tmp_path / name, TINY, seed=seed)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert content(tmp_path / "a") != content(tmp_path / "c")


@pytest.mark.parametrize("look", [{"cue": 0}, {"slide_stain": 0}, {"patient_look": 0}, {"image_stain": 2}])
def test_a_look_changes_pictures_and_not_the_list_of_images(tmp_path, look):
    draw(tmp_path / "a", TINY)
    draw(tmp_path / "b", TINY, **look)
    a, b = content(tmp_path / "a"), content(tmp_path / "b")
    assert a["truth.csv"] == b["truth.csv"]
    assert a.keys() == b.keys()
    assert a != b


def test_copies_are_what_the_truth_says(tmp_path):
    root = draw(tmp_path, TINY, copies=len(COPIES)).parent
    undo = {
        "hflip": lambda i: i[:, ::-1],
        "vflip": lambda i: i[::-1],
        "rot90": lambda i: np.rot90(i, -1),
        "rot180": lambda i: np.rot90(i, 2),
    }
    seen = Counter()
    for r in truth_of(root):
        if not r["copy"]:
            assert r["source_image"] == r["path"]
            continue
        seen[r["copy"]] += 1
        copy, source = (read_image(root / "images" / r[c]).astype(int) for c in ("path", "source_image"))
        if r["copy"] in undo:
            assert np.abs(undo[r["copy"]](copy) - source).mean() < 4
        elif r["copy"] in ("bright", "dark"):
            assert (copy.mean() > source.mean()) == (r["copy"] == "bright")
            assert np.corrcoef(copy.ravel(), source.ravel())[0, 1] > 0.9
        assert copy.shape == source.shape
    assert set(seen) == set(COPIES)


def test_repeated_views_look_alike_and_fields_do_not(small_corpus):
    rows = [r for r in truth_of(small_corpus) if not r["copy"]]
    small = {r["path"]: read_image(small_corpus / "images" / r["path"])[8:56:4, 8:56:4].ravel() for r in rows}
    same, other = [], []
    for i, a in enumerate(rows):
        for b in rows[i + 1 :]:
            if a["label"] == b["label"] and a["slide"] == b["slide"]:
                r = np.corrcoef(small[a["path"]], small[b["path"]])[0, 1]
                (same if a["field"] == b["field"] else other).append(r)
    assert len(same) > 20
    assert np.median(same) > np.quantile(other, 0.95)


def test_duplicates_are_the_only_identical_files(tmp_path):
    images = draw(tmp_path, TINY, duplicates=5)
    twice = [n for n in Counter(p.read_bytes() for p in images.rglob("*.jpg")).values() if n > 1]
    assert sum(n - 1 for n in twice) == 5
    assert sum(r["copy"].endswith("same") for r in truth_of(tmp_path)) == 5


def test_the_cue_is_in_the_background_of_one_class_only(tmp_path):
    def warmth(**look) -> dict[str, float]:
        root = draw(tmp_path / str(look["cue"]), TINY, slide_stain=0, patient_look=0, image_stain=0, **look).parent
        values = defaultdict(list)
        for r in truth_of(root):
            image = read_image(root / "images" / r["path"]).astype(float)
            light = np.quantile(image.reshape(-1, 3), 0.9, axis=0)  # the empty field
            values[r["label"]].append(light[0] - light[2])
        return {label: float(np.mean(v)) for label, v in values.items()}

    with_cue, without = warmth(cue=1), warmth(cue=0)
    first = "neutrophil"
    others = [v for k, v in with_cue.items() if k != first]
    assert with_cue[first] > max(others) + 15
    assert abs(without[first] - np.mean([v for k, v in without.items() if k != first])) < 5


def test_slides_have_their_own_colour_only_if_asked(tmp_path):
    def share_between_slides(name: str, **look) -> float:
        root = draw(tmp_path / name, TINY, cue=0, copies=0, views=1, patients=20, **look).parent
        rows = truth_of(root)
        mean = np.array([read_image(root / "images" / r["path"]).mean((0, 1)) for r in rows])
        slide = np.unique([r["slide"] for r in rows], return_inverse=True)[1]
        centre = np.array([mean[slide == s].mean(0) for s in range(slide.max() + 1)])[slide]
        return float(((centre - mean.mean(0)) ** 2).sum() / ((mean - mean.mean(0)) ** 2).sum())

    on = share_between_slides("on", slide_stain=1.0, image_stain=0.3)
    off = share_between_slides("off", slide_stain=0, patient_look=0, image_stain=1.0)
    assert on > off + 0.2


def test_names_hold_the_patient_only_if_asked(tmp_path):
    for names in ("patient", "hash", "counter"):
        root = draw(tmp_path / names, TINY, names=names).parent
        rows = truth_of(root)
        found = [re.search(PATTERN, r["path"]) for r in rows]
        if names == "patient":
            pairs = {(m.group("group"), r["group"]) for m, r in zip(found, rows, strict=True)}
            assert len(pairs) == TINY.patients
        else:
            assert not any(found)
            assert len({r["path"].rpartition("/")[2] for r in rows}) == len(rows)


def test_counters_are_in_no_order_of_patients(tmp_path):
    root = draw(tmp_path, INDEPENDENT, fields=3, patients=60).parent
    rows = sorted(truth_of(root), key=lambda r: r["path"].rpartition("/")[2])
    patient = np.unique([r["patient"] for r in rows], return_inverse=True)[1]
    assert (np.diff(patient) == 0).mean() < 0.1


def test_splits(tmp_path):
    crossing = {}
    for split in ("random", "intact", "none"):
        root = draw(tmp_path / split, TINY, patients=12, fields=4, split=split).parent
        parts = defaultdict(set)
        for r in truth_of(root):
            parts[r["patient"]].add(r["split"])
            assert r["path"].count("/") == (1 if split == "none" else 2)
        crossing[split] = sum(len(p) > 1 for p in parts.values())
        assert set().union(*parts.values()) == ({""} if split == "none" else {"train", "test"})
    assert crossing["intact"] == crossing["none"] == 0
    assert crossing["random"] >= 8


def test_the_sixty_patients(sixty_corpus):
    rows = truth_of(sixty_corpus)
    assert len({r["patient"] for r in rows}) == 60
    assert len({r["label"] for r in rows}) == 14
    patients = Counter(label for label, _ in {(r["label"], r["patient"]) for r in rows})
    assert min(patients.values()) >= 25
    assert 1000 < len(rows) < 2500


def test_the_independent_corpus_has_no_group(independent_corpus):
    rows = truth_of(independent_corpus)
    assert len({r["group"] for r in rows}) == len({r["source_image"] for r in rows}) == len(rows) == 200
    assert min(Counter(r["label"] for r in rows).values()) > 60


def test_dependence_inflates_and_its_absence_does_not(tmp_path):
    whole, random = gap(DEMO, tmp_path / "demo")
    assert random - whole > 0.25
    assert whole > 0.35  # the classes can be learned on new patients: chance is .25
    whole, random = gap(changed(UNRELATED, patients=60), tmp_path / "unrelated")
    assert abs(random - whole) < 0.08
    assert whole > 0.42  # chance is .33


def test_drawing_goes_on_where_it_was_stopped(tmp_path):
    images = draw(tmp_path, TINY)
    whole = content(tmp_path)
    first, second = sorted(images.rglob("*.jpg"))[:2]
    first.write_bytes(first.read_bytes()[:50])
    kept = second.stat().st_mtime_ns
    seen = []
    draw(tmp_path, TINY, progress=lambda done, total, label: seen.append((done, total)))
    assert content(tmp_path) == whole
    assert second.stat().st_mtime_ns == kept
    assert seen[-1] == (len(whole) - 1, len(whole) - 1)


def test_other_files_are_never_mixed_in(tmp_path):
    draw(tmp_path, TINY)
    before = content(tmp_path)
    with pytest.raises(InputError, match="other files"):
        draw(tmp_path, TINY, names="hash")
    assert content(tmp_path) == before
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "images").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        draw(tmp_path / "x", TINY)


@pytest.mark.parametrize(
    "wrong",
    [{"patients": 0}, {"classes": 15}, {"views": 0}, {"side": 8}, {"names": "x"}, {"split": "x"}, {"colour": 1}],
)
def test_a_wrong_setting_is_named(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        changed(DEMO, **wrong)


def test_fewer_classes_need_no_second_change():
    assert changed(SIXTY, classes=3).classes_per_patient == 3


@pytest.mark.parametrize("recipe", PRESETS.values(), ids=PRESETS)
def test_vectors_have_the_structure_of_the_images(recipe, tmp_path):
    v = vectors(recipe, seed=5)
    assert np.allclose(np.linalg.norm(v.descriptors.values, axis=1), 1, atol=1e-5)
    assert len(v.samples) == len(v.groups) == len(v.fields) == len(v.descriptors)
    assert len(v.samples.classes) == recipe.classes
    assert np.array_equal(vectors(recipe, seed=5).descriptors.values, v.descriptors.values)
    if recipe is PRESETS["small"]:
        root = draw(tmp_path, recipe, seed=5).parent
        rows = truth_of(root)
        assert tuple(r["path"] for r in rows) == v.samples.ids
        assert [r["label"] for r in rows] == [v.samples.classes[c] for c in v.samples.labels]
        assert len({(r["group"], g) for r, g in zip(rows, v.groups, strict=True)}) == v.groups.max() + 1


def test_vectors_inflate_only_with_dependence():
    differences = {True: [], False: []}
    for dependent in differences:
        for seed in range(10):
            v = vectors(SMALL if dependent else UNRELATED, seed=seed)
            rng = np.random.default_rng(seed)
            fold = rng.permutation(v.groups.max() + 1)[v.groups] % 5
            x, y = v.descriptors.values, v.samples.labels
            random = one_nearest_neighbour(x, y, rng.permutation(len(y)) % 5)
            differences[dependent].append(random - one_nearest_neighbour(x, y, fold))
    assert np.mean(differences[True]) > 0.1
    assert abs(np.mean(differences[False])) < 0.03
