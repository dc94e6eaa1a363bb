"""A corpus of drawn blood smears with known truth: every dependence is put in on purpose and can be switched off.

draw(out)                     images in SPLIT/CLASS/name, and the truth beside them
draw(out, INDEPENDENT)        the same without any dependence
draw(out, SMALL, cue=0)       a recipe with some settings changed
vectors(SMALL)                the same structure without images: one vector a sample, in milliseconds
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, StoreError
from ..model import Descriptors, Ints, Samples
from ..progress import Progress, guarded
from ..store import atomic
from .corpus import COPIES, DEMO, INDEPENDENT, PRESETS, SIXTY, SMALL, UNRELATED, Recipe, Row, names, partitions, rows
from .kinds import CELL_TYPES

__all__ = [
    "COPIES",
    "DEMO",
    "IMAGES",
    "INDEPENDENT",
    "PATTERN",
    "PRESETS",
    "SIXTY",
    "SMALL",
    "TRUTH",
    "UNRELATED",
    "Recipe",
    "Vectors",
    "changed",
    "draw",
    "vectors",
]

PATTERN = r"(?P<group>P\d+)_S\d+_F\d+"
"""What somebody who knows the laboratory's names would type."""
IMAGES, TRUTH = "images", "truth.csv"
COLUMNS = ("path", "group", "label", "patient", "slide", "field", "source_image", "copy", "split")
SUFFIX = ".jpg"


def changed(recipe: Recipe, **changes: Any) -> Recipe:
    """The recipe with some fields changed.

    Raises:
        InputError: there is no such field, or a value is out of range.
    """
    known = [f.name for f in dataclasses.fields(Recipe)]
    wrong = sorted(set(changes) - set(known))
    if wrong:
        raise InputError(f"unknown setting {', '.join(wrong)}", ", ".join(known))
    if "classes" in changes and "classes_per_patient" not in changes:
        changes["classes_per_patient"] = max(1, min(recipe.classes_per_patient, int(changes["classes"])))
    return dataclasses.replace(recipe, **changes)


def draw(out: str | Path, recipe: Recipe = DEMO, *, progress: Progress | None = None, **changes: Any) -> Path:
    """Draw a corpus into a folder.

    Images go to out/images/SPLIT/CLASS/NAME.jpg, the truth to out/truth.csv with one row an image: path (relative to
    out/images), group (= patient), label, patient, slide, field, source_image (path of the exposure that a copy was
    made of, else its own), copy ("" or what was done), split. The same recipe gives the same bytes with the same
    versions of numpy and OpenCV; images that are there already are left as they are.

    Args:
        out: the folder; out/images may hold nothing but images of this recipe.
        recipe: what to draw.
        progress: called with (images done, n, label).
        changes: fields of the recipe to change.

    Returns:
        out/images.

    Raises:
        InputError: a setting is unknown or out of range, or out/images holds other files.
        StoreError: the files cannot be written.
    """
    recipe = changed(recipe, **changes)
    tell = guarded(progress)
    top = Path(out) / IMAGES
    structure, looks = _generators(recipe)
    corpus = rows(recipe, structure)
    truth = _truth(recipe, corpus, structure)
    _refuse_strangers(top, {t["path"] for t in truth})
    try:
        for folder in sorted({(top / t["path"]).parent for t in truth}):
            folder.mkdir(parents=True, exist_ok=True)
        for i, data in _encoded(recipe, corpus, looks):
            path = top / truth[i]["path"]
            if not (path.is_file() and path.read_bytes() == data):
                path.write_bytes(data)  # a torn file is seen by the comparison and written again
            tell(i + 1, len(corpus), "drawing")
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(truth)
        with atomic(top.parent / TRUTH) as file:
            file.write(text.getvalue().encode())
    except OSError as error:
        raise StoreError(f"the drawn corpus cannot be written to {out} ({error.strerror or error})") from error
    return top


def _refuse_strangers(top: Path, own: set[str]) -> None:
    if top.exists() and not top.is_dir():
        raise InputError(f"{top} is not a folder", "a new or empty folder", "name another folder")
    for path in sorted(top.rglob("*")):
        if path.is_file() and path.relative_to(top).as_posix() not in own:
            raise InputError(f"{top} holds other files, such as {path.name!r}", "a new folder", "name another folder")


def _generators(recipe: Recipe) -> tuple[np.random.Generator, np.random.SeedSequence]:
    """Structure and appearance have chances of their own: changing a look leaves the list of images as it is."""
    structure, looks = np.random.SeedSequence(recipe.seed).spawn(2)
    return np.random.default_rng(structure), looks


def _truth(recipe: Recipe, corpus: list[Row], rng: np.random.Generator) -> list[dict[str, str]]:
    split, name = partitions(recipe, corpus, rng), names(recipe, corpus, rng)
    label = [CELL_TYPES[r.label].name for r in corpus]
    path = ["/".join(p for p in (s, c, n + SUFFIX) if p) for s, c, n in zip(split, label, name, strict=True)]
    source = {(r.patient, r.field, r.view): p for r, p in zip(corpus, path, strict=True) if not r.copy}
    return [
        {
            "path": path[i],
            "group": f"patient{r.patient}",
            "label": label[i],
            "patient": f"patient{r.patient}",
            "slide": f"patient{r.patient}/slide{r.slide}",
            "field": f"patient{r.patient}/slide{r.slide}/field{r.field}",
            "source_image": source[r.patient, r.field, r.view],
            "copy": r.copy,
            "split": split[i].lower(),
        }
        for i, r in enumerate(corpus)
    ]


def _encoded(recipe: Recipe, corpus: list[Row], looks: np.random.SeedSequence) -> Iterator[tuple[int, bytes]]:
    """(row, JPEG bytes), in order."""
    from .pictures import Studio

    studio = Studio(recipe, looks)
    for i, row in enumerate(corpus):
        # A byte-identical duplicate is its source drawn again.
        yield i, studio.jpeg(dataclasses.replace(row, copy=row.copy.removesuffix("same").removesuffix("+")))


@dataclass(frozen=True, eq=False)
class Vectors:
    """A corpus without images.

    Attributes:
        samples: n samples whose files do not exist.
        descriptors: (n, d) unit vectors.
        groups: int64 (n,), the true patient of each sample.
        fields: int64 (n,), the true field of each sample.
    """

    samples: Samples
    descriptors: Descriptors
    groups: Ints
    fields: Ints


def vectors(recipe: Recipe = SMALL, *, dim: int = 24, signal: float = 1.0, **changes: Any) -> Vectors:
    """The structure of a drawn corpus with vectors in place of images.

    A vector is the sum of a class mean (length `signal`), a patient part (length `patient_look`), a slide part
    (`slide_stain`), a field part (length 1.4) and the exposure's own noise (0.15), each normal with independent
    coordinates, plus `cue` along one axis for the first class; then scaled to unit length. Our own choice.

    Args:
        recipe, changes: as in `draw`.
        dim: length of a vector.
        signal: expected length of a class mean.

    Returns:
        Vectors.
    """
    recipe = changed(recipe, **changes)
    structure, looks = _generators(recipe)
    corpus = rows(recipe, structure)
    truth = _truth(recipe, corpus, structure)
    rng = np.random.default_rng(looks)
    groups = np.array([r.patient for r in corpus], np.int64)
    fields = _codes([t["field"] for t in truth])
    slides = _codes([t["slide"] for t in truth])
    labels = np.array([r.label for r in corpus], np.int32)

    def part(codes: NDArray[Any], length: float) -> NDArray[np.float64]:
        return np.asarray(rng.normal(0, length / np.sqrt(dim), (int(codes.max()) + 1, dim))[codes])

    x = part(labels, signal) + part(groups, recipe.patient_look) + part(slides, recipe.slide_stain)
    x += part(fields, 1.4) + rng.normal(0, 0.15 / np.sqrt(dim), x.shape)
    x[labels == 0, 0] += recipe.cue
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    samples = Samples(
        ids=tuple(t["path"] for t in truth),
        paths=tuple(f"/drawn/{t['path']}" for t in truth),
        labels=labels,
        classes=tuple(dict(sorted((r.label, t["label"]) for r, t in zip(corpus, truth, strict=True))).values()),
        split=np.array([t["split"] for t in truth], np.str_),
        metadata={},
        root="/drawn",
    )
    return Vectors(samples, Descriptors("drawn", x.astype(np.float32)), groups, fields)


def _codes(values: list[str]) -> Ints:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64)
