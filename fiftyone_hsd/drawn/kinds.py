"""The classes of a drawn corpus: what a white cell of each looks like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellType:
    """How a white cell of one class looks; lengths are shares of the picture's side, densities optical.

    Attributes:
        name: the class.
        radius: of the cell.
        lobes: of the nucleus.
        lobe: radius of a lobe, as a share of the cell's.
        arc: how far the lobes lie apart, as a share of the cell's radius.
        cytoplasm: densities of the two dyes.
        granules: number of granules.
        grain: densities of a granule.
    """

    name: str
    radius: float
    lobes: int
    lobe: float
    arc: float
    cytoplasm: tuple[float, float]
    granules: int = 0
    grain: tuple[float, float] = (0.0, 0.0)


CELL_TYPES = (
    CellType("neutrophil", 0.25, 4, 0.29, 0.44, (0.05, 0.20), 60, (0.06, 0.20)),
    CellType("lymphocyte", 0.19, 1, 0.80, 0.00, (0.28, 0.05)),
    CellType("monocyte", 0.30, 2, 0.46, 0.28, (0.20, 0.12)),
    CellType("eosinophil", 0.26, 2, 0.36, 0.42, (0.02, 0.26), 90, (0.02, 0.55)),
    CellType("basophil", 0.23, 2, 0.42, 0.34, (0.12, 0.18), 55, (0.80, 0.15)),
    CellType("erythroblast", 0.16, 1, 0.58, 0.05, (0.16, 0.36)),
    CellType("myeloblast", 0.27, 1, 0.84, 0.03, (0.36, 0.04)),
    CellType("promyelocyte", 0.31, 1, 0.66, 0.18, (0.30, 0.10), 70, (0.45, 0.20)),
    CellType("myelocyte", 0.28, 1, 0.60, 0.22, (0.12, 0.22), 50, (0.10, 0.26)),
    CellType("metamyelocyte", 0.26, 2, 0.40, 0.26, (0.06, 0.24), 45, (0.06, 0.24)),
    CellType("band_neutrophil", 0.25, 3, 0.31, 0.38, (0.05, 0.22), 50, (0.05, 0.22)),
    CellType("plasma_cell", 0.24, 1, 0.50, 0.34, (0.42, 0.10)),
    CellType("lymphoblast", 0.22, 1, 0.90, 0.02, (0.30, 0.03)),
    CellType("smudge_cell", 0.30, 3, 0.62, 0.22, (0.04, 0.03)),
)
"""The classes in the order in which a corpus takes them."""
