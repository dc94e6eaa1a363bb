"""Datalab's checks with every failure in words, and without what they do to the process."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..model import Descriptors, Grouping, Ints, LabCheck, Samples
from .graph import knn_graph
from .registering import need_cleanlab, register
from .undisturbed import undisturbed

OURS = ("hidden_group", "split_leak")
FEATURES = ("outlier", "near_duplicate", "non_iid")
IMAGES = ("dark", "light", "low_information", "odd_aspect_ratio", "odd_size", "grayscale", "blurry")
SPURIOUS = "spurious_correlations"
CHECKS = (*OURS, "label", *FEATURES, "class_imbalance", "underperforming_group", *IMAGES, SPURIOUS)
LABEL = "label"


@dataclass(frozen=True, eq=False)
class Lab:
    """A Datalab and what it found.

    Attributes:
        lab: the cleanlab.Datalab, over `rows`; `lab.report()`, `lab.save(path)` and all else work as usual.
        rows: int64, the samples it holds: the labelled ones, or all if none has a label.
        checks: one a check that was asked for, over all samples; `reason` says why one was not evaluated.
    """

    lab: Any
    rows: Ints
    checks: tuple[LabCheck, ...]

    @property
    def correlated(self) -> dict[str, float]:
        """Image property -> score of the spurious correlations that Datalab calls strong; small = strong."""
        found = self.lab.info.get(SPURIOUS, {})
        if "correlations_df" not in found:
            return {}
        table = found["correlations_df"]
        strong = table[table["score"] < found["threshold"]]
        return {
            str(p).removesuffix("_score"): float(s) for p, s in zip(strong["property"], strong["score"], strict=True)
        }


def check(
    samples: Samples,
    checks: Sequence[str],
    *,
    types: Mapping[str, Mapping[str, Any]] | None = None,
    descriptors: Descriptors | None = None,
    probabilities: NDArray[np.floating] | None = None,
) -> Lab:
    """Run checks of Datalab, one after another.

    Datalab swallows what goes wrong in a check: here every check that left no result has a reason. Global state is
    kept (see `undisturbed`), nothing is printed, and two faults of cleanlab 2.9 are guarded: near-duplicates where
    every image has a twin (see `knn_graph`), and the baseline of the spurious correlations.

    Args:
        checks: names out of CHECKS.
        types: options of single checks, for instance from `issue_types(report)`; arrays over all samples.
        descriptors: n vectors; with them our exact neighbour graph is given to Datalab.
        probabilities: (n, C) out of fold; rows of nan count as not predicted.

    Raises:
        InputError: a check of no known name, or lengths that differ.
        MissingExtraError: cleanlab is not installed.
    """
    need_cleanlab()
    wrong = sorted(set(checks) - set(CHECKS))
    if wrong:
        raise InputError(f"unknown check {', '.join(wrong)}", ", ".join(CHECKS))
    register()
    rows = np.flatnonzero(samples.labels >= 0) if samples.labelled else np.arange(len(samples), dtype=np.int64)
    given = _Given(samples, rows, descriptors, probabilities)
    lab, no_pictures = _empty(given, any(c in (*IMAGES, SPURIOUS) for c in checks))
    options = {k: _rows_of(v, rows, len(samples)) for k, v in (types or {}).items()}
    found = []
    for name in dict.fromkeys(checks):
        if no_pictures and name in (*IMAGES, SPURIOUS):
            found.append(_left_out(name, len(samples), no_pictures))
        else:
            found.append(_one(lab, name, given, options.get(name, {})))
    return Lab(lab, rows, tuple(found))


def _empty(given: _Given, images: bool) -> tuple[Any, str]:
    """A Datalab without results, and why it holds no pictures although they were asked for."""
    reason = ""
    with _silent():
        if images and importlib.util.find_spec("cleanvision") is None:
            reason = 'cleanvision is not installed (pip install "cleanlab[image]")'
        elif images:
            try:
                return given.datalab(True), ""
            except Exception as trouble:  # pictures that cannot be opened must not end the other checks
                reason = f"{type(trouble).__name__}: {trouble}"
        return given.datalab(False), reason


@dataclass(frozen=True, eq=False)
class _Given:
    """What Datalab gets, over the rows of the lab."""

    samples: Samples
    rows: Ints
    descriptors: Descriptors | None
    probabilities: NDArray[np.floating] | None

    def __post_init__(self) -> None:
        for what, value in (("descriptors", self.descriptors), ("probabilities", self.probabilities)):
            if value is not None and len(value) != len(self.samples):
                raise InputError(f"{len(value)} {what} for {len(self.samples)} samples", "one row a sample")

    @property
    def labels(self) -> NDArray[np.integer]:
        return self.samples.labels[self.rows]

    def names(self) -> list[str]:
        """Class names that Arrow can hold: undecodable bytes as escapes."""
        return [c.encode("utf-8", "backslashreplace").decode() for c in self.samples.classes]

    def datalab(self, images: bool) -> Any:
        """An empty Datalab with the labels, the ids and, on request, the pictures."""
        from cleanlab import Datalab

        ids = [self.samples.ids[i].encode("utf-8", "backslashreplace").decode() for i in self.rows]
        data: Any = {"path": ids}
        if self.samples.labelled:
            names = self.names()
            data[LABEL] = [names[c] for c in self.labels.tolist()]
        named = LABEL if LABEL in data else None
        if not images:
            return Datalab(data, label_name=named, verbosity=0)
        import datasets

        data["image"] = [self.samples.paths[i] for i in self.rows]
        table = datasets.Dataset.from_dict(data).cast_column("image", datasets.Image())
        return Datalab(table, label_name=named, image_key="image", verbosity=0)

    def inputs(self) -> dict[str, Any]:
        """Graph and probabilities, in the order of classes that Datalab uses."""
        inputs: dict[str, Any] = {}
        if self.descriptors is not None and len(self.rows) > 1:
            inputs["knn_graph"] = knn_graph(self.descriptors.take(self.rows))
        if self.probabilities is not None and self.samples.labelled:
            names = self.names()
            order = sorted(np.unique(self.labels).tolist(), key=lambda c: names[c])
            share = np.asarray(self.probabilities, np.float64)[self.rows][:, order]
            total = share.sum(axis=1, keepdims=True)
            blank = ~(total > 0)
            inputs["pred_probs"] = np.where(blank, 1 / len(order), share / np.where(blank, 1, total))
        return inputs


def _rows_of(options: Mapping[str, Any], rows: Ints, n: int) -> dict[str, Any]:
    """Options with arrays over all samples cut to the rows of the lab."""
    plain = {k: v.codes if isinstance(v, Grouping) else v for k, v in options.items()}
    listed = {k: isinstance(v, (list, tuple)) or hasattr(v, "__array__") for k, v in plain.items()}
    whole = {k: np.asarray(v) if listed[k] else v for k, v in plain.items()}
    return {k: v[rows] if isinstance(v, np.ndarray) and v.shape[:1] == (n,) else v for k, v in whole.items()}


def _one(lab: Any, name: str, given: _Given, options: Mapping[str, Any]) -> LabCheck:
    n = len(given.samples)
    said = io.StringIO()
    error = ""
    inputs = {} if name in OURS else given.inputs()
    if "knn_graph" in inputs and name in (*FEATURES, "underperforming_group"):
        options = {"k": inputs["knn_graph"].nnz // len(given.rows), **options}
    with _silent(said) as heard:
        try:
            if name in IMAGES:
                lab.find_issues(issue_types={"image_issue_types": {name: dict(options)}})
            else:
                lab.find_issues(issue_types={name: dict(options)}, **inputs)
        except Exception as trouble:  # a check that cannot run must not end the others, nor pass for clean
            error = f"{type(trouble).__name__}: {trouble}"
    if name == SPURIOUS:
        return _spurious(lab, n, error or _reason(said.getvalue(), name, heard))
    columns = f"is_{name}_issue", f"{name}_score"
    if error or any(c not in lab.issues for c in columns):
        reason = error or _reason(said.getvalue(), name, heard)
        return _left_out(name, n, reason)
    flagged, score = np.zeros(n, bool), np.full(n, np.nan)
    flagged[given.rows] = lab.issues[columns[0]].to_numpy(bool)
    score[given.rows] = lab.issues[columns[1]].to_numpy(np.float64)
    return LabCheck(name, flagged, score)


def _left_out(name: str, n: int, reason: str) -> LabCheck:
    return LabCheck(name, np.zeros(n, bool), np.full(n, np.nan), reason)


def _reason(said: str, name: str, heard: Sequence[Any]) -> str:
    """Why a check left no result, out of what Datalab printed or warned."""
    printed = re.search(rf"Error in (?:{re.escape(name)}|checking for image issues): (.*)", said)
    if printed:
        return printed[1].strip() or "Datalab gave no reason"
    told = [str(w.message) for w in heard if issubclass(w.category, UserWarning)]
    return told[0] if told else "Datalab left it out: labels, vectors or probabilities that it needs were not given"


def _spurious(lab: Any, n: int, reason: str) -> LabCheck:
    """Spurious correlations are about image properties, not samples: the lab's info holds them."""
    found = lab.info.get(SPURIOUS, {}) if lab.info else {}
    return _left_out(SPURIOUS, n, "" if found else reason)


@contextlib.contextmanager
def _silent(said: io.StringIO | None = None) -> Iterator[list[Any]]:
    """Datalab without its prints and progress bars, without what it does to the process, with the right baseline."""
    into = io.StringIO() if said is None else said
    with undisturbed() as heard, contextlib.redirect_stdout(into), contextlib.redirect_stderr(into), _right_baseline():
        yield heard


@contextlib.contextmanager
def _right_baseline() -> Iterator[None]:
    """cleanlab 2.9 takes the number of the most frequent class for its count (argmax for max) in the baseline of the
    spurious correlations, which flags a random property on unbalanced classes; inside, it is the share of that class.
    """
    from cleanlab.datalab.internal.spurious_correlation import SpuriousCorrelations as Wrong

    def baseline(self: Any) -> float:
        return float(np.bincount(self.labels).max() / len(self.labels))

    before = Wrong._get_baseline
    Wrong._get_baseline = baseline
    try:
        yield
    finally:
        Wrong._get_baseline = before
