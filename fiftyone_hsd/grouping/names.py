"""Groups from file names that nobody described.

Names are cut into fields; names with the same separators form a family; in every family the fields are tried from left
to right (names are written from the coarse to the fine) and the first one that names things which several files show
is the key. What counts for and against a field is in `_keys`, the tests behind it in `_counters`. Our own method; the
traps it must not fall into (augmentation counters, hashes, UIDs, counts that start again with a word, names that only
repeat the class) are those of real corpora.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import Ints, Links
from ..progress import Progress, guarded
from ._families import Family, families
from ._fields import Column, factorise
from ._keys import Finding, find
from ._pattern import group_texts, pattern_of, spans
from ._roles import called, rule_of
from ._words import SPLIT
from ._wrappers import augmenter_counts, cores

MatesAlike = Callable[[Ints], float]
"""`mates_alike(codes)`: how much more alike mates are than random pairs of the same class (1 = no more)."""
NO_MORE_ALIKE = 1.1
"""Mates below this ratio contradict a key (our choice)."""
CLEARLY_ALIKE = 1.5
"""Mates above this ratio carry a key that the names alone leave open (our choice)."""
DOUBLED = 0.05
"""Share of names that occur twice above which only the label can tell files apart; fewer are mistakes of a list."""
REACH = 0.05
"""Smallest share of the names that a rule must match to be more than an accident of a few names."""


@dataclass(frozen=True, eq=False)
class NameLevel:
    """A finer level of the names below the group.

    Attributes:
        rule: the level in words.
        codes: int64 (n,), -1 = unmatched.
        groups: number of groups.
    """

    rule: str
    codes: Ints
    groups: int


@dataclass(frozen=True)
class RunnerUp:
    """A rule that lost: in words, its number of groups, and why."""

    rule: str
    groups: int
    why: str


@dataclass(frozen=True, eq=False)
class NameRule:
    """What the names say about groups.

    Attributes:
        codes: int64 (n,), group of each name; -1 = the rule does not match it (all -1 on abstention).
        rule: the rule in words, "" on abstention.
        pattern: regular expression (`regex` module) over the relative path whose group `group`, or whose groups
            `group_1`, `group_2` together, are the group; "" on abstention and where the label is part of the key.
        confidence: [0, 1], 0 on abstention; an order of how much speaks for the rule, not a probability.
        matched: share of the names that the rule matches.
        groups: number of groups.
        levels: finer levels, coarse to fine.
        runners_up: rules that lost and why.
        evidence: what speaks for the rule, in words with numbers.
        abstained: no groups can be read from the names.
        reason: why not, "" unless abstained.
    """

    codes: Ints
    rule: str
    pattern: str
    confidence: float
    matched: float
    groups: int
    levels: tuple[NameLevel, ...]
    runners_up: tuple[RunnerUp, ...]
    evidence: tuple[str, ...]
    abstained: bool
    reason: str

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes, np.int64).view()
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)


def infer(
    names: Sequence[str],
    labels: ArrayLike | None = None,
    classes: Sequence[str] = (),
    *,
    mates_alike: MatesAlike | None = None,
    progress: Progress | None = None,
) -> NameRule:
    """The rule by which names name groups, or an abstention.

    The group is the coarsest level of the names that is neither the class nor where files come from (site, split).

    Args:
        names: n POSIX paths relative to the root.
        labels: int (n,), -1 = unlabelled; None = no labels.
        classes: names of the classes, for the words of the result.
        mates_alike: given images, see `MatesAlike`; it can overrule a key and decide one that names leave open.

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
    corpus = _read(names, label)
    say(1, 4, "cut names into fields")
    cut = [replace(f, rows=corpus.kept[f.rows]) for f in families([corpus.cores[i] for i in corpus.kept])]
    say(2, 4, "try keys")
    parts = _keys(cut, corpus, classes)
    say(3, 4, "join families")
    rule = _joined(parts, corpus)
    say(4, 4, "names")
    return rule if mates_alike is None else _looked_at(rule, parts, corpus, mates_alike)


def name_links(rule: NameRule) -> Links:
    """Links of source `name` from every name of a group to its first one; none on abstention."""
    return Links.from_codes(rule.codes, "name", rule.rule, rule.confidence)


@dataclass(frozen=True, eq=False)
class _Corpus:
    """Distinct cores, of which core each name is, and which cores take part."""

    names: Sequence[str]
    which: Ints
    cores: tuple[str, ...]
    kept: Ints
    labels: Ints | None
    wrapped: int
    generated: int
    doubled: bool


def _read(names: Sequence[str], label: Ints | None) -> _Corpus:
    bare, every, wrapped = cores(names)
    before = augmenter_counts(bare)
    generated = sum(b is not None for b in before)
    kinds = {b.rpartition("/")[2] for b in before if b is not None}
    if generated and len(kinds) >= 0.02 * generated and len(kinds) > 4:
        every = [e if b is None else b for e, b in zip(every, before, strict=True)]
        wrapped, generated, before = wrapped + generated, 0, [None] * len(every)
    if generated:
        every = [b if g is not None else e for b, e, g in zip(bare, every, before, strict=True)]
    doubled = label is not None and len(set(names)) < (1 - DOUBLED) * len(names)
    texts = every
    if doubled and label is not None:
        texts = [f"{e}\0{v}" for e, v in zip(every, label.tolist(), strict=True)]
    which, _ = factorise(texts)
    first = np.unique(which, return_index=True)[1]
    kept = np.array([i for i, row in enumerate(first) if before[row] is None], np.int64)
    of_core = None if label is None else label[first]
    return _Corpus(names, which, tuple(every[i] for i in first), kept, of_core, wrapped, generated, doubled)


def _label_column(label: Ints | None, classes: Sequence[str]) -> Column | None:
    if label is None:
        return None
    values, codes = np.unique(label, return_inverse=True)
    texts = tuple(str(classes[v]) if 0 <= v < len(classes) else str(v) for v in values.tolist())
    return Column(-1, -1, codes.astype(np.int64), texts, "word", None, "", False, -1)


Part = tuple[Family, Finding]


def _keys(cut: Sequence[Family], corpus: _Corpus, classes: Sequence[str]) -> list[Part]:
    """The key of every family, the largest first; a family that a larger one's pattern matches gets none of its own."""
    parts: list[Part] = []
    forms: list[Form] = []
    for family in cut:
        of_core = None if corpus.labels is None else corpus.labels[family.rows]
        label = _label_column(of_core, classes) if corpus.doubled else None
        sample = [corpus.cores[i] for i in family.rows[:: max(1, len(family.rows) // 200)].tolist()]
        if any(sum(f.match(s) is not None for s in sample) >= 0.9 * len(sample) for f in forms):
            parts.append((family, Finding(reason="it follows another form")))
            continue
        finding = find(family, of_core, label)
        parts.append((family, finding))
        if finding.key and label is None:
            forms.append(_form(pattern_of(family, finding.key, corpus.wrapped > 0, False)))
    return parts


Form = Any
"""A compiled pattern of the `regex` module, which has no types."""


def _form(expression: str) -> Form:
    import regex

    return regex.compile(f"(?i){expression}")


def _joined(parts: Sequence[Part], corpus: _Corpus) -> NameRule:
    """One rule of all families: those without a key of their own follow the pattern of another."""
    n = len(corpus.cores)
    texts = [""] * n
    rules = [(f, k) for f, k in parts if k.found]
    alternatives: dict[str, int] = {}
    single = all(len(spans(f, k.key)) == 1 for f, k in rules if k.key)
    for family, finding in rules:
        if finding.runs is not None:
            for row, text in zip(family.rows.tolist(), finding.runs.texts, strict=True):
                texts[row] = f"run/{family.rows[0]}/{text}"
            continue
        for row, text in zip(family.rows.tolist(), group_texts(family, finding.key), strict=True):
            texts[row] = text
        form = pattern_of(family, finding.key, corpus.wrapped > 0, single)
        alternatives.setdefault(form, len(alternatives))
    followed = _follow(parts, list(alternatives), corpus, texts)
    matched = np.array([t != "" for t in texts])[corpus.which].mean() if n else 0.0
    if not rules or matched < REACH:
        return _copies(parts, corpus)
    codes = factorise(texts)[0]
    codes[[i for i, t in enumerate(texts) if t == ""]] = -1
    weights = np.array([len(f.rows) for f, _ in rules], float)
    strength = float((weights * [k.strength for _, k in rules]).sum() / weights.sum())
    main, first = max(rules, key=lambda r: len(r[0].rows))
    words = " / ".join(dict.fromkeys(_words(k) for _, k in rules[:5]))
    example = corpus.cores[int(main.rows[0])].rpartition("/")[2]
    evidence = [*first.evidence, *followed, f"for example `{texts[int(main.rows[0])]}` in `{example}`"]
    if corpus.wrapped:
        evidence.append(f"{corpus.wrapped} names are wrapped names of others (copies, exports, augmentations)")
    every = codes[corpus.which]
    return NameRule(
        codes=_numbered(every),
        rule=words,
        pattern="" if corpus.doubled or not alternatives else "(?i)" + "|".join(alternatives),
        confidence=strength,
        matched=float(matched),
        groups=len(np.unique(every[every >= 0])),
        levels=_levels(rules, corpus, every),
        runners_up=_runners_up(parts),
        evidence=tuple(evidence),
        abstained=False,
        reason="",
    )


def _words(finding: Finding) -> str:
    if finding.runs is None:
        return rule_of(finding.key)
    return f"runs of consecutive numbers in {called(finding.runs.column)}"


def _follow(parts: Sequence[Part], alternatives: Sequence[str], corpus: _Corpus, texts: list[str]) -> list[str]:
    compiled = [_form(a) for a in alternatives]
    followed = 0
    for family, finding in parts:
        if finding.found:
            continue
        for form in compiled:
            hits = [(row, m) for row in family.rows.tolist() if (m := form.match(corpus.cores[row]))]
            if len(hits) >= 0.9 * len(family.rows):
                for row, m in hits:
                    texts[row] = "/".join(g for g in m.groups() if g is not None).lower()
                followed += len(hits)
                break
    return [f"{followed} names of other forms follow the same pattern"] if followed else []


def _numbered(codes: Ints) -> Ints:
    """Codes 0.. in order of first appearance, -1 kept."""
    known = np.flatnonzero(codes >= 0)
    out = np.full(len(codes), -1, np.int64)
    out[known] = factorise(codes[known].tolist())[0]
    return out


def _levels(rules: Sequence[Part], corpus: _Corpus, codes: Ints) -> tuple[NameLevel, ...]:
    """Finer levels; families with fewer levels keep their finest, so that levels stay nested."""
    depth = max((len(k.finer) for _, k in rules), default=0)
    levels = []
    for d in range(depth):
        fine = np.zeros(len(corpus.cores), np.int64)
        words = ""
        for number, (family, finding) in enumerate(rules):
            if finding.finer:
                words = words or finding.finer[min(d, len(finding.finer) - 1)][0]
                fine[family.rows] = 1 + finding.finer[min(d, len(finding.finer) - 1)][1] * len(rules) + number
        every = np.unique(np.stack([codes, fine[corpus.which]]), axis=1, return_inverse=True)[1].reshape(-1)
        level = _numbered(np.where(codes >= 0, every, -1))
        levels.append(NameLevel(words, level, int(level.max()) + 1))
    return tuple(levels)


def _runners_up(parts: Sequence[Part]) -> tuple[RunnerUp, ...]:
    seen: dict[str, RunnerUp] = {}
    for _, finding in parts[:20]:
        for t in finding.turned:
            seen.setdefault(t.rule, RunnerUp(t.rule, t.groups, t.why))
    return tuple(seen.values())


def _copies(parts: Sequence[Part], corpus: _Corpus) -> NameRule:
    """Without a key: the copies of one original still belong together; else an abstention."""
    which = _over_splits(corpus)
    count = np.bincount(which)
    reason = _reason(parts, corpus)
    copies = (count > 1)[which]
    if corpus.doubled or not corpus.wrapped or not len(copies) or copies.mean() < REACH:
        return _abstention(len(corpus.names), reason, _runners_up(parts))
    codes = _numbered(np.where(copies | (corpus.wrapped == len(corpus.names)), which, -1))
    groups = int(codes.max()) + 1
    return NameRule(
        codes, "copies of one original: the name without what tools put around it", "", 0.9, float((codes >= 0).mean()),
        groups, (), _runners_up(parts), (f"{int(copies.sum())} names share {int((count > 1).sum())} originals",
        f"the originals themselves: {reason}"), False, "",
    )  # fmt: skip


def _over_splits(corpus: _Corpus) -> Ints:
    """Which original each name is made of, wherever a split has put it.

    Where originals of equal names stand in several parts of the split, each part counts for itself.
    """
    short = ["/".join([*(p for p in c.split("/")[:-1] if p.lower() not in SPLIT), c.rpartition("/")[2]])
             for c in corpus.cores]  # fmt: skip
    originals = {n.rpartition(".")[0] for n in corpus.names}
    plain = [s for s, c in zip(short, corpus.cores, strict=True) if c in originals]
    if len(set(plain)) < 0.98 * len(plain):
        return corpus.which
    return factorise(short)[0][corpus.which]


def _reason(parts: Sequence[Part], corpus: _Corpus) -> str:
    if corpus.generated > 0.5 * len(corpus.names):
        return (
            f"{corpus.generated} names are written by an image generator (position in a shuffled batch, random number):"
            " they do not say which image they were made of"
        )
    if not parts:
        return "there are no names"
    if len(corpus.names) < 6:
        return f"{len(corpus.names)} names are too few to show a rule"
    return max(parts, key=lambda p: len(p[0].rows))[1].reason or "too few names follow a rule"


def _abstention(n: int, reason: str, runners_up: tuple[RunnerUp, ...]) -> NameRule:
    return NameRule(np.full(n, -1, np.int64), "", "", 0.0, 0.0, 0, (), runners_up, (), True, reason)


def _looked_at(rule: NameRule, parts: Sequence[Part], corpus: _Corpus, mates_alike: MatesAlike) -> NameRule:
    """The images' word: against a key whose mates look like strangers, for one that the names leave open."""
    if not rule.abstained:
        ratio = float(mates_alike(rule.codes))
        if ratio >= NO_MORE_ALIKE:
            return replace(rule, evidence=(*rule.evidence, f"mates look {ratio:.2f} times as alike as strangers do"))
        why = f"mates look no more alike than random pairs of the same class (ratio {ratio:.2f})"
        lost = RunnerUp(rule.rule, rule.groups, why)
        return _abstention(len(rule.codes), f"{rule.rule}: {why}", (lost, *rule.runners_up))
    for family, finding in parts:
        for t in finding.turned:
            if t.codes is None or len(family.rows) < REACH * len(corpus.cores):
                continue
            codes = np.full(len(corpus.cores), -1, np.int64)
            codes[family.rows] = t.codes
            every = _numbered(codes[corpus.which])
            ratio = float(mates_alike(every))
            if ratio >= CLEARLY_ALIKE:
                text = f"mates look {ratio:.2f} times as alike as random pairs of the same class"
                groups = int(every.max()) + 1
                matched = float((every >= 0).mean())
                return NameRule(every, t.rule, "", 0.6, matched, groups, (), rule.runners_up, (text, t.why), False, "")
    return rule
