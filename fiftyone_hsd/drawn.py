"""Drawn blood smears with known truth: what an audit should find, and how much of it.

A patient has slides, a slide its own stain and lighting and several fields. Cells of a patient are of several classes,
in shares of the patient's own. A field may be photographed again, and an image may have augmented copies. One class may
sit on a background of its own. Each of these can be switched off; without all of them every image is independent of
every other, and an audit must find nothing.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .progress import Progress, guarded
from .store import atomic

Image = NDArray[np.uint8]
CELLS = (
    *("neutrophil", "lymphocyte", "monocyte", "eosinophil", "basophil", "blast", "promyelocyte"),
    *("myelocyte", "metamyelocyte", "band", "erythroblast", "plasma_cell", "smudge", "reactive"),
)
"""Class names, in the order in which classes are used; at most 14."""
TRUTH = "truth.csv"
COLUMNS = ("path", "label", "group", "patient", "slide", "field", "source_image", "split")


@dataclass(frozen=True)
class Recipe:
    """What is drawn.

    Attributes:
        patients: number of patients; without `dependence` each image is a patient of its own.
        classes: number of classes, 2 to 14.
        images: number of images before repeats and copies.
        slides: slides a patient.
        dependence: patients share stain, lighting and class shares among their images.
        repeats: share of images photographed a second time (shifted a little, with new noise).
        copies: share of images with an augmented copy (flip, rotation, brightness).
        background_cue: the first class sits on a background of its own.
        plain_names: names without patient, slide and field.
        size: pixels along each side.
        seed: everything random.
    """

    patients: int = 24
    classes: int = 4
    images: int = 480
    slides: int = 2
    dependence: bool = True
    repeats: float = 0.15
    copies: float = 0.20
    background_cue: bool = True
    plain_names: bool = False
    size: int = 96
    seed: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.classes <= len(CELLS):
            raise InputError(f"classes = {self.classes}", f"2 to {len(CELLS)}")
        if self.patients < 1 or self.images < self.classes or self.size < 32 or self.slides < 1:
            raise InputError(f"{self}", "patients and slides >= 1, images >= classes, size >= 32")
        if not (0 <= self.repeats <= 1 and 0 <= self.copies <= 1):
            raise InputError(f"repeats = {self.repeats}, copies = {self.copies}", "shares from 0 to 1")


DEMO = Recipe()
SMALL = Recipe(patients=12, classes=3, images=130, size=64)
INDEPENDENT = Recipe(images=120, classes=3, dependence=False, repeats=0, copies=0, background_cue=False, size=48)
SIXTY = Recipe(patients=60, classes=14, images=2400, size=64)
PRESETS = {"demo": DEMO, "small": SMALL, "independent": INDEPENDENT, "sixty": SIXTY}


@dataclass(frozen=True, eq=False)
class Drawing:
    """One image with its truth; `row` has the columns of truth.csv."""

    image: Image
    row: dict[str, str]


def draw(out: str | Path, recipe: Recipe = DEMO, *, progress: Progress | None = None) -> Path:
    """Write a drawn corpus: out/images/SPLIT/CLASS/NAME.png and out/truth.csv.

    The published split deals single files at random (70/15/15), as careless corpora do.

    Returns:
        the folder of images.

    Raises:
        StoreError: `out` cannot be written.
    """
    import cv2

    root = Path(out)
    tell = guarded(progress)
    rows = []
    for done, drawing in enumerate(drawings(recipe)):
        path = root / "images" / drawing.row["path"]
        good, data = cv2.imencode(".png", drawing.image[..., ::-1])
        if not good:
            raise InputError("OpenCV could not encode a drawn image")
        with atomic(path) as file:
            file.write(data.tobytes())
        rows.append(drawing.row)
        if done % 50 == 0:
            tell(done, expected(recipe), "drawing")
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic(root / TRUTH) as file:
        file.write(text.getvalue().encode())
    return root / "images"


def expected(recipe: Recipe) -> int:
    """About how many images a recipe gives."""
    return round(recipe.images * (1 + recipe.repeats + recipe.copies))


def drawings(recipe: Recipe) -> Iterator[Drawing]:
    """The images of a recipe with their truth, without touching the disk."""
    rng = np.random.default_rng([recipe.seed, 5])
    counter = 0
    for number in range(recipe.images):
        patient, slide, label = _place(recipe, number)
        look = _Look.of(recipe, patient, slide, label)
        cell = np.random.default_rng([recipe.seed, 6, number])
        field = number // 4
        clean = _smear(recipe.size, look, label, cell)
        source = f"{patient}.{number}"
        variants = [("", _camera(clean, look, rng))]
        if rng.random() < recipe.repeats:
            shift = tuple(int(v) for v in rng.integers(-3, 4, 2))
            variants.append(("r", _camera(np.roll(clean, shift, (0, 1)), look, rng)))
        if rng.random() < recipe.copies:
            variants.append(("_aug1", _augmented(variants[0][1], rng)))
        for suffix, image in variants:
            counter += 1
            name = f"P{patient:03d}_S{slide}_F{field:03d}_{number:04d}{suffix}"
            name = f"image_{_scrambled(counter):05d}" if recipe.plain_names or not recipe.dependence else name
            split = ("train", "val", "test")[int(np.searchsorted([0.70, 0.85], rng.random()))]
            label_name = CELLS[label]
            values = (
                f"{split}/{label_name}/{name}.png",
                label_name,
                f"patient{patient:04d}",
                f"patient{patient:04d}",
                f"patient{patient:04d}.{slide}",
                f"field{field:04d}",
                source,
                split,
            )
            yield Drawing(image, dict(zip(COLUMNS, values, strict=True)))


def _scrambled(counter: int) -> int:
    """A fixed permutation of 0..99999, so that plain names hold no order."""
    return (counter * 61_007 + 12_345) % 100_000


def _place(recipe: Recipe, number: int) -> tuple[int, int, int]:
    """(patient, slide, class) of an image."""
    rng = np.random.default_rng([recipe.seed, 7, number])
    if not recipe.dependence:
        return number, 0, number % recipe.classes
    patient = number % recipe.patients
    shares = np.random.default_rng([recipe.seed, 8, patient]).dirichlet(np.full(recipe.classes, 1.2))
    # Every class is seen in several patients, whatever their shares.
    label = (number // recipe.patients + patient) % recipe.classes if rng.random() < 0.35 else None
    drawn = int(rng.choice(recipe.classes, p=shares))
    return patient, int(rng.integers(recipe.slides)), drawn if label is None else label


@dataclass(frozen=True)
class _Look:
    """Stain, lighting and background of one slide."""

    paper: tuple[float, float, float]
    red_cell: tuple[float, float, float]
    nucleus: tuple[float, float, float]
    light: float
    corner: float
    noise: float
    speckled: bool

    @staticmethod
    def of(recipe: Recipe, patient: int, slide: int, label: int) -> _Look:
        person = np.random.default_rng([recipe.seed, 9, patient])
        plate = np.random.default_rng([recipe.seed, 10, patient, slide])
        hue = person.normal(0, 14, 3) + plate.normal(0, 7, 3)
        paper = np.array([228.0, 214, 224]) + 0.6 * hue
        red = np.array([214.0, 158, 168]) + hue
        nucleus = np.array([104.0, 62, 148]) + 0.8 * hue
        return _Look(
            paper=_colour(paper),
            red_cell=_colour(red),
            nucleus=_colour(nucleus),
            light=float(np.clip(person.normal(1, 0.05) * plate.normal(1, 0.04), 0.8, 1.15)),
            corner=float(plate.uniform(0.05, 0.3)),
            noise=float(plate.uniform(2, 5)),
            speckled=recipe.background_cue and label == 0,
        )


def _colour(values: NDArray[np.float64]) -> tuple[float, float, float]:
    red, green, blue = (float(v) for v in values)
    return red, green, blue


def _smear(size: int, look: _Look, label: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """One field: red cells around one white cell whose nucleus shows the class."""
    import cv2

    big = size * 2
    canvas = np.empty((big, big, 3), np.float32)
    canvas[:] = look.paper
    unit = big / 12
    for _ in range(int(rng.integers(9, 15))):
        centre = rng.uniform(0, big, 2)
        if np.hypot(*(centre - big / 2)) < 3.4 * unit:
            continue
        at = (int(centre[0]), int(centre[1]))
        radius = int(unit * rng.uniform(1.1, 1.4))
        cv2.circle(canvas, at, radius, look.red_cell, -1, cv2.LINE_AA)
        paler = tuple(0.5 * a + 0.5 * b for a, b in zip(look.red_cell, look.paper, strict=True))
        cv2.circle(canvas, at, int(radius * 0.45), paler, -1, cv2.LINE_AA)
    _white_cell(canvas, unit, look, label, rng)
    if look.speckled:
        for spot in rng.uniform(0, big, (70, 2)):
            cv2.circle(canvas, (int(spot[0]), int(spot[1])), 1, (150, 170, 200), -1, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(canvas, (0, 0), 1.0), np.float32)


def _white_cell(canvas: NDArray[np.float32], unit: float, look: _Look, label: int, rng: np.random.Generator) -> None:
    import cv2

    middle = canvas.shape[0] / 2 + rng.uniform(-0.6, 0.6, 2) * unit
    at = (int(middle[0]), int(middle[1]))
    # Size, lobes, granules and cytoplasm take turns, so that any 14 classes differ in at least one of them.
    lobes = (3, 1, 2, 2, 3, 1, 1)[label % 7]
    radius = (
        unit * (2.3, 1.6, 2.7, 2.3, 2.1, 2.6, 2.8)[label % 7] * (0.85 if label >= 7 else 1) * rng.uniform(0.94, 1.06)
    )
    tint = (
        (226, 204, 222),
        (190, 200, 232),
        (204, 206, 222),
        (236, 190, 182),
        (200, 188, 224),
        (176, 184, 226),
        (214, 190, 214),
    )
    cytoplasm = tuple(0.8 * t + 0.2 * p for t, p in zip(tint[label % 7], look.paper, strict=True))
    cv2.circle(canvas, at, int(radius), cytoplasm, -1, cv2.LINE_AA)
    turn = rng.uniform(0, 2 * np.pi)
    share = (0.5, 0.86, 0.62, 0.52, 0.55, 0.8, 0.62)[label % 7]
    for k in range(lobes):
        angle = turn + 2 * np.pi * k / lobes
        off = 0.0 if lobes == 1 else radius * 0.42
        centre = (int(middle[0] + off * np.cos(angle)), int(middle[1] + off * np.sin(angle)))
        axes = (int(radius * share * (1 if lobes == 1 else 0.8)), int(radius * share * (0.9 if lobes == 1 else 0.66)))
        cv2.ellipse(canvas, centre, axes, float(np.degrees(angle)), 0, 360, look.nucleus, -1, cv2.LINE_AA)
    grain = {3: (226, 96, 70), 4: (60, 36, 110), 6: (150, 70, 150)}.get(label % 7)
    if grain is not None:
        for _ in range(46):
            r, w = radius * 0.92 * np.sqrt(rng.random()), rng.uniform(0, 2 * np.pi)
            spot = (int(middle[0] + r * np.cos(w)), int(middle[1] + r * np.sin(w)))
            cv2.circle(canvas, spot, max(1, int(unit * 0.13)), grain, -1, cv2.LINE_AA)


def _camera(field: NDArray[np.float32], look: _Look, rng: np.random.Generator) -> Image:
    """Lighting, vignetting, sensor noise; back to the final size."""
    import cv2

    size = field.shape[0] // 2
    small = cv2.resize(field, (size, size), interpolation=cv2.INTER_AREA)
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    shade = look.light * (1 - look.corner * (x**2 + y**2) / 2)
    noisy = small * shade[..., None] + rng.normal(0, look.noise, small.shape)
    return np.asarray(np.clip(np.rint(noisy), 0, 255), np.uint8)


def _augmented(image: Image, rng: np.random.Generator) -> Image:
    turned = np.rot90(image[:, ::-1] if rng.random() < 0.5 else image, int(rng.integers(1, 4)))
    return np.asarray(np.clip(np.rint(turned * rng.uniform(0.92, 1.08)), 0, 255), np.uint8)


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """The same recipe with another seed."""
    return dataclasses.replace(recipe, seed=seed)
