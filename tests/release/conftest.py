"""A corpus whose names would give people away, audited once: images, groups, failures, copies, a published split."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd import audit

CLASSES = ("BLAST", "RARE_kind")
PEOPLE = [f"M\u00fcller_Anna-{i:03d}" for i in range(9)] + [
    'O"Neil,Pat\n77',
    "<b>Ng&Co</b>_5",
    "Dupont\udcff_1",
    "=cmd|Smith_8",
]


@dataclass(frozen=True)
class Audited:
    """The folder of the images, the folder of the audit, and the patient of every image."""

    images: Path
    out: Path
    patient: dict[str, str]


def picture(number: int) -> bytes:
    rng = np.random.default_rng(number)
    data = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (12, 12, 3), np.uint8)).save(data, "PNG")
    return data.getvalue()


def names() -> Iterator[tuple[str, str]]:
    """(relative path, patient) of 104 images."""
    for k, person in enumerate(PEOPLE):
        for shot in range(8):
            split = ("train", "train", "train", "test")[shot % 4]
            yield f"{split}/{CLASSES[k % 2]}/{person} shot{shot}.png", person


@pytest.fixture(scope="session")
def private(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Do not write into it."""
    root = tmp_path_factory.mktemp("Hospital-Sankt-Georg")
    images, patient = root / "scans 2019", dict(names())
    for number, name in enumerate(patient):
        path = images / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # two copies under the names of two people with different classes
        path.write_bytes(picture(3 if number == 11 else number))
    (images / "train" / CLASSES[0] / "broken Secret-Name.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    groups = root / "patients of 2019.csv"
    with groups.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        csv.writer(file).writerows([("path", "group"), *patient.items()])
    out = root / "audit"
    audit(images, groups=groups, truth=groups, seeds=2, models=("nearest_neighbour",), out=out)
    return Audited(images, out, patient)


@pytest.fixture
def own(private: Audited, tmp_path: Path) -> Audited:
    """A copy to write into."""
    images, out = (shutil.copytree(f, tmp_path / "own" / f.name) for f in (private.images, private.out))
    return Audited(Path(images), Path(out), private.patient)
