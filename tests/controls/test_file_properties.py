"""Size, format and quality of files, without a pixel."""

from __future__ import annotations

import dataclasses

import numpy as np
from PIL import Image

from fiftyone_hsd.controls.file_properties import file_properties


def with_files(study, folder, quality):
    """The study with its pictures written as JPEG, of a quality that `quality(label, row)` decides."""
    paths = []
    for row, label in enumerate(study.samples.labels.tolist()):
        path = folder / f"{row}.jpg"
        Image.fromarray(study.gallery.each(lambda _, p: p, [row], "")[0]).save(path, quality=quality(label, row))
        paths.append(str(path))
    return dataclasses.replace(study, samples=dataclasses.replace(study.samples, paths=tuple(paths)))


def test_classes_saved_with_different_quality_are_found(corpus, score, tmp_path) -> None:
    found = file_properties(with_files(corpus(blind=True), tmp_path, lambda label, _: 80 + 12 * label))
    assert score(found, "intact").effect.estimate > 0.95
    assert "classes differ in acquisition" in found.notes[0].text
    assert "quality of the file" in found.notes[0].text


def test_files_of_one_kind_say_nothing(corpus, score, tmp_path) -> None:
    rng = np.random.default_rng(1)
    found = file_properties(with_files(corpus(blind=True), tmp_path, lambda *_: int(rng.integers(80, 95))))
    assert score(found, "intact").effect.p > 0.02
    assert found.notes[0].text.startswith("no sign")


def test_pictures_that_are_no_files_are_not_evaluated(corpus) -> None:
    (note,) = file_properties(corpus()).notes
    assert note.level == "not evaluated"
