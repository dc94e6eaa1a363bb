"""The nouns: frozen values with read-only arrays. Row i of every array belongs to sample i.

What must agree is checked in the constructors here and nowhere else. Nothing in this file computes a result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import FieldError, InputError

SCHEMA = 1

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Strings = NDArray[np.str_]
Level = Literal["info", "warning", "problem", "not evaluated"]

RUN_STATES = ("done", "failed", "not run")
TRAIN, VAL, TEST, SENTINEL, UNUSED = "train", "val", "test", "sentinel", "unused"
VERDICTS = SAME, DIFFERENT, SKIPPED = "same", "different", "skipped"


def sha256_json(value: Any) -> str:
    """SHA-256 (hex) of canonical JSON: sorted keys, no white space, ASCII only."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _array(value: ArrayLike, dtype: Any, shape: tuple[int | None, ...], what: str) -> NDArray[Any]:
    """A read-only view of `value`; the caller's own array keeps its flags."""
    array = np.asarray(value, dtype=dtype).view()
    if array.ndim != len(shape) or any(s is not None and s != a for s, a in zip(shape, array.shape, strict=True)):
        raise InputError(f"{what} has shape {array.shape}", f"shape {shape}")
    array.flags.writeable = False
    return array


def _rows(n: int, rows: ArrayLike) -> Ints:
    """Row numbers from indices or a boolean mask; an empty list is no row."""
    index = np.asarray(rows)
    return np.asarray(np.arange(n)[index if index.size else index.astype(np.int64)], np.int64)


def _set(obj: object, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(obj, name, value)


@dataclass(frozen=True)
class Note:
    """Something a reader of the result must know, with how often it happened and a few examples."""

    level: Level
    topic: str
    text: str
    count: int = 0
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _set(self, examples=tuple(str(e) for e in self.examples))


@dataclass(frozen=True, eq=False)
class Samples:
    """The images of one corpus.

    Attributes:
        ids: n unique ids: POSIX path relative to the root (folder, CSV) or the FiftyOne id.
        paths: n absolute file paths as the operating system knows them.
        labels: int32 (n,), index into `classes`, -1 = unlabelled.
        classes: the one fixed class list.
        split: (n,) str, the partition of the split as published, "" = none.
        metadata: column name -> (n,) str ("" = missing).
        root: the common root; names are read relative to it, never above it.
        notes: what was seen while reading (duplicate paths, symlink copies, files that are no images, ...).
    """

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    labels: NDArray[np.int32]
    classes: tuple[str, ...]
    split: Strings
    metadata: Mapping[str, Strings]
    root: str
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.ids)
        labels = _array(self.labels, np.int32, (n,), "labels")
        if len(set(self.ids)) != n:
            raise InputError("two samples have the same id", "unique ids")
        if len(self.paths) != n:
            raise InputError(f"{len(self.paths)} paths for {n} ids")
        if len(set(self.classes)) != len(self.classes):
            raise InputError("a class name occurs twice in the class list")
        if n and (labels.min() < -1 or labels.max() >= len(self.classes)):
            raise InputError("a label is outside the class list", f"-1 to {len(self.classes) - 1}")
        _set(
            self,
            ids=tuple(self.ids),
            paths=tuple(self.paths),
            classes=tuple(str(c) for c in self.classes),
            labels=labels,
            split=_array(self.split, np.str_, (n,), "split"),
            metadata={k: _array(v, np.str_, (n,), f"column {k}") for k, v in self.metadata.items()},
            notes=tuple(self.notes),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def labelled(self) -> bool:
        """Whether at least one sample has a label."""
        return bool(len(self) and (self.labels >= 0).any())

    @property
    def names(self) -> tuple[str, ...]:
        """POSIX paths relative to the root, the only text that name rules may read."""
        root = self.root.rstrip("/") + "/"
        return tuple(p[len(root) :] if p.startswith(root) else PurePosixPath(p).name for p in self.paths)

    def column(self, name: str) -> Strings:
        """One metadata column, or a FieldError that lists what there is."""
        if name not in self.metadata:
            there = ", ".join(sorted(self.metadata)) or "no metadata columns"
            raise FieldError(f"there is no column {name!r}", there, "name one of these")
        return self.metadata[name]

    def take(self, rows: ArrayLike) -> Samples:
        """The samples at `rows` (int indices or a boolean mask), in that order."""
        index = _rows(len(self), rows)
        return Samples(
            ids=tuple(self.ids[i] for i in index),
            paths=tuple(self.paths[i] for i in index),
            labels=self.labels[index],
            classes=self.classes,
            split=self.split[index],
            metadata={k: v[index] for k, v in self.metadata.items()},
            root=self.root,
            notes=self.notes,
        )


@dataclass(frozen=True, eq=False)
class Scan:
    """What one pass over the files found out.

    Attributes:
        content: n SHA-256 hex digests of the bytes ("" = unreadable).
        pixels: n SHA-256 hex digests of decoded pixels with shape, mode and depth ("" = undecodable).
        failure: n reasons why an image cannot be used ("" = it can).
        width, height: int64 (n,), pixels after EXIF orientation; 0 where undecodable.
    """

    content: tuple[str, ...]
    pixels: tuple[str, ...]
    failure: tuple[str, ...]
    width: Ints
    height: Ints

    def __post_init__(self) -> None:
        n = len(self.content)
        if len(self.pixels) != n or len(self.failure) != n:
            raise InputError("the columns of a scan differ in length")
        _set(
            self,
            width=_array(self.width, np.int64, (n,), "width"),
            height=_array(self.height, np.int64, (n,), "height"),
        )

    @property
    def usable(self) -> Bools:
        """(n,) bool, False where the image cannot be used."""
        return np.array([not f for f in self.failure], dtype=bool)

    def take(self, rows: ArrayLike) -> Scan:
        """The scan of the samples at `rows`."""
        index = _rows(len(self.content), rows)
        content, pixels, failure = (
            tuple(column[i] for i in index) for column in (self.content, self.pixels, self.failure)
        )
        return Scan(content, pixels, failure, self.width[index], self.height[index])


@dataclass(frozen=True, eq=False)
class Descriptors:
    """One vector a sample.

    Attributes:
        name: identity of the descriptor: method, model, weights and preprocessing. Thresholds belong to it.
        values: float32 (n, d), rows of unit Euclidean length; an all-zero row means "no vector" and matches nothing.
    """

    name: str
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        values = _array(self.values, np.float32, (None, None), "descriptors")
        norms = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))
        if not np.isfinite(norms).all() or (np.abs(norms[norms > 0] - 1) > 1e-3).any():
            raise InputError("descriptor rows are not of unit length", "unit rows, or all-zero rows for no vector")
        _set(self, values=values)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: ArrayLike) -> Descriptors:
        """The descriptors of the samples at `rows`."""
        return Descriptors(self.name, self.values[_rows(len(self), rows)])


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Pairs of samples above a threshold, every pair once.

    Attributes:
        n: number of samples.
        a, b: int64 (m,), rows with a < b.
        similarity: float32 (m,), raw cosine of the unit rows.
        descriptor: name of the descriptor.
        threshold: smallest similarity kept.
        calibration: how the threshold came about, in words.
        backend: what searched, and whether exactly.
        truncated: True if `max_pairs` cut the list (the highest similarities are kept).
    """

    n: int
    a: Ints
    b: Ints
    similarity: NDArray[np.float32]
    descriptor: str
    threshold: float
    calibration: str
    backend: str
    truncated: bool = False

    def __post_init__(self) -> None:
        a = _array(self.a, np.int64, (None,), "a")
        b = _array(self.b, np.int64, (len(a),), "b")
        if len(a) and (a.min() < 0 or b.max() >= self.n or (a >= b).any()):
            raise InputError("a pair is out of range or not in order", "0 <= a < b < n")
        _set(self, a=a, b=b, similarity=_array(self.similarity, np.float32, (len(a),), "similarity"))

    def above(self, threshold: float) -> SimilarityGraph:
        """The pairs at or above a higher threshold, from the stored ones, without a new search."""
        if threshold < self.threshold:
            raise InputError(
                f"threshold {threshold}", f"at least the stored {self.threshold}", "search again for lower"
            )
        keep = self.similarity >= threshold
        return SimilarityGraph(
            self.n,
            self.a[keep],
            self.b[keep],
            self.similarity[keep],
            self.descriptor,
            threshold,
            f"moved by hand from {self.threshold:g} ({self.calibration})",
            self.backend,
            self.truncated,
        )


@dataclass(frozen=True, eq=False)
class Links:
    """Evidence that two samples belong together, one row a link.

    Attributes:
        a, b: int64 (m,), rows of the two samples, a < b.
        source: (m,) str, the evidence source: name, metadata, given, bytes, pixels, similarity, reviewer.
        score: float64 (m,), confidence in [0, 1] (1 = certain).
        rule: (m,) str, the rule in words.
        accepted: bool (m,), False = a candidate that was looked at and turned down.
    """

    a: Ints
    b: Ints
    source: Strings
    score: Floats
    rule: Strings
    accepted: Bools

    def __post_init__(self) -> None:
        a = _array(self.a, np.int64, (None,), "a")
        m = len(a)
        b = _array(self.b, np.int64, (m,), "b")
        if m and (a.min() < 0 or (a >= b).any()):
            raise InputError("a link is out of range or not in order", "0 <= a < b")
        score = _array(self.score, np.float64, (m,), "score")
        if m and not ((score >= 0) & (score <= 1)).all():
            raise InputError("a link's score is outside [0, 1]")
        _set(
            self,
            a=a,
            b=b,
            score=score,
            source=_array(self.source, np.str_, (m,), "source"),
            rule=_array(self.rule, np.str_, (m,), "rule"),
            accepted=_array(self.accepted, np.bool_, (m,), "accepted"),
        )

    def __len__(self) -> int:
        return len(self.a)

    @staticmethod
    def of(a: ArrayLike, b: ArrayLike, source: str, rule: str | ArrayLike = "", score: ArrayLike = 1.0) -> Links:
        """Accepted links of one source; ends may come in any order, single rule and score are spread over all."""
        first, second = np.atleast_1d(np.asarray(a, np.int64)), np.atleast_1d(np.asarray(b, np.int64))
        m = len(first)
        return Links(
            np.minimum(first, second),
            np.maximum(first, second),
            np.full(m, source),
            np.broadcast_to(np.asarray(score, np.float64), (m,)),
            np.broadcast_to(np.asarray(rule, np.str_), (m,)),
            np.ones(m, bool),
        )

    @staticmethod
    def from_codes(codes: ArrayLike, source: str, rule: str = "", score: float = 1.0) -> Links:
        """Links from every member of a group to its first member (a star: m - 1 links for m members); -1 has none."""
        code = np.asarray(codes, np.int64)
        rows = np.flatnonzero(code >= 0)
        order = rows[np.argsort(code[rows], kind="stable")]
        starts = np.r_[True, np.diff(code[order]) != 0] if len(order) else np.zeros(0, bool)
        hub = order[np.flatnonzero(starts)][np.cumsum(starts) - 1] if len(order) else order
        return Links.of(hub[~starts], order[~starts], source, rule, score)

    @staticmethod
    def concat(parts: Iterable[Links]) -> Links:
        """All links of several sources, one list."""
        items = [p for p in parts if len(p)]
        if not items:
            return Links.of([], [], "")
        a, b, source, score, rule, accepted = (
            np.concatenate([getattr(p, c) for p in items]) for c in ("a", "b", "source", "score", "rule", "accepted")
        )
        return Links(a, b, source, score, rule, accepted)

    def take(self, rows: ArrayLike) -> Links:
        """The links at `rows` (indices or a mask over links)."""
        index = _rows(len(self), rows)
        return Links(
            self.a[index], self.b[index], self.source[index], self.score[index], self.rule[index], self.accepted[index]
        )


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which samples are not independent of each other, and why.

    Attributes:
        codes: int64 (n,), one number a group, numbered 0.. in order of first appearance; -1 = unknown (every source
            abstained).
        links: the evidence.
        notes: rules in words, abstentions, conflicts.
    """

    codes: Ints
    links: Links
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        codes = _array(self.codes, np.int64, (None,), "group codes")
        if len(codes) and codes.min() < -1:
            raise InputError("a group code is below -1")
        if len(self.links) and self.links.b.max() >= len(codes):
            raise InputError("a link names a row that does not exist", f"rows 0 to {len(codes) - 1}")
        known = codes >= 0
        _, first, inverse = np.unique(codes[known], return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        renumbered = np.full(len(codes), -1, np.int64)
        renumbered[known] = rank[inverse]
        _set(self, codes=_array(renumbered, np.int64, (len(codes),), "group codes"), notes=tuple(self.notes))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_groups(self) -> int:
        """Number of known groups, singletons included."""
        return int(self.codes.max()) + 1 if len(self.codes) else 0

    @property
    def sizes(self) -> Ints:
        """int64 (n_groups,), samples in each known group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_groups).astype(np.int64)

    def with_unknown_as_singletons(self) -> Grouping:
        """The same grouping with every unknown sample in a group of its own."""
        codes = self.codes.copy()
        unknown = codes < 0
        codes[unknown] = self.n_groups + np.arange(int(unknown.sum()))
        return Grouping(codes, self.links, self.notes)

    def group_ids(self, ids: Sequence[str]) -> list[str]:
        """n group ids for files: `g` + 12 hex of the hash of the smallest member id; "" = unknown."""
        smallest: dict[int, str] = {}
        for code, name in zip(self.codes.tolist(), ids, strict=True):
            if code >= 0 and (code not in smallest or name < smallest[code]):
                smallest[code] = name
        names = {
            c: "g" + hashlib.sha256(s.encode("utf-8", "surrogateescape")).hexdigest()[:12] for c, s in smallest.items()
        }
        return [names.get(c, "") for c in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class SplitPlan:
    """One assignment of samples to partitions.

    Attributes:
        condition: intact, q25, q50, q75, random, existing, matched, repaired, ...
        seed: the seed of the draw.
        partition: (n,) str: train, val, test, any fold name, sentinel, unused.
        digest: SHA-256 of what the plan says, see `digest_of`.
        notes: deviations and what could not be done, by name.
    """

    condition: str
    seed: int
    partition: Strings
    digest: str
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        partition = _array(self.partition, np.str_, (None,), "partition")
        if len(partition) and (partition == "").any():
            raise InputError("a sample has no partition", "any name; 'unused' for none")
        _set(self, partition=partition, notes=tuple(self.notes))

    def __len__(self) -> int:
        return len(self.partition)

    @staticmethod
    def digest_of(condition: str, seed: int, partition: ArrayLike, ids: Sequence[str] | None = None) -> str:
        """Digest of condition, seed and the (id, partition) rows sorted by id; without ids, rows are numbered."""
        names = list(ids) if ids is not None else [f"{i:012d}" for i in range(len(np.asarray(partition)))]
        rows = sorted(zip(names, np.asarray(partition).tolist(), strict=True))
        return sha256_json({"schema": SCHEMA, "condition": condition, "seed": seed, "rows": rows})

    @staticmethod
    def of(
        condition: str, seed: int, partition: ArrayLike, ids: Sequence[str] | None = None, notes: Iterable[Note] = ()
    ) -> SplitPlan:
        """A plan with its digest."""
        names = np.asarray(partition, np.str_)
        return SplitPlan(condition, seed, names, SplitPlan.digest_of(condition, seed, names, ids), tuple(notes))

    def rows(self, partition: str) -> Ints:
        """int64, the rows in one partition."""
        return np.flatnonzero(self.partition == partition)


@dataclass(frozen=True, eq=False)
class Exposure:
    """Which samples outside train have a mate in train, under one plan.

    Attributes:
        condition, seed: the plan's.
        exposed: bool (n,), True = at least one mate in train. Always False for train and unused samples.
        mates_in_train: int64 (n,), number of mates in train (for a train sample: other train mates).
        nearest_train: int64 (n,), row of the most similar train sample, -1 = not searched or none.
        nearest_similarity: float32 (n,), its cosine; nan = not searched.
        evaluated: bool (n,), the samples outside train the statement is about.
    """

    condition: str
    seed: int
    exposed: Bools
    mates_in_train: Ints
    nearest_train: Ints
    nearest_similarity: NDArray[np.float32]
    evaluated: Bools

    def __post_init__(self) -> None:
        n = len(np.asarray(self.exposed))
        _set(
            self,
            exposed=_array(self.exposed, np.bool_, (n,), "exposed"),
            mates_in_train=_array(self.mates_in_train, np.int64, (n,), "mates_in_train"),
            nearest_train=_array(self.nearest_train, np.int64, (n,), "nearest_train"),
            nearest_similarity=_array(self.nearest_similarity, np.float32, (n,), "nearest_similarity"),
            evaluated=_array(self.evaluated, np.bool_, (n,), "evaluated"),
        )
        if (self.exposed & ~self.evaluated).any():
            raise InputError("a sample that is not evaluated is called exposed")


@dataclass(frozen=True)
class TrainConfig:
    """What determines a run, besides the data and the plan.

    Attributes:
        model: trainer name as the user typed it (linear_probe, nearest_neighbour, timm:NAME, ...).
        seed: seed of everything random in the training.
        options: the trainer's own options, sorted (name, value) pairs; values are JSON scalars.
    """

    model: str
    seed: int = 0
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        _set(self, options=tuple(sorted((str(k), v) for k, v in self.options)))

    def option(self, name: str, default: Any) -> Any:
        """The value of an option, or `default`."""
        return dict(self.options).get(name, default)


@dataclass(frozen=True, eq=False)
class Run:
    """Predictions of one model trained under one plan.

    Attributes:
        config: the recipe.
        condition, seed: the plan's.
        rows: int64 (t,), every labelled sample outside train and unused.
        probabilities: float32 (t, C), on the one fixed class list.
        versions: package -> version.
        seconds: wall time.
        notes: what happened (a class absent from train, ...).
    """

    config: TrainConfig
    condition: str
    seed: int
    rows: Ints
    probabilities: NDArray[np.float32]
    versions: Mapping[str, str]
    seconds: float
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        rows = _array(self.rows, np.int64, (None,), "rows")
        probabilities = _array(self.probabilities, np.float32, (len(rows), None), "probabilities")
        if not np.isfinite(probabilities).all():
            raise InputError("a probability is not finite")
        _set(self, rows=rows, probabilities=probabilities, versions=dict(self.versions), notes=tuple(self.notes))

    @property
    def predicted(self) -> NDArray[np.int32]:
        """int32 (t,), the class with the highest probability."""
        return np.asarray(self.probabilities.argmax(1), np.int32)


@dataclass(frozen=True)
class Effect:
    """One number with its interval; the columns of effects.csv.

    Attributes:
        what: score, inflation, slope, exposure_rate, relative_error_removed, design_effect, ...
        model, condition, partition, class_name, metric: "" where it does not apply.
        seed: None = pooled over seeds.
        estimate, low, high: nan = not estimable.
        p: nan = not tested.
        n: number of samples (or groups; `method` says which).
        method: how the estimate and the interval came about.
    """

    what: str
    model: str
    condition: str
    seed: int | None
    partition: str
    class_name: str
    metric: str
    estimate: float
    low: float
    high: float
    p: float
    n: int
    method: str


@dataclass(frozen=True)
class ControlResult:
    """An effect of a control experiment; the columns of controls.csv."""

    control: str
    variant: str
    chance: float
    effect: Effect


@dataclass(frozen=True, eq=False)
class ControlSheet:
    """What a model of a control experiment was shown, for a few images.

    Attributes:
        control, variant: of the experiment.
        rows: int64 (k,), rows of the samples.
        pictures: uint8 (k, h, w, 3).
        lines: one remark a picture ("" = none), such as that it is not blank.
        caption: what is seen.
    """

    control: str
    variant: str
    rows: Ints
    pictures: NDArray[np.uint8]
    lines: tuple[str, ...]
    caption: str

    def __post_init__(self) -> None:
        k = len(self.lines)
        _set(
            self,
            rows=_array(self.rows, np.int64, (k,), "rows"),
            pictures=_array(self.pictures, np.uint8, (k, None, None, 3), "pictures"),
            lines=tuple(str(line) for line in self.lines),
        )


@dataclass(frozen=True, eq=False)
class AuditReport:
    """The result of an audit.

    Attributes:
        samples: the usable samples; all arrays below follow their rows.
        failures: (id, path, reason) of every image that could not be used.
        scan: hashes and sizes of the usable samples.
        grouping: the groups, unknown samples already singletons.
        plans: the existing split (if any) first, then conditions x seeds.
        exposures: one a plan, in the same order.
        runs: trained models.
        effects: every number.
        settings: what was asked for (JSON scalars and lists).
        versions: package -> version.
        verdict: the answer in one sentence, with its uncertainty.
        notes: what a reader must know; level "not evaluated" names what is missing and why.
        control_results: the numbers of control experiments.
        control_runs: their models, on splits of their own; options `control` and `variant` of the recipe say which.
        control_sheets: what these models saw.
        run_records: how the runs of a training grid went, failed ones included.
    """

    samples: Samples
    failures: tuple[tuple[str, str, str], ...]
    scan: Scan
    grouping: Grouping
    plans: tuple[SplitPlan, ...]
    exposures: tuple[Exposure, ...]
    runs: tuple[Run, ...]
    effects: tuple[Effect, ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    verdict: str
    notes: tuple[Note, ...] = ()
    control_results: tuple[ControlResult, ...] = field(default=())
    control_runs: tuple[Run, ...] = field(default=())
    control_sheets: tuple[ControlSheet, ...] = field(default=())
    label_results: tuple[LabelIssues, ...] = field(default=())
    run_records: tuple[RunRecord, ...] = field(default=())

    def __post_init__(self) -> None:
        n = len(self.samples)
        if len(self.grouping) != n or any(len(p) != n for p in self.plans) or len(self.scan.content) != n:
            raise InputError("the parts of a report speak of different numbers of samples")
        if len(self.plans) != len(self.exposures):
            raise InputError("there is not one exposure a plan")
        if any(len(issues.mechanism) != n for issues in self.label_results):
            raise InputError("label issues speak of another number of samples than the report")

    def plan(self, condition: str, seed: int = 0) -> SplitPlan:
        """The plan of one condition and seed."""
        for p in self.plans:
            if p.condition == condition and p.seed == seed:
                return p
        raise FieldError(
            f"no plan {condition!r} with seed {seed}", ", ".join(sorted({p.condition for p in self.plans}))
        )


@dataclass(frozen=True)
class Verdict:
    """What a reviewer said about two samples.

    Attributes:
        path_a, path_b: ids of the two samples, in order of text.
        verdict: "same" = they belong together, "different" = they do not, "skipped" = looked at, undecided.
        author: who said so.
        time: when, ISO 8601 in UTC.
    """

    path_a: str
    path_b: str
    verdict: str
    author: str
    time: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(f"verdict {self.verdict!r}", ", ".join(VERDICTS))
        if self.path_a == self.path_b:
            raise InputError(f"a verdict about one sample, {self.path_a}", "two different samples")
        _set(self, path_a=min(self.path_a, self.path_b), path_b=max(self.path_a, self.path_b))


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Probabilities of every labelled sample from models that did not see it.

    Attributes:
        kind: "group" = no fold tears a group apart; "random" = files dealt one by one, class by class.
        model: the trainer.
        probabilities: float32 (n, C), mean over the plans; a row of nan = not evaluated.
        plans: one a seed, partitions fold0, fold1, ...; `unused` = without a label.
        notes: what could not be done, by name.
    """

    kind: str
    model: str
    probabilities: NDArray[np.float32]
    plans: tuple[SplitPlan, ...]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        probabilities = _array(self.probabilities, np.float32, (None, None), "probabilities")
        if any(len(p) != len(probabilities) for p in self.plans):
            raise InputError("probabilities and fold plans speak of different numbers of samples")
        _set(self, probabilities=probabilities, plans=tuple(self.plans), notes=tuple(self.notes))

    @property
    def evaluated(self) -> Bools:
        """bool (n,), the samples with probabilities."""
        return np.asarray(~np.isnan(self.probabilities).any(axis=1), bool)


@dataclass(frozen=True, eq=False)
class LabCheck:
    """One check of cleanlab's Datalab.

    Attributes:
        name: as Datalab calls it.
        flagged: bool (n,).
        score: float64 (n,), Datalab's own: near 0 = severe; nan = none.
        reason: why it was not evaluated, "" = it was.
    """

    name: str
    flagged: Bools
    score: Floats
    reason: str = ""

    def __post_init__(self) -> None:
        flagged = _array(self.flagged, np.bool_, (None,), "flagged")
        _set(self, flagged=flagged, score=_array(self.score, np.float64, (len(flagged),), "score"))


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """Labels that are probably wrong, by one model.

    Attributes:
        model: the trainer behind the out-of-fold probabilities.
        mechanism: (n,) str: isolated, group-wide, cross-class duplicate, mixed group; "" = no issue.
        suggested: int32 (n,), the class to look at instead; -1 = none.
        score: float64 (n,), belief in the given label, small = probably wrong; nan = not evaluated.
        by_group, by_random: bool (n,), what confident learning calls an error under group-disjoint and random folds.
        score_group, score_random: float64 (n,), probability of the given label under each; nan = not evaluated.
        effects: how well the model does under both kinds of folds, against the given labels.
        checks: further checks of Datalab that were asked for.
        notes: what could not be evaluated, by name.
        options: what determined the result: folds, seeds, descriptor.
        likely: bool (n,), the issues that are likely to be right; the others may be the model's own errors.
    """

    model: str
    mechanism: Strings
    suggested: NDArray[np.int32]
    score: Floats
    by_group: Bools
    by_random: Bools
    score_group: Floats
    score_random: Floats
    effects: tuple[Effect, ...] = ()
    checks: tuple[LabCheck, ...] = ()
    notes: tuple[Note, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    likely: Bools = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        mechanism = _array(self.mechanism, np.str_, (None,), "mechanism")
        n = len(mechanism)
        _set(self, mechanism=mechanism, suggested=_array(self.suggested, np.int32, (n,), "suggested"))
        for name in ("by_group", "by_random"):
            _set(self, **{name: _array(getattr(self, name), np.bool_, (n,), name)})
        for name in ("score", "score_group", "score_random"):
            _set(self, **{name: _array(getattr(self, name), np.float64, (n,), name)})
        _set(self, effects=tuple(self.effects), checks=tuple(self.checks), notes=tuple(self.notes))
        likely = np.zeros(n, bool) if not len(np.asarray(self.likely)) else self.likely
        _set(self, options=dict(self.options), likely=_array(likely, np.bool_, (n,), "likely"))
        if (self.likely & ~self.flagged).any():
            raise InputError("a label without an issue is called likely wrong")

    @property
    def flagged(self) -> Bools:
        """bool (n,), the samples with an issue."""
        return np.asarray(self.mechanism != "", bool)


@dataclass(frozen=True)
class RunRecord:
    """How one run of a training grid went; the first columns of runs.csv.

    Attributes:
        model, condition, seed: the run's.
        status: "done", "failed", or "not run".
        seconds: wall time of all attempts; 0 for the second readout of one training.
        peak_memory: bytes, of the GPU where one was used, else of the process; nan = not measured.
        digest: SHA-256 (hex) of what determines the training; its folder is named after it.
        reason: why it failed, or what had to be changed for it to end well; "" = nothing to say.
    """

    model: str
    condition: str
    seed: int
    status: str
    seconds: float
    peak_memory: float
    digest: str
    reason: str = ""

    def __post_init__(self) -> None:
        if self.status not in RUN_STATES:
            raise InputError(f"status {self.status!r}", ", ".join(RUN_STATES))
