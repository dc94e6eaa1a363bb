"""The most exposed images beside their train mates, as blocks."""

from __future__ import annotations

import math

import numpy as np

from ..model import TRAIN, AuditReport, Exposure, Ints, SplitPlan
from . import lookup
from .blocks import Block, Picture, PictureRow, Pictures
from .wording import cosine, many, part, short

MOST_EXPOSED = 10
MOST_MATES = 4
MOST_SIMILAR = 4


def exposed_pictures(report: AuditReport, plan: SplitPlan, exposure: Exposure) -> list[Block]:
    """Exposed images of the readout partition, the most similar to their train mates first, one a group."""
    partition = lookup.readout(plan)
    rows = np.flatnonzero((plan.partition == partition) & exposure.exposed)
    if not len(rows):
        return []
    codes = report.grouping.codes
    mate_is_nearest = (exposure.nearest_train[rows] >= 0) & (codes[exposure.nearest_train[rows]] == codes[rows])
    similarity = np.where(mate_is_nearest, np.nan_to_num(exposure.nearest_similarity[rows], nan=-1.0), -1.0)
    ranked = rows[np.lexsort((rows, -exposure.mates_in_train[rows], -similarity))]
    _, first = np.unique(codes[ranked], return_index=True)
    ranked = ranked[np.sort(first)]
    evidence = lookup.Evidence(report)
    shown = tuple(_row(report, plan, exposure, evidence, int(r)) for r in ranked[:MOST_EXPOSED])
    caption = (
        f"Left: a {partition} image; right of it: its mates in train, with the evidence that they belong together. "
        f"{many(len(rows), 'exposed image')} in {many(len(ranked), 'group')}; one a group, the most similar first; "
        "exposing.csv names the others."
    )
    return [Pictures(f"The most exposed {partition} images", shown, caption)]


def _row(report: AuditReport, plan: SplitPlan, exposure: Exposure, evidence: lookup.Evidence, row: int) -> PictureRow:
    nearest = int(exposure.nearest_train[row])
    mates = _mates(report, plan, row, nearest)
    partition = str(plan.partition[row])
    pictures = [_picture(report, row, (), partition, strong=True)]
    for mate in mates[:MOST_MATES].tolist():
        lines = [evidence.between(row, mate)]
        if mate == nearest and math.isfinite(exposure.nearest_similarity[row]):
            lines.insert(0, cosine(float(exposure.nearest_similarity[row])))
        pictures.append(_picture(report, mate, tuple(lines), TRAIN))
    count = int(exposure.mates_in_train[row])
    detail = f"{many(count, 'mate')} in train"
    more = max(0, len(mates) - MOST_MATES)
    return PictureRow(short(report.samples.ids[row], 70), detail, tuple(pictures), more)


def _mates(report: AuditReport, plan: SplitPlan, row: int, nearest: int) -> Ints:
    """Train mates of a sample, its nearest train image first if it is one."""
    codes = report.grouping.codes
    mates = np.flatnonzero((codes == codes[row]) & (plan.partition == TRAIN))
    return np.concatenate([mates[mates == nearest], mates[mates != nearest]])


def similar_pictures(report: AuditReport, plan: SplitPlan, exposure: Exposure) -> list[Block]:
    """Images without a known mate in train that look most like a train image: links that may have been missed."""
    partition = lookup.readout(plan)
    rows = np.flatnonzero(
        (plan.partition == partition) & exposure.evaluated & ~exposure.exposed & (exposure.nearest_train >= 0)
    )
    if not len(rows):
        return []
    ranked = rows[np.lexsort((rows, -exposure.nearest_similarity[rows]))][:MOST_SIMILAR]
    total = int((plan.partition == partition).sum())
    shown = []
    for row in ranked.tolist():
        nearest = int(exposure.nearest_train[row])
        pictures = (_picture(report, row, (), partition, strong=True), _picture(report, nearest, (), TRAIN))
        detail = cosine(float(exposure.nearest_similarity[row]))
        shown.append(PictureRow(short(report.samples.ids[row], 70), detail, pictures))
    caption = (
        f"The images without a known mate in train ({part(len(rows), total)} of {partition}) that look most like "
        "a train image. If these are mates, a rule is missing and exposure is higher than stated."
    )
    return [Pictures("Not exposed, yet very similar to train", tuple(shown), caption)]


def _picture(report: AuditReport, row: int, lines: tuple[str, ...], partition: str, strong: bool = False) -> Picture:
    samples = report.samples
    label = short(lookup.label_of(report, row), 24)
    return Picture(samples.paths[row], samples.ids[row], lines, " · ".join(filter(None, (partition, label))), strong)
