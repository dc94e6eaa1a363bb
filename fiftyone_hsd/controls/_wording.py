"""The reading of a 2x2 in words. It claims what the numbers claim, and says what could not be tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model import Note
from ..stats import Interval
from ._study import ALPHA, Look, Study, one_group_a_class

if TYPE_CHECKING:
    from ._two_by_two import Cells

CONTROL = "control"
ALIASED = "Whether it is the class or the session cannot be known: they are the same groups"
UNSPLIT = "Whether it is the class or the group cannot be known: no split keeps groups apart"
WITH_OBJECT = "That may be the object as well as acquisition; read it beside the controls without the object"
WORDS = {
    "nearest_neighbour": "1-NN",
    "linear_probe": "linear probe",
    "random_forest": "random forest",
    "lenet5": "LeNet-5",
}


def reading(study: Study, how: Look, cells: Sequence[Cells], doubt: str) -> list[Note]:
    """What the four cells of each reader say together.

    p values are multiplied by the number of readers (Bonferroni), so that trying several is no advantage.
    """
    if not cells:
        text = f"{_title(how)}: nothing could be trained, since no split holds two classes in train"
        return [Note("not evaluated", f"control: {how.control}", text)]
    notes = [_signal(study, how, cells, doubt)]
    if any(math.isfinite(c.fingerprint.estimate) for c in cells):
        notes.append(_release(how, cells))
    return notes


def testable(cell: Cells, readers: int) -> bool:
    """Whether the test groups allow a p value below the level at all."""
    return cell.null is not None and cell.null.smallest * readers <= ALPHA


def _title(how: Look) -> str:
    return how.control.replace("_", " ")


def _numbers(cell: Cells, condition: str) -> str:
    found = cell.scores[CONTROL, condition]
    return f"{WORDS.get(cell.model, cell.model)} {_interval(found)}"


def _interval(found: Interval) -> str:
    if not math.isfinite(found.estimate):
        return "not estimable"
    between = f" [{found.low:.3f}, {found.high:.3f}]" if math.isfinite(found.low) else " (no interval)"
    return f"{found.estimate:.3f}{between}"


def _signal(study: Study, how: Look, cells: Sequence[Cells], doubt: str) -> Note:
    """What a model reads on groups it has not seen, or on images where groups cannot be kept apart."""
    topic, many, condition = f"control: {how.control}", len(cells), study.conditions[0]
    able = [c for c in cells if testable(c, many)]
    reached = "; ".join(_numbers(c, condition) for c in cells)
    scale = f"balanced accuracy {reached}; chance {cells[0].chance:.3f}"
    if not able:
        smallest = min((min(1.0, c.null.smallest * many) for c in cells if c.null is not None), default=1.0)
        text = f"{_title(how)}: not testable: the test groups allow no p below {smallest:.2g}. {scale}"
        return Note("not evaluated", topic, text)
    best = min(able, key=lambda c: c.null.p if c.null else 1.0)
    p = min(1.0, (best.null.p if best.null else 1.0) * many)
    facts = f"{scale}; p {p:.2g} for {WORDS.get(best.model, best.model)}"
    where = "image by image" if study.per_image else "on groups never seen"
    if p > ALPHA:
        high = max((c.scores[CONTROL, condition].high for c in cells), default=float("nan"))
        missed = f"; a score of up to {high:.3f} would still fit" if math.isfinite(high) else ""
        return Note("info", topic, f"no sign that classes can be told apart, {where}, by {how.left}: {facts}{missed}")
    if not how.object_free:
        return Note("info", topic, f"classes can be told apart, {where}, by {how.left}. {WITH_OBJECT}. {facts}")
    if study.per_image:
        why = ALIASED if one_group_a_class(study.samples, study.grouping) else UNSPLIT
        text = f"acquisitions can be told apart, image by image, by {how.left}{doubt}. {why}. {facts}"
        return Note("warning", topic, text)
    text = f"classes differ in acquisition: on groups never seen they can be told apart by {how.left}{doubt}"
    return Note("warning", topic, f"{text}. No split repairs this. {facts}")


def _release(how: Look, cells: Sequence[Cells]) -> Note:
    """What a random split adds."""
    best = max(cells, key=lambda c: c.fingerprint.low if math.isfinite(c.fingerprint.low) else -math.inf)
    own, whole = best.fingerprint, best.inflation
    name = WORDS.get(best.model, best.model)
    topic, at = f"control: {how.control}", f"random minus intact, {name}: {_signed(own)}"
    if not math.isfinite(whole.estimate):
        said = (
            f"a random split inflates the score of {how.left}"
            if own.low > 0
            else f"no inflation of {how.left} is shown"
        )
        return Note("warning" if own.low > 0 else "info", topic, f"{said}. {at}")
    at += f" for the control, {_signed(whole)} for {how.whole}"
    if own.low > 0 and whole.low > 0:
        text = f"groups have a fingerprint in {how.left}, and a random split inflates {how.whole} as well"
    elif own.low > 0:
        text = f"groups have a fingerprint in {how.left}; inflation of {how.whole} is not shown"
    elif whole.low > 0:
        text = f"a random split inflates {how.whole}, but no fingerprint of groups is shown in {how.left}"
    else:
        text = f"neither a fingerprint of groups in {how.left} nor inflation of {how.whole} is shown"
    return Note("warning" if own.low > 0 else "info", topic, f"{text}. {at}")


def _signed(found: Interval) -> str:
    if not math.isfinite(found.estimate):
        return "not measured"
    between = f" [{found.low:+.3f}, {found.high:+.3f}]" if math.isfinite(found.low) else " (no interval)"
    return f"{found.estimate:+.3f}{between}"
