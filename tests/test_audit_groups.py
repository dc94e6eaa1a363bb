"""The grouping step: several given levels, and given keys that the names contradict."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.audit_groups import find_groups
from fiftyone_hsd.errors import FieldError
from fiftyone_hsd.model import Samples, Scan
from fiftyone_hsd.settings import Settings


def corpus(**metadata):
    names = [
        f"TCGA_CS_{p}_1997/TCGA_CS_{p}_1997_v{v}_{k}.tif" for p in range(100, 140) for v in (1, 2) for k in (1, 2, 3)
    ]
    n = len(names)
    samples = Samples(
        tuple(names), tuple(f"/data/{name}" for name in names), np.arange(n) // 6 % 2, ("a", "b"), np.full(n, ""),
        {k: np.asarray(v, np.str_) for k, v in metadata.items()}, "/data",
    )  # fmt: skip
    digests = tuple(f"{k:064d}" for k in range(n))
    return samples, Scan(digests, digests, ("",) * n, np.full(n, 8), np.full(n, 8))


def grouped(samples, found, **settings):
    return find_groups(samples, found, Settings(**settings), lambda done, total, label: None)


def notes(grouping, topic):
    return [n for n in grouping.notes if n.topic == topic]


PATIENTS = [f"TCGA_CS_{p}" for p in range(100, 140) for _ in range(6)]
VISITS = [f"{v}" for _ in range(40) for v in (1, 1, 1, 2, 2, 2)]
SITES = [f"s{k // 60}" for k in range(240)]


def test_levels_from_coarse_to_fine_give_the_patient():
    samples, found = corpus(site=SITES, patient=PATIENTS, visit=VISITS)
    grouping = grouped(samples, found, group_field="site, patient,visit")
    assert grouping.n_groups == 40
    assert "of site > patient > visit" in notes(grouping, "rule")[0].text
    assert [n.level for n in notes(grouping, "given levels")] == ["info"]
    assert not notes(grouping, "given key")


def test_a_patient_column_that_disagrees_with_the_path_is_not_silently_trusted():
    shifted = PATIENTS[7:] + PATIENTS[:7]
    samples, found = corpus(patient=shifted)
    said = notes(grouped(samples, found, group_field="patient"), "given key")
    assert {n.level for n in said} == {"problem"}
    assert max(n.count for n in said) == 240
    assert all(n.examples for n in said)


def test_a_column_that_says_the_same_is_not_mentioned():
    samples, found = corpus(patient=PATIENTS)
    assert not notes(grouped(samples, found, group_field="patient"), "given key")


def test_a_missing_column_lists_the_known_ones():
    samples, found = corpus(patient=PATIENTS)
    with pytest.raises(FieldError, match="patient"):
        grouped(samples, found, group_field="site,patient")


def test_fields_of_files_serve_as_groups(tmp_path):
    paths = []
    for k in range(24):
        exif = Image.Exif()
        sub = exif.get_ifd(0x8769)
        sub[0xA431], sub[0x9003] = f"SN{k % 2}", f"2021:05:{1 + k // 8:02d} 10:00:{k % 8 * 5:02d}"
        paths.append(str(tmp_path / f"{k:02d}.jpg"))
        Image.new("RGB", (8, 8), (k, 0, 0)).save(paths[-1], exif=exif)
    names = tuple(f"{k:02d}.jpg" for k in range(24))
    samples = Samples(names, tuple(paths), np.full(24, -1), (), np.full(24, ""), {}, str(tmp_path))
    found = Scan(names, names, ("",) * 24, np.full(24, 8), np.full(24, 8))
    assert grouped(samples, found, group_field="exif:BodySerialNumber").n_groups == 2
    sessions = grouped(samples, found, group_field="exif:session")
    assert sessions.n_groups == 6
    assert sessions.sizes.tolist() == [4] * 6
