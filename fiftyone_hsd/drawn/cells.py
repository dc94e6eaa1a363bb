"""Pictures of stained blood cells: dye densities first, colours afterwards by the Beer-Lambert law.

A scene holds how much of two dyes lies at each point: 0 = a basic, blue-violet dye (nuclei), 1 = eosin (red cells,
granules). A slide decides which colours the dyes have and how the microscope was lit. Cell shapes are our own
simplification of what an atlas shows; nobody should diagnose anything with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .kinds import CellType

Density = NDArray[np.float32]
"""(h, w, 2), optical density of the basic dye and of eosin."""

MARGIN = 0.15
"""Share of the side that a scene is larger than a picture, on each edge, so that views can be shifted."""


@dataclass(frozen=True, eq=False)
class Slide:
    """Dye colours and lighting of one slide.

    Attributes:
        dyes: (2, 3), absorption of red, green and blue by each dye.
        light: (3,), brightness of the empty field, 0 to 1.
        centre: (2,), middle of the light cone, shares of the side from the picture's middle.
        vignette: loss of light in a corner, 0 to 1.
    """

    dyes: NDArray[np.float64]
    light: NDArray[np.float64]
    centre: NDArray[np.float64]
    vignette: float


@dataclass(frozen=True)
class Blood:
    """What the red cells of one patient are like: radius (share of the side), eosin density, cells a picture."""

    radius: float = 0.13
    eosin: float = 0.42
    crowd: float = 11.0


DYES = np.array([[0.82, 1.05, 0.30], [0.10, 0.72, 0.42]])
LIGHT = np.array([0.955, 0.935, 0.925])


def slide(rng: np.random.Generator, strength: float) -> Slide:
    """A slide whose dyes and light differ from the standard by log-normal factors that grow with `strength`."""
    dyes = DYES * np.exp(rng.normal(0, 0.16 * strength, (2, 1)) + rng.normal(0, 0.10 * strength, DYES.shape))
    light = np.minimum(LIGHT * np.exp(rng.normal(-0.02, 0.038, 3) * strength), 1.0)
    centre = rng.normal(0, 0.18 * strength, 2)
    return Slide(dyes, light, centre, float(np.clip(rng.normal(0.14, 0.06 * strength), 0.02, 0.4)))


def blood(rng: np.random.Generator, strength: float) -> Blood:
    """Red cells of a patient, different from the standard by factors that grow with `strength`."""
    size, dye, crowd = np.exp(rng.normal(0, strength, 3) * (0.10, 0.22, 0.25))
    return Blood(0.13 * size, 0.42 * dye, 11.0 * crowd)


def scene(cell: CellType, red: Blood, side: int, rng: np.random.Generator) -> Density:
    """Dye densities of a field with one white cell near its middle.

    Args:
        cell: class of the white cell.
        red: the patient's red cells.
        side: side of a picture in pixels.
        rng: everything that is particular about this field.

    Returns:
        float32 (m, m, 2) with m = side + 2 * margin.
    """
    m = side + 2 * round(MARGIN * side)
    density = np.zeros((m, m, 2), np.float32)
    middle = m / 2 + rng.normal(0, 0.03 * side, 2)
    radius = cell.radius * side * np.exp(rng.normal(0, 0.07))
    density[..., 1] += _red_cells(m, side, red, middle, radius, rng)
    body = _blob(m, middle, radius, 0.05, rng)
    density *= (1 - body)[..., None]
    for dye, amount in enumerate(cell.cytoplasm):
        density[..., dye] += body * np.float32(amount * np.exp(rng.normal(0, 0.18)))
    if cell.granules:
        _granules(density, cell, middle, radius, rng)
    nucleus = _nucleus(cell, m, middle, radius, rng)
    chromatin = 1 + 0.22 * _cloud(m, max(2.0, side / 28), rng)
    density[..., 1] *= 1 - 0.7 * nucleus
    density[..., 0] = density[..., 0] * (1 - nucleus) + nucleus * chromatin * np.float32(
        1.1 * np.exp(rng.normal(0, 0.1))
    )
    return density


def develop(
    density: Density, on: Slide, side: int, rng: np.random.Generator, *, jitter: float, tint: NDArray[np.float64] | None
) -> NDArray[np.uint8]:
    """One exposure of a scene.

    Args:
        density: float32 (m, m, 2).
        on: the slide.
        side: side of the picture in pixels.
        rng: shift, focus, exposure and noise of this exposure.
        jitter: how far a repeated view moves, as a share of the side.
        tint: (3,) factor on the empty field's light, None = none.

    Returns:
        uint8 (side, side, 3), RGB.
    """
    m = len(density)
    shift = rng.uniform(-1, 1, 2) * jitter * side
    turn = cv2.getRotationMatrix2D((m / 2, m / 2), float(rng.uniform(-1, 1) * jitter * 60), 1.0)
    turn[:, 2] += shift - (m - side) / 2
    seen = cv2.warpAffine(density, turn, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    seen = cv2.GaussianBlur(seen, (0, 0), 0.5 + 0.4 * float(rng.random()))
    y, x = np.mgrid[0:side, 0:side] / side - 0.5
    falloff = 1 - on.vignette * 2 * ((x - on.centre[0]) ** 2 + (y - on.centre[1]) ** 2)
    light = on.light * np.exp(rng.normal(0, 0.012)) * (1.0 if tint is None else tint)
    colour = np.exp(-(seen @ on.dyes)) * light * falloff[..., None]
    noisy = colour * 255 + rng.normal(0, 1.6, colour.shape)
    return np.asarray(np.clip(np.rint(noisy), 0, 255), np.uint8)


def _red_cells(
    m: int, side: int, red: Blood, middle: NDArray[np.float64], keep_off: float, rng: np.random.Generator
) -> Density:
    disc, dent = np.zeros((m, m), np.uint8), np.zeros((m, m), np.uint8)
    for _ in range(int(rng.poisson(red.crowd * (m / side) ** 2))):
        place = rng.uniform(0, m, 2)
        size = red.radius * side * np.exp(rng.normal(0, 0.08, 2))
        away = np.hypot(*(place - middle)) - keep_off - size.mean() * 0.8
        angle = float(rng.uniform(0, 180))
        if away > 0:
            _ellipse(disc, place, size, angle)
            _ellipse(dent, place + rng.normal(0, 0.04, 2) * size, size * 0.45, angle)
    soft = max(0.8, side / 90)
    body = cv2.GaussianBlur(disc, (0, 0), soft).astype(np.float32) / 255
    pallor = cv2.GaussianBlur(dent, (0, 0), 3 * soft).astype(np.float32) / 255
    return np.asarray(red.eosin * body * (1 - 0.62 * pallor), np.float32)


def _ellipse(canvas: NDArray[np.uint8], place: NDArray[np.float64], axes: NDArray[np.float64], angle: float) -> None:
    # Coordinates in 1/16 pixel: without them every cell would sit on the pixel grid.
    p, a = np.rint(place * 16).astype(int), np.maximum(1, np.rint(axes * 16)).astype(int)
    cv2.ellipse(canvas, (int(p[0]), int(p[1])), (int(a[0]), int(a[1])), angle, 0, 360, 255, -1, cv2.LINE_AA, 4)


def _blob(m: int, middle: NDArray[np.float64], radius: float, rough: float, rng: np.random.Generator) -> Density:
    """A filled, smooth, slightly irregular outline; 0 to 1."""
    angle = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    order = np.arange(2, 6)[:, None]
    waves = rng.normal(0, rough / order) * np.cos(order * angle + rng.uniform(0, 2 * np.pi, (4, 1)))
    r = radius * (1 + waves.sum(0))
    points = np.stack([middle[0] + r * np.cos(angle), middle[1] + r * np.sin(angle)], 1)
    canvas = np.zeros((m, m), np.uint8)
    cv2.fillPoly(canvas, [np.rint(points * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return np.asarray(cv2.GaussianBlur(canvas, (0, 0), 0.8).astype(np.float32) / 255)


def _nucleus(cell: CellType, m: int, middle: NDArray[np.float64], radius: float, rng: np.random.Generator) -> Density:
    start, spread = rng.uniform(0, 2 * np.pi), 1.9 / max(cell.lobes - 1, 1)
    nucleus = np.zeros((m, m), np.float32)
    before: NDArray[np.float64] | None = None
    bridges = np.zeros((m, m), np.uint8)
    for k in range(cell.lobes):
        angle = start + k * spread * np.exp(rng.normal(0, 0.15))
        place = middle + cell.arc * radius * np.array([np.cos(angle), np.sin(angle)])
        size = cell.lobe * radius * np.exp(rng.normal(0, 0.08))
        nucleus = np.maximum(nucleus, _blob(m, place, size, 0.12, rng))
        if before is not None:
            ends = [tuple(int(v) for v in np.rint(p * 16)) for p in (before, place)]
            cv2.line(bridges, ends[0], ends[1], 255, max(1, round(size * 0.5)), cv2.LINE_AA, 4)
        before = place
    return np.asarray(np.maximum(nucleus, bridges.astype(np.float32) / 255 * 0.9), np.float32)


def _granules(
    density: Density, cell: CellType, middle: NDArray[np.float64], radius: float, rng: np.random.Generator
) -> None:
    """Adds the granules of the cytoplasm to `density` in place."""
    m = len(density)
    canvas = np.zeros((m, m), np.uint8)
    count = int(rng.poisson(cell.granules))
    far, angle = 0.93 * radius * np.sqrt(rng.random(count)), rng.uniform(0, 2 * np.pi, count)
    for r, t in zip(far, angle, strict=True):
        place = middle + r * np.array([np.cos(t), np.sin(t)])
        _ellipse(canvas, place, np.full(2, radius * 0.045 * np.exp(rng.normal(0, 0.2))), 0.0)
    mask = cv2.GaussianBlur(canvas, (0, 0), 0.6).astype(np.float32) / 255
    density += mask[..., None] * np.asarray(cell.grain, np.float32)


def _cloud(m: int, scale: float, rng: np.random.Generator) -> Density:
    """Smooth noise of unit variance."""
    noise = cv2.GaussianBlur(rng.normal(size=(m, m)).astype(np.float32), (0, 0), scale)
    return np.asarray(noise / max(float(noise.std()), 1e-6), np.float32)
