"""File properties only: can classes be told apart without decoding a single pixel?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..images import read_bytes, sniff
from ..model import Descriptors, Floats, Note
from ..pixel_rows import long_rows
from ..progress import Progress, guarded
from ._experiment import full_runs
from ._readers import read
from ._study import Look, Outcome, Study
from ._two_by_two import compared

NAME, READER = "file_properties", "random_forest"
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
STEP = 256


def file_properties(study: Study, *, progress: Progress | None = None) -> Outcome:
    """Read width, height, bytes, bytes a pixel, format and JPEG quality (the mean of the quantisation tables)."""
    tell, rows = guarded(progress), []
    for i, path in enumerate(study.samples.paths):
        if i % STEP == 0:
            tell(i, len(study.samples), "file properties: reading files")
        if not Path(path).is_file():
            note = Note("not evaluated", f"control: {NAME}", "file properties: the images are not files of their own")
            return Outcome(notes=(note,))
        rows.append(_properties(path, int(study.scan.width[i]), int(study.scan.height[i])))
    table = np.array(rows)
    spread = table.std(axis=0)
    vectors = long_rows((table - table.mean(axis=0)) / np.where(spread > 0, 3 * spread, 1))
    left = "size, format and quality of the file"
    how = Look(NAME, "size, format, quality", left, True, lambda _row, picture: picture)
    runs = read(study, Descriptors(NAME, vectors), (READER,), (NAME, how.variant), progress)
    results, notes = compared(study, how, runs, full_runs(study, (READER,), progress))
    return Outcome(tuple(results), tuple(notes), tuple(runs))


def _properties(path: str, width: int, height: int) -> Floats:
    data = read_bytes(path)
    kind = sniff(data).upper()
    area = max(1, width * height)
    numbers = [math.log(max(1, v)) for v in (width, height, len(data))]
    one_hot = [float(kind == f) for f in FORMATS]
    return np.array([*numbers, len(data) / area, width / max(1, height), *one_hot, _quality(data)])


def _quality(data: bytes) -> float:
    """Mean of the entries of a JPEG's quantisation tables; 0 for other formats."""
    import io

    from PIL import Image

    if not data.startswith(b"\xff\xd8"):
        return 0.0
    try:
        with Image.open(io.BytesIO(data)) as image:
            tables = getattr(image, "quantization", None) or {}
    except (OSError, ValueError):
        return 0.0
    values = [v for table in tables.values() for v in table]
    return float(np.mean(values)) if values else 0.0
