"""Groups from file names that nobody described.

Names are cut into fields; names with the same separators form a family; in every family the fields are tried from left
to right (names are written from the coarse to the fine) and the first one that names things which several files show
is the key. What counts for and against a field is in `_keys`, the tests behind it in `_counters`. Our own method; the
traps it must not fall into (augmentation counters, hashes, UIDs, counts that start again with a word, names that only
repeat the class) are those of real corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import Ints, Links
from ..progress import Progress, guarded
from ._corpus import Corpus, read
from ._families import Family, families
from ._fields import Column
from ._join import REACH, Form, Part, abstention, compiled_form, joined, numbered
from ._keys import Finding, find
from ._pattern import pattern_of
from ._rule import NameLevel, NameRule, RunnerUp
from ._witness import LEAST_PAIRS, Witness, mates, witness
from ._words import ENTITY

__all__ = ["NameLevel", "NameRule", "RunnerUp", "Witness", "infer", "name_links", "witness"]

NO_MORE_ALIKE = 1.05
"""Mates surely below this ratio contradict a key (our choice), unless a word of the names says what its number names:
a descriptor may be blind for what a patient's pictures share."""
CLEARLY_ALIKE = 1.5
"""Mates surely above this ratio carry a key that the names alone leave open (our choice)."""
LEAST_CARRIED = 20
"""Fewer groups are not carried by the images: files of one source look alike as well."""


def infer(
    names: Sequence[str],
    labels: ArrayLike | None = None,
    classes: Sequence[str] = (),
    *,
    images: Witness | None = None,
    progress: Progress | None = None,
) -> NameRule:
    """The rule by which names name groups, or an abstention.

    The group is the coarsest level of the names that is neither the class nor where files come from (site, split).

    Args:
        names: n POSIX paths relative to the root.
        labels: int (n,), -1 = unlabelled; None = no labels.
        classes: names of the classes, for the words of the result.
        images: the n images as a witness, see `witness`: they can overrule a key, decide whether a count starts again
            with a word, and carry a key that the names leave open.

    Raises:
        InputError: labels and names differ in length.
    """
    say = guarded(progress)
    say(0, 4, "read names")
    label = None if labels is None else np.asarray(labels, np.int64)
    if label is not None and label.shape != (len(names),):
        raise InputError(f"{label.size} labels for {len(names)} names", "one label a name")
    if label is not None and len(np.unique(label[label >= 0])) < 2:
        label = None
    corpus = read(names, label)
    say(1, 4, "cut names into fields")
    cut = [replace(f, rows=corpus.kept[f.rows]) for f in families([corpus.cores[i] for i in corpus.kept])]
    say(2, 4, "try keys")
    parts = _keys(cut, corpus, classes, images)
    say(3, 4, "join families")
    rule = joined(parts, corpus)
    say(4, 4, "names")
    return rule if images is None else _looked_at(rule, parts, corpus, images)


def name_links(rule: NameRule) -> Links:
    """Links of source `name` from every name of a group to its first one; none on abstention."""
    return Links.from_codes(rule.codes, "name", rule.rule, rule.confidence)


def _label_column(label: Ints | None, classes: Sequence[str]) -> Column | None:
    if label is None:
        return None
    values, codes = np.unique(label, return_inverse=True)
    texts = tuple(str(classes[v]) if 0 <= v < len(classes) else str(v) for v in values.tolist())
    return Column(-1, -1, codes.astype(np.int64), texts, "word", None, "", False, -1)


def _keys(cut: Sequence[Family], corpus: Corpus, classes: Sequence[str], images: Witness | None) -> list[Part]:
    """The key of every family, the largest first; a family that a larger one's pattern matches gets none of its own."""
    parts: list[Part] = []
    forms: list[Form] = []
    first = np.unique(corpus.which, return_index=True)[1]
    for family in cut:
        of_core = None if corpus.labels is None else corpus.labels[family.rows]
        label = _label_column(of_core, classes) if corpus.doubled else None
        sample = [corpus.cores[i] for i in family.rows[:: max(1, len(family.rows) // 200)].tolist()]
        if any(sum(f.match(s) is not None for s in sample) >= 0.9 * len(sample) for f in forms):
            parts.append((family, Finding(reason="it follows another form")))
            continue
        finding = find(family, of_core, label, None if images is None else images.take(first[family.rows]))
        parts.append((family, finding))
        if finding.key and label is None:
            forms.append(compiled_form(pattern_of(family, finding.key, corpus.wrapped > 0, False)))
    return parts


def _looked_at(rule: NameRule, parts: Sequence[Part], corpus: Corpus, images: Witness) -> NameRule:
    """The images' word: against a key whose mates look like strangers, for one that the names leave open."""
    if not rule.abstained:
        alike = mates(images, rule.codes)
        if alike.pairs < LEAST_PAIRS or alike.high >= NO_MORE_ALIKE:
            said = (f"mates are {alike} times as near as strangers of the class",) if alike.pairs >= LEAST_PAIRS else ()
            return replace(rule, evidence=(*rule.evidence, *said))
        if any(c.hint in ENTITY for _, finding in parts for c in finding.key):
            said = (f"the images do not confirm it: mates are {alike} times as near as strangers of the class",)
            return replace(rule, confidence=rule.confidence / 2, evidence=(*rule.evidence, *said))
        why = f"mates look no more alike than random pairs of the same class: {alike} times as near"
        lost = RunnerUp(rule.rule, rule.groups, why)
        return abstention(len(rule.codes), f"{rule.rule}: {why}", (lost, *rule.runners_up))
    for family, finding in parts:
        for t in finding.turned:
            if t.codes is None or len(family.rows) < REACH * len(corpus.cores) or t.groups < LEAST_CARRIED:
                continue
            codes = np.full(len(corpus.cores), -1, np.int64)
            codes[family.rows] = t.codes
            every = numbered(codes[corpus.which])
            alike = mates(images, every)
            if alike.low >= CLEARLY_ALIKE:
                text = f"mates are {alike} times as near as random pairs of the same class"
                groups = int(every.max()) + 1
                matched = float((every >= 0).mean())
                return NameRule(every, t.rule, "", 0.6, matched, groups, (), rule.runners_up, (text, t.why), False, "")
    return rule
