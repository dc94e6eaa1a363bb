"""One rule of all families of a corpus, or an abstention with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import Ints
from ._corpus import Corpus
from ._families import Family
from ._fields import factorise
from ._keys import Finding
from ._numbering import Numbered, relation
from ._pattern import group_texts, pattern_of, spans
from ._roles import called, rule_of
from ._rule import NameLevel, NameRule, RunnerUp
from ._words import SPLIT, VIEWS

REACH = 0.05
"""Smallest share of the names that a rule must match to be more than an accident of a few names."""


Part = tuple[Family, Finding]
Form = Any
"""A compiled pattern of the `regex` module, which has no types."""


def compiled_form(expression: str) -> Form:
    import regex

    return regex.compile(f"(?i){expression}")


def joined(parts: Sequence[Part], corpus: Corpus) -> NameRule:
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
    heads = _told_apart(rules, corpus, texts)
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
    shown = texts[int(main.rows[0])] if first.key else first.runs.texts[0].rpartition("/")[2] if first.runs else ""
    evidence = [*first.evidence, *heads, *followed, f"for example `{shown}` in `{corpus.cores[int(main.rows[0])]}`"]
    if corpus.wrapped:
        evidence.append(f"{corpus.wrapped} names are wrapped names of others (copies, exports, augmentations)")
    every = codes[corpus.which]
    return NameRule(
        codes=numbered(every),
        rule=words,
        pattern="" if corpus.doubled or heads or not alternatives else "(?i)" + "|".join(alternatives),
        confidence=strength,
        matched=float(matched),
        groups=len(np.unique(every[every >= 0])),
        levels=_levels(rules, corpus, every),
        runners_up=_runners_up(parts),
        evidence=tuple(evidence),
        abstained=False,
        reason="",
    )


def _told_apart(rules: Sequence[Part], corpus: Corpus, texts: list[str]) -> list[str]:
    """Puts the folder above the key into the text of the group where equal texts under two folders are two things.

    Where the names under two folders have one form the folder is a word of the family; here the forms differ.
    """
    above = [(f.rows, _above(f, k)) for f, k in rules if k.key]
    names = sorted({head for _, head in above})
    if len(names) < 2:
        return []
    rows = np.concatenate([r for r, _ in above])
    word = np.concatenate([np.full(len(r), names.index(head)) for r, head in above])
    key, values = factorise([texts[i] for i in rows])
    digits = ["".join(c for c in v if c.isdigit()) for v in values]
    numbers = np.array([int(d) for d in digits], np.int64)[key] if all(0 < len(d) < 18 for d in digits) else None
    labels = None if corpus.labels is None else corpus.labels[rows]
    found = relation(
        Numbered(key, numbers, word, np.arange(len(rows)), None, labels, True, False, False, False, False, False)
    )
    if found.numbering != "own":
        return []
    for i, w in zip(rows.tolist(), word.tolist(), strict=True):
        texts[i] = f"{names[w]}//{texts[i]}"
    return [
        f"names of different form under {', '.join(f'`{h}`' for h in names[:5])} are different things: {found.text}"
    ]


def _above(family: Family, finding: Finding) -> str:
    """The constant folders above the key, without parts of a split and words for what is seen."""
    top = min(c.depth for c in finding.key)
    folders = [c for c in family.columns if c.kind == "const" and c.depth < top]
    return "/".join(c.values[0] for c in folders if c.values[0] not in SPLIT | VIEWS)


def _words(finding: Finding) -> str:
    if finding.runs is None:
        return rule_of(finding.key)
    return f"runs of consecutive numbers in {called(finding.runs.column)}"


def _follow(parts: Sequence[Part], alternatives: Sequence[str], corpus: Corpus, texts: list[str]) -> list[str]:
    compiled = [compiled_form(a) for a in alternatives]
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


def numbered(codes: Ints) -> Ints:
    """Codes 0.. in order of first appearance, -1 kept."""
    known = np.flatnonzero(codes >= 0)
    out = np.full(len(codes), -1, np.int64)
    out[known] = factorise(codes[known].tolist())[0]
    return out


def _levels(rules: Sequence[Part], corpus: Corpus, codes: Ints) -> tuple[NameLevel, ...]:
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
        level = numbered(np.where(codes >= 0, every, -1))
        levels.append(NameLevel(words, level, int(level.max()) + 1))
    return tuple(levels)


def _runners_up(parts: Sequence[Part]) -> tuple[RunnerUp, ...]:
    seen: dict[str, RunnerUp] = {}
    for _, finding in parts[:20]:
        for t in finding.turned:
            seen.setdefault(t.rule, RunnerUp(t.rule, t.groups, t.why))
    return tuple(seen.values())


def _copies(parts: Sequence[Part], corpus: Corpus) -> NameRule:
    """Without a key: the copies of one original still belong together; else an abstention."""
    which = _over_splits(corpus)
    count = np.bincount(which)
    reason = _reason(parts, corpus)
    copies = (count > 1)[which]
    if corpus.doubled or not corpus.wrapped or not len(copies) or copies.mean() < REACH:
        return abstention(len(corpus.names), reason, _runners_up(parts))
    codes = numbered(np.where(copies | (corpus.wrapped == len(corpus.names)), which, -1))
    groups = int(codes.max()) + 1
    return NameRule(
        codes, "copies of one original: the name without what tools put around it", "", 0.9, float((codes >= 0).mean()),
        groups, (), _runners_up(parts), (f"{int(copies.sum())} names share {int((count > 1).sum())} originals",
        f"the originals themselves: {reason}"), False, "",
    )  # fmt: skip


def _over_splits(corpus: Corpus) -> Ints:
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


def _reason(parts: Sequence[Part], corpus: Corpus) -> str:
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


def abstention(n: int, reason: str, runners_up: tuple[RunnerUp, ...]) -> NameRule:
    return NameRule(np.full(n, -1, np.int64), "", "", 0.0, 0.0, 0, (), runners_up, (), True, reason)
