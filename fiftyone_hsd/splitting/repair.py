"""From a split that tears groups apart, the smallest change that keeps them whole; a plan, and nothing is deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyError, FieldError, InfeasibleError, InputError
from ..model import UNUSED, Bools, Grouping, Ints, Note, SplitPlan, Strings
from .checks import crossing_groups, listed
from .placements import ASIDE, SECONDS, Bounds, Corpus, Placements, Solution, placements, smallest_change
from .table import canonical_order, known_groups

SHARE_BOUND = 0.02
"""Default bound on the change of a partition's share of all samples (our choice)."""
CLASS_BOUND = 0.05
"""Default bound on the change of a partition's share of one class (our choice)."""
ROUNDING = 1e-9
REASONS = ("joins its group", "its group is in the frozen partition", "keeps shares within bounds")
"""Why a sample changes: its group was torn apart; it may not enter the frozen partition that holds a mate; its group
was whole, but had to make room."""


@dataclass(frozen=True, eq=False)
class Repair:
    """The smallest change of a split that makes it group-disjoint.

    Attributes:
        plan: the SplitPlan "repaired"; samples that are set aside are `unused`.
        rows: int64 (m,), the samples that change, in order of rows.
        before, after: (m,) str, their partitions; after = "unused": set aside.
        reason: (m,) str, one of REASONS.
        freeze: the frozen partition, "" = none.
        sizes: partition -> samples before and after.
        least: a proven lower bound on the number of samples that change under the same bounds.
    """

    plan: SplitPlan
    rows: Ints
    before: Strings
    after: Strings
    reason: Strings
    freeze: str
    sizes: Mapping[str, tuple[int, int]]
    least: int

    @property
    def moved(self) -> int:
        """Samples that move to another partition."""
        return int((self.after != UNUSED).sum())

    @property
    def set_aside(self) -> int:
        """Samples that are set aside."""
        return int((self.after == UNUSED).sum())

    @property
    def optimal(self) -> bool:
        """Whether no smaller change exists, proven."""
        return len(self.rows) == self.least


def repair(
    labels: ArrayLike,
    groups: ArrayLike | Grouping,
    partition: ArrayLike,
    *,
    freeze: str | None = None,
    share_bound: float | None = None,
    class_bound: float | None = None,
    set_aside: str = "forced",
    ids: Sequence[str] | None = None,
    seed: int = 0,
    unknown: str = "refuse",
    names: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Repair:
    """The change of fewest samples after which every group lies in one partition, whole or without what is set aside.

    Of the changes with the fewest samples, one that sets the fewest aside; exact (mixed-integer programming), with a
    proven lower bound beside it where the time ends the search. A frozen partition keeps exactly its samples: what
    shares a group with them elsewhere can only be set aside. Shares are compared over the partitions that are not
    frozen; every class stays in the partitions it was in where that is possible. The objective and the bounds are our
    choice; neither paper repairs a split.

    Args:
        labels: int (n,), -1 = unlabelled (counts in the size only); or bool (n, C), several labels a sample.
        groups: int (n,) or a Grouping.
        partition: (n,) str; "unused" and "" take no part and stay unused.
        freeze: a partition that no sample may enter or leave, usually "test" or "train".
        share_bound: largest change of a partition's share of all samples. None: .02, or what whole groups allow, said
            in a note; a number: refused if it cannot be kept.
        class_bound: the same for the share of each class; None: .05.
        set_aside: "forced" = only what shares a group with a frozen sample; "free" = any sample, where then fewer
            change.
        ids: n unique ids; with them the result does not depend on the order of rows.
        seed: which of several groups with the same content is chosen.
        unknown: group -1: "refuse" or "singleton".
        names: class names for messages.
        seconds: bound on each step of the search.

    Raises:
        FieldError: `freeze` is no partition of the split.
        InfeasibleError: bounds that were asked for cannot be kept, or a partition would be empty.
        InputError: the arguments do not fit each other.
    """
    if set_aside not in ("forced", "free"):
        raise InputError(f"set_aside = {set_aside!r}", "'forced' or 'free'")
    label, code, part = _checked(labels, groups, partition, unknown)
    order = canonical_order(len(part), ids)
    used = order[part[order] != UNUSED]
    if not len(used):
        raise EmptyError("no sample is in a partition", "a split")
    parts, where = np.unique(part[used], return_inverse=True)
    if freeze is not None and freeze not in parts:
        raise FieldError(f"freeze = {freeze!r}", ", ".join(parts.tolist()), "name a partition of the split")
    asked = Bounds(_bound(share_bound, SHARE_BOUND, "share_bound"), _bound(class_bound, CLASS_BOUND, "class_bound"))
    _, group = np.unique(code[used], return_inverse=True)
    member = _members(label[used])
    corpus, kind = _corpus(member, group, where, parts == freeze)
    _refuse_empty(corpus, parts)
    options = placements(corpus, free=set_aside == "free")
    found = smallest_change(corpus, options, asked, seconds)
    called = [names[c] if c < len(names) else f"class {c}" for c in range(member.shape[1])]
    _refuse(found, asked, (share_bound, class_bound), called)
    chosen = _deal(options, found.chosen, kind, np.random.default_rng([seed, 7]))
    after = part.copy()
    target, moving = options.target[chosen][group], options.moving[chosen][group]
    stays = where == target
    new = np.where(stays | moving, parts[np.maximum(target, 0)], UNUSED)
    after = after.astype(new.dtype if new.dtype.itemsize > after.dtype.itemsize else after.dtype)
    after[used] = np.where(target == ASIDE, UNUSED, new)
    notes = _notes(found, asked, parts, called)
    return _result(part, after, code, freeze or "", found.least, ids, seed, notes)


def _checked(
    labels: ArrayLike, groups: ArrayLike | Grouping, partition: ArrayLike, unknown: str
) -> tuple[NDArray[np.generic], Ints, Strings]:
    label, part = np.asarray(labels), np.asarray(partition, np.str_)
    code = np.asarray(groups.codes if isinstance(groups, Grouping) else groups)
    if part.ndim != 1 or code.shape != part.shape or label.ndim not in (1, 2) or len(label) != len(part):
        raise InputError(f"labels {label.shape}, groups {code.shape}, partition {part.shape}", "n each")
    if not np.issubdtype(code.dtype, np.integer):
        raise InputError(f"groups {code.dtype}", "integers")
    return label, known_groups(code.astype(np.int64), unknown), np.where(part == "", UNUSED, part)


def _bound(value: float | None, default: float, name: str) -> float:
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{name} = {value}", "a share from 0 to 1")
    return default if value is None else float(value)


def _members(label: NDArray[np.generic]) -> Bools:
    """bool (n, C), the classes of each sample."""
    if label.ndim == 2:
        return label.astype(bool)
    number = label.astype(np.int64)
    if number.min(initial=0) < -1:
        raise InputError("a label is below -1", "class numbers, -1 = unlabelled")
    return np.asarray(number[:, None] == np.arange(int(number.max(initial=-1)) + 1))


def _corpus(member: Bools, group: Ints, where: Ints, frozen: Bools) -> tuple[Corpus, Ints]:
    """Groups of one content as one kind, and int64 (G,) the kind of each group."""
    g, s, c = int(group.max()) + 1, len(frozen), member.shape[1]
    table = np.zeros((g, s, 1 + c), np.int64)
    np.add.at(table[:, :, 0], (group, where), 1)
    np.add.at(table[:, :, 1:], (group, where), member.astype(np.int64))
    rows, kind, many = np.unique(table.reshape(g, -1), axis=0, return_inverse=True, return_counts=True)
    kinds = rows.reshape(len(rows), s, 1 + c)
    return Corpus(kinds[:, :, 1:], kinds[:, :, 0], many.astype(np.int64), frozen), kind.ravel()


def _refuse_empty(corpus: Corpus, parts: Strings) -> None:
    """InfeasibleError where nothing could be left beside the frozen partition."""
    if not corpus.frozen.any():
        return
    apart = (corpus.sizes[:, corpus.frozen] == 0).all(axis=1)
    groups, open_ = int(corpus.many[apart].sum()), parts[~corpus.frozen]
    if groups < len(open_):
        frozen = parts[corpus.frozen][0]
        have = "every group has" if not groups else f"all but {groups} of {int(corpus.many.sum())} groups have"
        raise InfeasibleError(
            f"{have} a sample in the frozen partition {frozen}: without them nothing would be left for "
            f"{' and '.join(open_.tolist())}",
            "at least one group a partition without a sample in the frozen one",
            "freeze another partition, or nothing",
        )


def _refuse(found: Solution, asked: Bounds, given: tuple[float | None, float | None], called: Sequence[str]) -> None:
    """InfeasibleError where a bound that was asked for is not kept."""
    wide = []
    if given[0] is not None and found.change[0] > asked.share + ROUNDING:
        wide.append(f"share_bound {found.change[0]:.3g}")
    if given[1] is not None and found.change[1:].max(initial=0) > asked.by_class + ROUNDING:
        wide.append(f"class_bound {found.change[1:].max():.3g} (class {called[int(found.change[1:].argmax())]})")
    if wide:
        raise InfeasibleError(
            f"whole groups cannot keep the bounds (share_bound {asked.share:g}, class_bound {asked.by_class:g})",
            f"what they came nearest to: {', '.join(wide)}",
            "widen the bounds, freeze nothing, or leave the bounds out: they are then kept as far as possible",
        )


def _deal(options: Placements, chosen: Ints, kind: Ints, rng: np.random.Generator) -> Ints:
    """int64 (G,), the placement of each group: the chosen numbers dealt among the groups of a kind."""
    result = np.empty(len(kind), np.int64)
    order = np.lexsort((rng.random(len(kind)), kind))
    rows = np.repeat(np.arange(len(chosen)), chosen)
    result[order] = rows[np.argsort(options.kind[rows], kind="stable")]
    return result


def _notes(found: Solution, asked: Bounds, parts: Strings, called: Sequence[str]) -> list[Note]:
    notes = []
    if found.change[0] > asked.share + ROUNDING:
        text = (
            f"a partition's share of the samples changes by up to {found.change[0]:.1%}, for {asked.share:.1%} at most"
        )
        notes.append(Note("warning", "fractions", f"{text}: whole groups allow no less"))
    wide = np.flatnonzero(found.change[1:] > asked.by_class + ROUNDING).tolist()
    if wide:
        most = float(found.change[1:].max())
        text = (
            f"a partition's share of {listed([called[c] for c in wide])} changes by up to {most:.1%}, for "
            f"{asked.by_class:.1%} at most: whole groups allow no less in sum over the classes"
        )
        notes.append(Note("warning", "class shares", text, len(wide), tuple(called[c] for c in wide[:20])))
    for c in np.flatnonzero(found.absent.any(axis=0)).tolist():
        gone = ", ".join(parts[found.absent[:, c]].tolist())
        text = f"class {called[c]} is absent from {gone} after the repair: its whole groups do not reach that far"
        notes.append(Note("warning", "class absent", text, 0, (called[c],)))
    return notes


def _result(
    part: Strings,
    after: Strings,
    code: Ints,
    freeze: str,
    least: int,
    ids: Sequence[str] | None,
    seed: int,
    notes: list[Note],
) -> Repair:
    rows = np.flatnonzero(part != after)
    if len(crossing_groups(after, code)) or (freeze and ((part == freeze) != (after == freeze)).any()):
        raise AssertionError("the repair does not hold what it promises")  # our own fault, never the user's
    torn = np.isin(code[rows], crossing_groups(part, code))
    held = np.isin(code[rows], code[part == freeze]) if freeze else np.zeros(len(rows), bool)
    reason = np.select([held, torn], [REASONS[1], REASONS[0]], REASONS[2])
    sizes = {
        name: (int((part == name).sum()), int((after == name).sum())) for name in np.unique(np.r_[part, after]).tolist()
    }
    aside = int((after[rows] == UNUSED).sum())
    text = (
        f"{len(rows)} of {int((part != UNUSED).sum())} samples change: {len(rows) - aside} move, {aside} are set aside"
    )
    proof = "no smaller change exists within the bounds" if least == len(rows) else f"at least {least} must change"
    plan = SplitPlan.of("repaired", seed, after, ids, [Note("info", "repair", f"{text}; {proof}", len(rows)), *notes])
    return Repair(plan, rows, part[rows], after[rows], reason, freeze, sizes, least)
