"""Which images a drawn corpus has and how they depend on each other, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .kinds import CELL_TYPES

COPIES = ("hflip", "vflip", "rot90", "rot180", "crop", "bright", "dark")
"""What an augmented copy does to its source."""

NAMES = ("patient", "hash", "counter")
SPLITS = ("random", "intact", "none")


@dataclass(frozen=True)
class Recipe:
    """The dependences of a drawn corpus, each with its own switch.

    Attributes:
        patients: number of patients; the patient is the true group.
        classes: number of classes.
        classes_per_patient: of how many classes a patient has cells.
        slides: slides a patient.
        fields: fields a patient and class: at least 1, at most this many.
        views: near-identical exposures of a field: at least 1, at most this many. 1 = off.
        copies: augmented copies of an exposure: at most this many. 0 = off.
        duplicates: number of byte-identical second files in the corpus. 0 = off.
        patient_look: how much the red cells differ between patients. 0 = off.
        slide_stain: how much dyes and lighting differ between slides. 0 = off.
        image_stain: how much dyes and lighting differ between fields whatever their slide; no dependence.
        cue: how much warmer the background of the first class is, in every picture of it. 0 = off.
        side: of a picture in pixels.
        names: "patient" = names as a laboratory gives them, which hold the patient; "hash" = hexadecimal names that
            hold nothing; "counter" = numbers in shuffled order.
        split: what the split directories say: "random" = files at random, as often published; "intact" = whole
            patients; "none" = no split directories.
        seed: of everything random.
    """

    patients: int = 24
    classes: int = 4
    classes_per_patient: int = 2
    slides: int = 2
    fields: int = 5
    views: int = 3
    copies: int = 2
    duplicates: int = 4
    patient_look: float = 1.0
    slide_stain: float = 1.0
    image_stain: float = 0.35
    cue: float = 1.0
    side: int = 104
    names: str = "patient"
    split: str = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        most = len(CELL_TYPES)
        limits = {
            "patients": (1, 1_000_000),
            "classes": (1, most),
            "classes_per_patient": (1, self.classes),
            "slides": (1, 100),
            "fields": (1, 1000),
            "views": (1, 100),
            "copies": (0, len(COPIES)),
            "duplicates": (0, 1_000_000),
            "side": (24, 1024),
            **dict.fromkeys(("patient_look", "slide_stain", "image_stain", "cue"), (0, 5)),
        }
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(f"{name} = {getattr(self, name)}", f"{low} to {high}")
        if self.names not in NAMES or self.split not in SPLITS:
            allowed = f"names: {', '.join(NAMES)}; split: {', '.join(SPLITS)}"
            raise InputError(f"names = {self.names!r}, split = {self.split!r}", allowed)


DEMO = Recipe()
SMALL = Recipe(patients=24, classes=3, fields=2, duplicates=2, views=2, slide_stain=1.5, side=64)
INDEPENDENT = Recipe(
    patients=200,
    classes=3,
    classes_per_patient=1,
    slides=1,
    fields=1,
    views=1,
    copies=0,
    duplicates=0,
    cue=0,
    side=64,
    names="counter",
)
"""Nothing depends on anything: one picture a patient; the classes can be learned."""
UNRELATED = Recipe(
    classes=3, views=1, copies=0, duplicates=0, patient_look=0, slide_stain=0, image_stain=1.0, cue=0, side=64
)
"""Patients, slides and fields exist in names and truth, but no picture shows them."""
SIXTY = Recipe(patients=60, classes=14, classes_per_patient=7, fields=2, views=2, copies=1, side=64)
PRESETS: Mapping[str, Recipe] = {
    "demo": DEMO,
    "small": SMALL,
    "independent": INDEPENDENT,
    "unrelated": UNRELATED,
    "sixty": SIXTY,
}


@dataclass(frozen=True)
class Row:
    """One image of the corpus: numbers within their parent, counted from 0."""

    patient: int
    slide: int
    label: int
    field: int
    view: int
    copy: str


def rows(recipe: Recipe, rng: np.random.Generator) -> list[Row]:
    """The images in order of patient, class, field, view; sources before their copies, duplicates last."""
    result: list[Row] = []
    deck = _classes_of_patients(recipe, rng)
    for patient, labels in enumerate(deck):
        number = 0
        for label in labels:
            for _ in range(int(rng.integers(max(1, recipe.fields // 2), recipe.fields + 1))):
                slide = int(rng.integers(recipe.slides))
                for view in range(int(rng.integers(1, recipe.views + 1))):
                    source = Row(patient, slide, label, number, view, "")
                    kinds = rng.permutation(len(COPIES))[: int(rng.integers(0, recipe.copies + 1))]
                    result += [source, *(_copy(source, COPIES[k]) for k in kinds)]
                number += 1
    twice = rng.permutation(len(result))[: recipe.duplicates]
    return result + [_copy(result[i], (result[i].copy + "+" if result[i].copy else "") + "same") for i in sorted(twice)]


def _copy(row: Row, kind: str) -> Row:
    return Row(row.patient, row.slide, row.label, row.field, row.view, kind)


def _classes_of_patients(recipe: Recipe, rng: np.random.Generator) -> list[list[int]]:
    """Every class goes to nearly the same number of patients; which ones is random."""
    deck: list[list[int]] = []
    pile: list[int] = []
    for _ in range(recipe.patients):
        hand: list[int] = []
        while len(hand) < recipe.classes_per_patient:
            if not any(c not in hand for c in pile):
                pile += rng.permutation(recipe.classes).tolist()
            hand.append(pile.pop(next(i for i, c in enumerate(pile) if c not in hand)))
        deck.append(hand)
    return [deck[i] for i in rng.permutation(len(deck))]


def partitions(recipe: Recipe, corpus: list[Row], rng: np.random.Generator) -> list[str]:
    """Directory of the split for each image: 80 % TRAIN, the rest TEST; "" without split directories."""
    if recipe.split == "none":
        return [""] * len(corpus)
    if recipe.split == "random":
        return ["TRAIN" if u < 0.8 else "TEST" for u in rng.random(len(corpus))]
    held = set(rng.permutation(recipe.patients)[: max(1, round(0.2 * recipe.patients))].tolist())
    return ["TEST" if r.patient in held else "TRAIN" for r in corpus]


def names(recipe: Recipe, corpus: list[Row], rng: np.random.Generator) -> list[str]:
    """File name without suffix for each image, unique over the corpus."""
    if recipe.names == "hash":
        return [bytes(b).hex() for b in rng.integers(0, 256, (len(corpus), 8), dtype=np.uint8)]
    if recipe.names == "counter":
        return [f"{i:05d}" for i in rng.permutation(len(corpus))]
    # Patient numbers as a laboratory hands them out: increasing with gaps, not 0, 1, 2.
    numbers = np.cumsum(rng.integers(1, 6, recipe.patients)) + 100
    return [
        f"P{numbers[r.patient]:04d}_S{r.slide + 1}_F{r.field + 1:02d}_{r.view + 1}"
        + "".join(f"_{word}" for word in r.copy.replace("same", "copy").split("+") if word)
        for r in corpus
    ]
