"""Leaks between splits: every pair, in every direction.

A drop-in for people who call `fiftyone.brain.compute_leaky_splits`: the same inputs, the same methods on the result.
The incumbent links each near-duplicate to one kept representative, so what it reports changes with the order of the
samples; here every pair across two splits is compared, and samples of no split neither hide nor cause anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import FieldError, InputError
from .leaks_inputs import Given
from .model import Descriptors, Ints, Note, Samples, Strings
from .progress import Progress, guarded
from .similarity import MAX_PAIRS, Pairs, find, neighbours

Vectors = NDArray[np.float32]

SELECTABLE = 10_000
"""Sample ids that one FiftyOne view stage carries safely; MongoDB refuses pipelines of more than 16 MB."""


@dataclass(frozen=True)
class LeakRate:
    """How many samples of one split look like at least one sample of another.

    Attributes:
        partition: the split the statement is about, for instance test.
        against: the split that was searched, for instance train.
        label: the class, "" = all samples of `partition`.
        leaking, n: samples with a match, and all samples.
    """

    partition: str
    against: str
    label: str
    leaking: int
    n: int

    @property
    def rate(self) -> float:
        """leaking / n; nan if there are none."""
        return self.leaking / self.n if self.n else float("nan")


@dataclass(frozen=True, eq=False)
class Leaks:
    """All pairs of look-alikes across splits.

    Attributes:
        samples: what was searched; rows below are its rows.
        partition: (n,) str, the split of each sample, "" = none.
        a, b: int64 (m,), rows of each pair, a < b, in different splits.
        similarity: float32 (m,), raw cosine.
        torn: int64, rows that were given in more than one split; they leak by definition.
        thresh: largest cosine distance that counts, 1 - cosine, as in the incumbent but without centring.
        rates: one a direction, for all samples and for each class.
        descriptor, backend: what was compared, and by what.
        truncated: True if the list of pairs was cut; the rates are complete all the same.
        collection: the FiftyOne collection the samples came from, None for plain Samples.
    """

    samples: Samples
    partition: Strings
    a: Ints
    b: Ints
    similarity: Vectors
    torn: Ints
    thresh: float
    rates: tuple[LeakRate, ...]
    descriptor: str
    backend: str
    truncated: bool
    notes: tuple[Note, ...]
    collection: Any

    @property
    def rows(self) -> Ints:
        """int64, every row that leaks, each once, in the order of the samples."""
        return np.unique(np.concatenate([self.a, self.b, self.torn]))

    @property
    def leak_ids(self) -> list[str]:
        """Ids of every sample that leaks, each once, in the order of the samples."""
        return [self.samples.ids[i] for i in self.rows]

    def rate(self, partition: str, against: str, label: str = "") -> LeakRate:
        """One direction, for instance `rate("test", "train")`, of all samples or of one class."""
        for r in self.rates:
            if (r.partition, r.against, r.label) == (partition, against, label):
                return r
        there = ", ".join(f"{r.partition} against {r.against}" for r in self.rates if not r.label) or "no direction"
        raise FieldError(f"no rate of {partition!r} against {against!r} for the class {label!r}", there)

    def pairs(self, partition: str, against: str) -> Iterator[tuple[str, str, float]]:
        """(id in `partition`, id in `against`, cosine) of every pair in that direction."""
        for x, y in ((self.a, self.b), (self.b, self.a)):
            here = (self.partition[x] == partition) & (self.partition[y] == against)
            for i, j, s in zip(x[here].tolist(), y[here].tolist(), self.similarity[here].tolist(), strict=True):
                yield self.samples.ids[i], self.samples.ids[j], s

    def leaks_view(self) -> Any:
        """The samples that leak: a FiftyOne view, or Samples."""
        return self._select(self.rows)

    def no_leaks_view(self, view: Any = None) -> Any:
        """What is left without the samples that leak.

        Args:
            view: a FiftyOne view to take them out of; None = everything that was searched.
        """
        if self.collection is None:
            return self.samples.take(np.setdiff1d(np.arange(len(self.samples)), self.rows))
        self._selectable(len(self.rows))
        return (self.collection if view is None else view).exclude(self.leak_ids)

    def leaks_for_sample(self, sample_or_id: Any) -> Any:
        """The sample, then everything in other splits that looks like it, the most similar first."""
        name = sample_or_id if isinstance(sample_or_id, str) else sample_or_id.id
        if name not in self.samples.ids:
            raise FieldError(f"there is no sample {name!r} among those searched")
        row = self.samples.ids.index(name)
        here = (self.a == row) | (self.b == row)
        others = np.where(self.a[here] == row, self.b[here], self.a[here])
        return self._select(np.r_[row, others[np.argsort(-self.similarity[here], kind="stable")]])

    def tag_leaks(self, tag: str = "leak") -> Any:
        """Tag the samples that leak in FiftyOne, any number of them; the view of the samples with the tag."""
        if self.collection is None:
            raise InputError("plain samples carry no tags", "a FiftyOne dataset or view")
        for start in range(0, len(self.rows), SELECTABLE):
            self.collection.select(self.leak_ids[start : start + SELECTABLE]).tag_samples(tag)
        return self.collection.match_tags(tag)

    def _select(self, rows: Ints) -> Any:
        if self.collection is None:
            return self.samples.take(rows)
        self._selectable(len(rows))
        return self.collection.select([self.samples.ids[i] for i in rows], ordered=True)

    def _selectable(self, count: int) -> None:
        if count > SELECTABLE:
            raise InputError(
                f"a view of {count:,} sample ids", f"at most {SELECTABLE:,}", "call tag_leaks(), which returns a view"
            )


def leaks(
    samples: Any,
    splits: Any = None,
    threshold: float = 0.2,
    *,
    split: Any = None,
    embeddings: Any = None,
    similarity_index: Any = None,
    model: Any = None,
    descriptor: str = "timm_model",
    label_field: str | None = None,
    max_pairs: int = MAX_PAIRS,
    memory: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    **brain: Any,
) -> Leaks:
    """Every pair of samples in different splits whose cosine distance is at most `threshold`.

    Args:
        samples: a FiftyOne dataset or view of images, or Samples.
        splits: as in compute_leaky_splits: a list of tags, the name of a text or list field, or a dict of views. For
            Samples: partitions to compare, a metadata column, or None for the split they carry. `split` is the same.
        threshold: cosine distance, 1 - cosine, of the vectors as they are (the incumbent subtracts the mean first). A
            threshold belongs to one descriptor and does not carry over to another.
        embeddings: (n, d) array in the order of the samples, Descriptors, or a field that holds vectors; zero or absent
            vectors match nothing.
        similarity_index: a FiftyOne similarity index or its brain key, for its embeddings.
        model: a FiftyOne model with embeddings.
        descriptor: what computes the vectors if none are given, see `hsd doctor`.
        label_field: the classes for the rates per class.
        max_pairs, memory, device, progress: as in `similarity.similar_pairs`.
        brain: further options of compute_leaky_splits; batch_size, num_workers and skip_failures go to the
            model, the others are refused.

    Returns:
        Leaks: pairs, directions, rates, views.

    Raises:
        InputError, FieldError: what was given cannot be used.
    """
    if not 0 <= threshold <= 2:
        raise InputError(f"threshold {threshold}", "a cosine distance, 0 to 2")
    if splits is not None and split is not None:
        raise InputError("both `splits` and `split`", "one of them")
    given = Given(samples, split if splits is None else splits, label_field)
    x = given.vectors(embeddings, similarity_index, model, descriptor, brain, guarded(progress))
    return _search(given, x, float(threshold), Search(max_pairs, memory, device))


@dataclass(frozen=True)
class Search:
    """How to search: see `similarity.find`."""

    max_pairs: int
    memory: int | None
    device: str

    def across(self, x: Vectors, y: Vectors, threshold: float) -> tuple[Pairs, Ints, Ints]:
        """Pairs of a row of x with a row of y, and the rows of x and of y that have a match, all of them."""
        found = find(x, threshold, y, max_pairs=self.max_pairs, memory=self.memory, device=self.device)
        if not found.truncated:
            return found, np.unique(found.i), np.unique(found.j)
        # The list of pairs was cut, but who has a match must be complete.
        ends = [neighbours(u, 1, v, memory=self.memory, device=self.device)[0][:, 0] for u, v in ((x, y), (y, x))]
        left, right = (np.flatnonzero(nearest >= np.float32(threshold)) for nearest in ends)
        return found, left, right


def _search(given: Given, x: Descriptors, threshold: float, how: Search) -> Leaks:
    """Every two splits against each other; samples of no split take no part."""
    rows = {name: np.flatnonzero(given.partition == name) for name in given.names}
    hits: dict[tuple[str, str], Ints] = {}
    a, b = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    similarity, truncated, backend = [np.zeros(0, np.float32)], False, ""
    for first, second in itertools.combinations(given.names, 2):
        left, right = rows[first], rows[second]
        found, i, j = how.across(x.values[left], x.values[right], 1 - threshold)
        hits[first, second], hits[second, first] = left[i], right[j]
        a.append(np.minimum(left[found.i], right[found.j]))
        b.append(np.maximum(left[found.i], right[found.j]))
        similarity.append(found.similarity)
        truncated, backend = truncated or found.truncated, found.backend
    low, high, cosine = np.concatenate(a), np.concatenate(b), np.concatenate(similarity)
    order = np.lexsort((high, low))
    return Leaks(
        samples=given.samples,
        partition=given.partition,
        a=low[order],
        b=high[order],
        similarity=cosine[order],
        torn=given.torn,
        thresh=threshold,
        rates=tuple(r for key, hit in hits.items() for r in _rates(given.samples, key, rows[key[0]], hit)),
        descriptor=x.name,
        backend=backend,
        truncated=truncated,
        notes=tuple(given.notes),
        collection=given.collection,
    )


def _rates(samples: Samples, key: tuple[str, str], rows: Ints, hit: Ints) -> Iterator[LeakRate]:
    """One direction for all samples, then for each class that occurs in the split."""
    yield LeakRate(*key, "", len(hit), len(rows))
    labels, matched = samples.labels[rows], samples.labels[hit]
    for code in np.unique(labels[labels >= 0]).tolist():
        yield LeakRate(*key, samples.classes[code], int((matched == code).sum()), int((labels == code).sum()))
