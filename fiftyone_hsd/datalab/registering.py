"""`hidden_group` and `split_leak` as issue types of Datalab."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import FieldError, InputError, MissingExtraError
from ..model import TRAIN, UNUSED, AuditReport, Bools, Floats, Grouping, Ints
from .undisturbed import undisturbed

EXISTING = "existing"
TASKS = ("classification", "regression", "multilabel")


def cleanlab_there() -> bool:
    """Whether cleanlab is installed with what Datalab needs."""
    return all(importlib.util.find_spec(name) is not None for name in ("cleanlab", "datasets"))


def need_cleanlab() -> None:
    """MissingExtraError unless cleanlab can be used."""
    if not cleanlab_there():
        raise MissingExtraError("cleanlab is not installed", advice='pip install "fiftyone-hsd[datalab]"')


@functools.cache
def register() -> tuple[type, type]:
    """Register both issue types with cleanlab's factory, for every task; a second call does nothing.

    Returns:
        the two issue managers.

    Raises:
        MissingExtraError: cleanlab is not installed.
    """
    need_cleanlab()
    with undisturbed():
        from cleanlab.datalab.internal.issue_manager_factory import register as add

        both = _hidden_group(), _split_leak()
        for task in TASKS:
            for manager in both:
                add(manager, task=task)
    return both


def issue_types(report: AuditReport, condition: str | None = None, seed: int = 0) -> dict[str, dict[str, Any]]:
    """What `lab.find_issues(issue_types=...)` takes, for a lab whose rows are the samples of the report.

    Args:
        condition, seed: the split whose leaks are looked for; None = the existing split if the corpus has one, else
            `split_leak` is left out.

    Raises:
        FieldError: there is no such plan.
    """
    grouping = report.grouping
    evidence, confidence = _evidence(grouping)
    known = {"groups": grouping.codes, "evidence": evidence, "confidence": confidence}
    types: dict[str, dict[str, Any]] = {"hidden_group": dict(known)}
    there = any(p.condition == EXISTING for p in report.plans)
    if condition is not None or there:
        plan = report.plan(condition or EXISTING, seed)
        types["split_leak"] = {**known, "split": plan.partition}
    return types


def _evidence(grouping: Grouping) -> tuple[NDArray[np.str_], Floats]:
    """For each sample the sources that hold its group together, joined by "+", and the weakest accepted link."""
    links, codes = grouping.links, grouping.codes
    rows = np.flatnonzero(links.accepted & (codes[links.a] == codes[links.b]) & (codes[links.a] >= 0))
    sources: dict[int, set[str]] = {}
    weakest: dict[int, float] = {}
    for code, source, score in zip(
        codes[links.a[rows]].tolist(), links.source[rows].tolist(), links.score[rows].tolist(), strict=True
    ):
        sources.setdefault(code, set()).add(source)
        weakest[code] = min(weakest.get(code, 1.0), score)
    words = ["+".join(sorted(sources.get(c, ()))) for c in codes.tolist()]
    return np.array(words, np.str_), np.array([weakest.get(c, 1.0) for c in codes.tolist()], np.float64)


def _codes(groups: ArrayLike | Grouping | None, n: int) -> Ints:
    """int64 (n,) numbers of the groups; -1, "" and None = unknown."""
    if groups is None:
        raise InputError("no groups were given", 'issue_types={"hidden_group": {"groups": one value a sample}}')
    if isinstance(groups, Grouping):
        codes = groups.codes
    else:
        values = np.asarray(groups)
        if values.ndim != 1:
            raise InputError(f"groups of shape {values.shape}", "one value a sample")
        if np.issubdtype(values.dtype, np.integer):
            codes = np.where(values < 0, -1, values).astype(np.int64)
        else:
            import pandas as pd

            words = np.array(["" if gone else str(v) for v, gone in zip(values, pd.isna(values), strict=True)], np.str_)
            number = np.unique(words, return_inverse=True)[1]
            codes = np.where(words == "", -1, number).astype(np.int64)
    if len(codes) != n:
        raise InputError(f"{len(codes)} groups for {n} samples", "one value a sample")
    return codes


def _column(values: ArrayLike | None, n: int, default: Any, what: str) -> NDArray[Any]:
    array = np.full(n, default) if values is None else np.asarray(values)
    if array.shape != (n,):
        raise InputError(f"{what} of shape {array.shape}", f"({n},): one value a sample")
    return array


def _sizes(codes: Ints) -> Ints:
    """int64 (n,), samples in the group of each; 1 where it is unknown."""
    known = codes >= 0
    number = np.unique(codes[known], return_inverse=True)[1]
    sizes = np.ones(len(codes), np.int64)
    sizes[known] = np.bincount(number, minlength=1)[number] if known.any() else 1
    return sizes


def _severity(flagged: Bools, confidence: NDArray[Any]) -> Floats:
    """Datalab's scale: near 0 = severe. 1 - confidence of the group's weakest link, 1 without a mate (our choice)."""
    return np.where(flagged, 1 - np.clip(confidence.astype(np.float64), 0, 1), 1.0)


def _hidden_group() -> type:
    import pandas as pd
    from cleanlab.datalab.internal.issue_manager import IssueManager

    class HiddenGroup(IssueManager):  # type: ignore[misc]
        """Samples that share a recovered group (patient, slide, scene, copies) with another sample."""

        issue_name = "hidden_group"
        description = (
            "Examples of one hidden group (one patient, slide, session; copies) are not independent of each other.\n\n"
            "    A split that separates them measures memory. hidden_group_id tells which belong together."
        )
        verbosity_levels: Mapping[int, Sequence[str]] = {0: [], 1: ["groups_of_two_or_more", "largest_group"], 2: []}

        def find_issues(self, groups: Any = None, confidence: Any = None, evidence: Any = None, **_: Any) -> None:
            """One row a sample; `groups` as codes, names or a Grouping, the other two (n,) or None."""
            n = len(self.datalab.data)
            codes = _codes(groups, n)
            sizes = _sizes(codes)
            flagged = np.asarray(sizes > 1, bool)
            score = _severity(flagged, _column(confidence, n, 1.0, "confidence"))
            said = _column(evidence, n, "given", "evidence").astype(np.str_)
            self.issues = pd.DataFrame(
                {
                    "is_hidden_group_issue": flagged,
                    self.issue_score_key: score,
                    "hidden_group_id": codes,
                    "hidden_group_size": sizes,
                    "hidden_group_evidence": np.where(flagged, said, "").tolist(),
                }
            )
            self.summary = self.make_summary(score=float(score.mean()) if n else 1.0)
            several = np.unique(codes[flagged])
            self.info = {"groups_of_two_or_more": len(several), "largest_group": int(sizes.max(initial=0))}

    return HiddenGroup


def _split_leak() -> type:
    import pandas as pd
    from cleanlab.datalab.internal.issue_manager import IssueManager

    class SplitLeak(IssueManager):  # type: ignore[misc]
        """Samples outside train that share a group with samples of train."""

        issue_name = "split_leak"
        description = (
            "Examples outside train that have a mate (an example of the same hidden group) in train.\n\n"
            "    A model can look them up. info['train_mates'] lists the mates of each."
        )
        verbosity_levels: Mapping[int, Sequence[str]] = {0: [], 1: ["exposed", "evaluated"], 2: []}

        def find_issues(
            self,
            groups: Any = None,
            split: Any = None,
            train: Any = TRAIN,
            confidence: Any = None,
            evidence: Any = None,
            **_: Any,
        ) -> None:
            """One row a sample; `split` (n,) partition names, `train` the name or names that are trained on."""
            n = len(self.datalab.data)
            codes = _codes(groups, n)
            if split is None:
                raise InputError("no split was given", 'issue_types={"split_leak": {"groups": ..., "split": ...}}')
            part = _column(split, n, "", "split").astype(np.str_)
            inside = np.isin(part, [train] if isinstance(train, str) else list(train))
            if not inside.any():
                raise FieldError(f"no sample is in {train!r}", ", ".join(np.unique(part).tolist()), "name it as train")
            evaluated = ~inside & (part != UNUSED) & (part != "")
            mates = _train_mates(codes, inside, evaluated)
            number = np.array([len(m) for m in mates], np.int64)
            flagged = number > 0
            score = _severity(flagged, _column(confidence, n, 1.0, "confidence"))
            said = _column(evidence, n, "given", "evidence").astype(np.str_)
            self.issues = pd.DataFrame(
                {
                    "is_split_leak_issue": flagged,
                    self.issue_score_key: score,
                    "split_leak_train_mates": number,
                    "split_leak_evidence": np.where(flagged, said, "").tolist(),
                }
            )
            self.summary = self.make_summary(score=float(score[evaluated].mean()) if evaluated.any() else 1.0)
            self.info = {"exposed": int(flagged.sum()), "evaluated": int(evaluated.sum()), "train_mates": mates}

    return SplitLeak


def _train_mates(codes: Ints, inside: Bools, evaluated: Bools) -> list[list[int]]:
    """For each sample the rows of its mates in train; none for samples that are not evaluated."""
    held: dict[int, list[int]] = {}
    for row in np.flatnonzero(inside & (codes >= 0)).tolist():
        held.setdefault(int(codes[row]), []).append(row)
    return [held.get(c, []) if e else [] for c, e in zip(codes.tolist(), evaluated.tolist(), strict=True)]
