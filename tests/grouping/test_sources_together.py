"""Names and pixels each miss links; together they find all, and where they disagree both are shown."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

import fiftyone_hsd as hsd
from fiftyone_hsd.agreement import agreement


def picture(seed):
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 255, (15, 20, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(small).resize((160, 120), Image.BICUBIC))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Twelve patients with three scans each; of four patients one scan came in again, mirrored, under a hash."""
    root = tmp_path_factory.mktemp("together")
    (root / "images").mkdir()
    rng = np.random.default_rng(1)
    rows = []
    for p in range(12):
        for s in range(3):
            image = picture(100 * p + s)
            name = f"patient{p:02d}_scan{s}.png"
            Image.fromarray(image).save(root / "images" / name)
            rows.append((name, f"p{p}"))
            if s == 1 and p < 4:
                again = f"{rng.bytes(16).hex()}.png"
                Image.fromarray(np.ascontiguousarray(image[:, ::-1])).save(root / "images" / again)
                rows.append((again, f"p{p}"))
    # one scan of patient 7 was filed as patient 8, too
    Image.fromarray(picture(700)).rotate(90, expand=True).save(root / "images" / "patient08_scan9.png")
    rows.append(("patient08_scan9.png", "p7"))
    with (root / "truth.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("path", "group"), *rows])
    return root


def f1(corpus, **settings):
    truth = dict(csv.reader((corpus / "truth.csv").read_text().splitlines()[1:]))
    found = hsd.groups(corpus / "images", **settings)
    keep = [i for i, p in enumerate(found.paths) if not p.startswith(("patient07", "patient08"))]
    true = np.unique([truth[found.paths[i]] for i in keep], return_inverse=True)[1]
    return agreement(found.grouping.codes[keep], true).f1, found


def test_the_merge_beats_names_and_pixels(corpus):
    names, _ = f1(corpus, near_copies="off")
    pixels, _ = f1(corpus, names=False)
    both, found = f1(corpus)
    assert 0 < pixels < names < both == 1.0
    assert {"name", "similarity"} <= set(found.grouping.links.source.tolist())


def test_a_scan_filed_under_two_patients_is_shown(corpus):
    _, found = f1(corpus)
    conflict = next(n for n in found.grouping.notes if n.topic == "conflict")
    assert conflict.level == "problem"
    assert "patient07_scan0.png" in conflict.examples[0]
    links = found.why("patient07_scan2.png", "patient08_scan1.png")
    assert [s for s in links.source.tolist() if s == "similarity"] == ["similarity"]


def test_the_truth_is_opened_afterwards_and_pairs_are_pictured(corpus, tmp_path):
    report = hsd.audit(corpus / "images", truth=corpus / "truth.csv", near_copies="off", out=tmp_path, seeds=1)
    missed = next(n for n in report.notes if n.topic == "missed pairs")
    false = next(n for n in report.notes if n.topic == "false pairs")
    assert missed.count == 5  # four copies under a hash, and the scan filed as patient 8
    assert "patient08" in false.examples[0]
    assert "Against the truth: missed pairs" in (tmp_path / "report.html").read_text()
