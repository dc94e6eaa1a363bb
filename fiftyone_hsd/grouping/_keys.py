"""The key of one family of names: candidates from left to right, why each is taken or turned down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..model import Ints
from . import _words
from ._counters import Numbered, Step, combine, relation, shared, step
from ._fields import Column, Family

PURE = 0.98
"""Share of the names for which a column must say no more than the label to count as the class."""
LEAST_GROUPS = 5
"""Fewer values are a condition or a source (modality, magnification, site), unless a word calls them things."""
LEAST_NAMED = 2
RARE = 0.05
"""Share of names in groups of two or more below which a field counts as different in every file."""
FAN_OUT = 4.0
"""Numbers of their own a source holds at least on average; a patient has fewer accession numbers."""
MOST_SOURCES = 200
FEW_VIEWS = 12
"""Most values of a word before the key that can tell views apart (modality, magnification, side)."""
IDENTIFIERS = ("number", "code", "opaque", "date", "time")
MANY_WORDS = 20
"""Different words from which on a word can name a thing rather than a kind of things."""


@dataclass(frozen=True)
class Turned:
    """A candidate that lost: the rule in words, number of groups, and why."""

    rule: str
    groups: int
    why: str
    codes: Ints | None = None


@dataclass(frozen=True)
class Finding:
    """What one family gives.

    Attributes:
        key: the columns of the key, in the order of the name; empty = nothing found.
        codes: int64 (m,), groups of the family's rows.
        evidence: reasons for it.
        strength: confidence in [0, 1] from the evidence (our choice, an order rather than a probability).
        finer: (rule, codes) of the levels below.
        turned: candidates that lost.
        reason: why nothing was found, "" otherwise.
    """

    key: tuple[Column, ...] = ()
    codes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    evidence: tuple[str, ...] = ()
    strength: float = 0.0
    finer: tuple[tuple[str, Ints], ...] = ()
    turned: tuple[Turned, ...] = ()
    reason: str = ""


def called(column: Column) -> str:
    """How to name a column to a reader."""
    if column.place < 0:
        return "the label"
    where = "folder" if column.folder else "name"
    example = column.values[0][:40]
    if column.hint:
        return f"`{column.hint}` {example}"
    return f"field {column.place + 1} of the {where} (such as `{example}`)"


def rule_of(key: tuple[Column, ...]) -> str:
    """The key in words."""
    return " with ".join(called(c) for c in key)


@dataclass(frozen=True)
class Roles:
    """Columns of a family by what they do."""

    identifiers: tuple[Column, ...]
    words: tuple[Column, ...]
    like_class: frozenset[int]
    split: frozenset[int]
    varying: tuple[Column, ...]


def roles(family: Family, labels: Ints | None) -> Roles:
    """Sort the varying columns into identifiers and words; say which repeat the label or a split."""
    varying = tuple(c for c in family.columns if c.kind != "const")
    like_class, split = set(), set()
    for i, c in enumerate(varying):
        if c.distinct <= 12 and all(v in _words.SPLIT for v in c.values):
            split.add(i)
        elif labels is not None and _pure(labels, c.codes) >= PURE:
            like_class.add(i)
        elif c.hint in _words.PACKING and c.distinct <= 50:
            split.add(i)
    names: list[Column] = []
    words: list[Column] = []
    for i, c in enumerate(varying):
        if i in like_class or i in split or c.kind not in IDENTIFIERS:
            words.append(c)
        else:
            names.append(c)
    return Roles(
        tuple(names),
        tuple(words),
        frozenset(id(varying[i]) for i in like_class),
        frozenset(id(varying[i]) for i in split),
        varying,
    )


def _pure(given: Ints, codes: Ints) -> float:
    """Share of names whose `codes` is the usual one of their `given` value: 1 = determined by it."""
    known = given >= 0
    if not known.any():
        return 0.0
    pair = given[known] * (int(codes.max()) + 1) + codes[known]
    values, count = np.unique(pair, return_counts=True)
    owner = values // (int(codes.max()) + 1)
    best = np.zeros(int(owner.max()) + 1, np.int64)
    np.maximum.at(best, owner, count)
    return float(best.sum() / known.sum())


def find(family: Family, labels: Ints | None, label_column: Column | None) -> Finding:
    """The coarsest field of a family that names things several files show.

    Args:
        family: the names.
        labels: int64 (m,), labels of the family's names, -1 = none; None without labels.
        label_column: the label as a column, where equal names need it to be told apart.
    """
    part = roles(family, labels)
    sources: list[Column] = []
    turned: list[Turned] = []
    best: tuple[tuple[Column, ...], Ints, list[str], float] | None = None
    for number, column in enumerate(part.identifiers):
        later = part.identifiers[number + 1 :]
        keyed = _with_words(column, part, sources, later, labels, label_column)
        if column.kind == "time" and sources and sources[-1].kind == "date":
            moment = combine(sources[-1].codes, keyed.codes)
            keyed = replace(keyed, key=(sources[-1], *keyed.key), codes=moment)
        key, codes, why, sure = keyed.key, keyed.codes, keyed.why, keyed.sure
        verdict, evidence, strength = _judge(column, keyed, part, labels)
        if verdict:
            weak = codes if verdict.startswith("nothing") else None
            turned.append(Turned(rule_of(key), int(codes.max()) + 1, verdict, weak))
            if column.kind == "date" or column.hint in _words.SOURCE or "fewer than" in verdict:
                sources.append(column)
            continue
        better = _source(column, codes, later)
        if better:
            turned.append(Turned(rule_of(key), int(codes.max()) + 1, better))
            sources.append(column)
            # What a source holds is only better if it stands the test itself.
            best = best or (key, codes, [*evidence, *why], strength * 0.6)
            continue
        best = (key, codes, [*evidence, *why], strength if sure else strength * 0.85)
        break
    if best is None:
        best = _people_in_words(part, labels, turned)
    if best is None:
        return Finding(turned=tuple(turned), reason=_reason(part, turned))
    key, codes, reasons, strength = best
    turned += _rest_turned(part, key)
    return Finding(key, codes, tuple(reasons), strength, _finer(key, codes, part), tuple(turned))


@dataclass(frozen=True, eq=False)
class Keyed:
    """A key with the words that belong to it.

    Attributes:
        key: its columns; codes: int64 (m,), its groups.
        why: what was decided about each word, and whether surely.
        paired: words under which the same numbers are surely the same things: those tell views apart.
    """

    key: tuple[Column, ...]
    codes: Ints
    why: tuple[str, ...]
    sure: bool
    paired: frozenset[int]


def _with_words(
    column: Column,
    part: Roles,
    sources: list[Column],
    later: tuple[Column, ...],
    labels: Ints | None,
    label_column: Column | None,
) -> Keyed:
    """The key `column` together with the words and sources under which its numbers start again."""
    key, codes, why, sure = [column], column.codes, [], True
    paired: set[int] = set()
    numbers = _numbers(column)
    candidates = [w for w in part.words if w is not column] + sources
    if label_column is not None:
        candidates.append(label_column)
    running = next((r for c in later if (r := _numbers(c)) is not None and len(np.unique(r)) > 0.6 * len(r)), None)
    rows = np.arange(len(codes))

    def at(values: Ints | None) -> Ints | None:
        return None if values is None else values[rows]

    for word in candidates:
        before = word.place < column.place
        like_class = id(word) in part.like_class or word.place < 0
        like_class |= labels is not None and word.kind == "word" and _pure(word.codes, labels) >= PURE
        if not before and not like_class and (word.kind != "word" or running is None):
            continue
        if column.kind == "date" and word in sources:
            key.append(word)
            codes = combine(codes, word.codes)
            continue
        # Under a word that belongs to the key already, the question is asked where that word is most frequent.
        case = Numbered(
            column.codes[rows], at(numbers), word.codes[rows], _rest(column, word, part)[rows], at(running), at(labels),
            before, word.folder and not column.folder, like_class, id(word) in part.split, column.folder,
        )  # fmt: skip
        found = relation(case)
        # Behind a number stands what tells its views apart, unless two running counts prove otherwise.
        if not before and not like_class and "rise together" not in found.text:
            continue
        # Numbers given out by a source are only known inside it, even where a few happen to return.
        nested = word in sources and len(np.unique(combine(codes, word.codes))) <= 1.03 * len(np.unique(codes))
        if found.numbering == "own" or nested or (word.hint in _words.SOURCE and not found.sure):
            key.append(word)
            codes = combine(codes, word.codes)
            if found.numbering == "own":
                rows = rows[word.codes[rows] == np.bincount(word.codes[rows]).argmax()]
            why.append(f"{called(word)} belongs to the key: {found.text or 'numbers are only known inside it'}")
        elif found.numbering == "common":
            why.append(f"{called(word)} does not belong to the key: {found.text}")
            if (found.sure and not like_class) or all(v in _words.VIEWS for v in word.values):
                paired.add(id(word))
        sure &= found.sure
    return Keyed(tuple(sorted(key, key=lambda c: (c.place, c.part))), codes, tuple(why), sure, frozenset(paired))


def _rest(column: Column, word: Column, part: Roles) -> Ints:
    """Codes of all of the name that neither is the key or the split nor follows from the word."""
    rest = np.zeros(len(column.codes), np.int64)
    for c in part.varying:
        if c is column or c is word or id(c) in part.split:
            continue
        if c.distinct > word.distinct or _pure(word.codes, c.codes) < PURE:
            rest = combine(rest, c.codes)
    return rest


def _numbers(column: Column) -> Ints | None:
    return None if column.numbers is None else column.numbers[column.codes]


def _judge(column: Column, keyed: Keyed, part: Roles, labels: Ints | None) -> tuple[str, list[str], float]:
    """("", evidence, strength) for a key that stands, (why not, [], 0) for one that does not."""
    key, codes = keyed.key, keyed.codes
    groups = int(codes.max()) + 1
    repeated = shared(codes)
    if repeated < RARE:
        return "it is different in (nearly) every file", [], 0.0
    if labels is not None and _pure(labels, codes) >= 0.95:
        return "it only repeats the class", [], 0.0
    if groups < (LEAST_NAMED if column.hint in _words.ENTITY else LEAST_GROUPS):
        return f"fewer than {LEAST_GROUPS} groups: a condition or a source", [], 0.0
    if column.hint in _words.SOURCE:
        return f"`{column.hint}` is where files come from, not a group", [], 0.0
    if column.hint in _words.CLASS:
        return f"`{column.hint}` names a property, not a thing", [], 0.0
    if _by_chance(column, codes):
        return "it repeats no more often than random values would", [], 0.0
    if (size := _shards(column, codes, part)) > 0:
        return f"folders of {size} consecutive files each: packing, not groups", [], 0.0
    steps = _steps(column, codes, part, key, keyed.paired)
    evidence = [f"{groups} groups, {repeated:.0%} of the names in groups of two or more"]
    good = [s for s in steps if s.kind in ("views", "run", "coordinate")]
    bad = [s for s in steps if s.kind == "unexplained" or (s.kind == "time" and column.kind in ("date", "time"))]
    # A time of day that is the last thing to tell files apart is no count of views.
    bad += [s for s in steps[-1:] if s.kind == "time"]
    evidence += [s.text for s in good]
    doubt = 1.0
    if good and not bad:
        doubt *= 0.25 if any(s.kind == "coordinate" for s in good) or len(good) > 1 else 0.35
    if column.hint in _words.ENTITY:
        doubt *= 0.4
        evidence.append(f"`{column.hint}` names a thing")
    if column.kind == "opaque":
        doubt *= 0.1
        evidence.append("long codes repeat, which chance cannot do")
    elif (holes := _holes(column)) < 0.5:
        doubt *= 0.5
        evidence.append(f"its numbers use {holes:.0%} of their range and still repeat: names of things, not a count")
    if any(c.hint in _words.SOURCE for c in key) and column.kind == "date":
        doubt *= 0.5
        evidence.append("a date at a numbered place is a session")
    if column.hint in _words.ATTRIBUTE and column.hint not in _words.ENTITY:
        return f"`{column.hint}` tells files of one thing apart", [], 0.0
    if doubt == 1.0:
        return "nothing in the rest of the name looks like views of one thing", [], 0.0
    return "", evidence, 1 - doubt


def _steps(column: Column, codes: Ints, part: Roles, key: tuple[Column, ...], paired: frozenset[int]) -> list[Step]:
    """The columns behind the key, one by one, as divisions of its groups; then the paired words before it."""
    parent, steps = codes, []
    behind = [c for c in part.varying if (c.place, c.part) > (column.place, column.part)]
    for c in behind:
        if c in key or id(c) in part.split:
            continue
        made = step(parent, c, called(c), c.hint in _words.COORDINATE, _numbers(c))
        if made.kind and id(c) not in part.like_class:
            last_is_time = made.kind == "when" and c.kind == "time"
            steps.append(replace(made, kind="time") if last_is_time else made)
        parent = combine(parent, c.codes)
    for c in part.varying:
        if id(c) in paired and c not in key and c not in behind and c.distinct <= FEW_VIEWS:
            made = step(parent, c, called(c), False, None)
            if made.kind == "views":
                steps.append(made)
            parent = combine(parent, c.codes)
    return steps


def _by_chance(column: Column, codes: Ints) -> bool:
    """Whether values repeat as random draws from their range would: pairs expected n^2 / 2N, where N exceeds n."""
    n = len(codes)
    if column.kind == "number" and column.numbers is not None:
        wide = int(column.numbers.max() - column.numbers.min()) + 1
    elif column.kind == "code":
        some = column.values[:2000]
        wide = int(np.prod([float(len({v[i] for v in some if len(v) > i})) for i in range(min(map(len, some)))]))
    else:
        return False
    if wide <= n:
        return False
    count = np.bincount(codes)
    return float((count * (count - 1) / 2).sum()) < 3 * n * n / (2 * wide)


def _holes(column: Column) -> float:
    """Share of the range of numbers that occurs; 1 for anything else than a number."""
    if column.numbers is None or column.kind != "number":
        return 1.0
    low, high = int(column.numbers.min()), int(column.numbers.max())
    return column.distinct / (high - low + 1)


def _shards(column: Column, codes: Ints, part: Roles) -> int:
    """The common size of folders that cut one long count into equal pieces, 0 if they do not."""
    if not column.folder:
        return 0
    count = np.bincount(codes)
    usual = int(np.median(count))
    if usual < 100 or (count == usual).mean() < 0.8 * (1 - 1 / len(count)):
        return 0
    for c in part.varying:
        numbers = _numbers(c)
        if not c.folder and numbers is not None and len(np.unique(numbers)) > 0.98 * len(numbers):
            return usual
    return 0


def _source(column: Column, codes: Ints, later: tuple[Column, ...]) -> str:
    """Why a key that stands is only the source of a finer one, "" if it is not."""
    groups = int(codes.max()) + 1
    for c in later:
        if c.kind in ("date", "time", "year") or (c.hint in _words.ATTRIBUTE and c.hint not in _words.ENTITY):
            continue
        below = combine(codes, c.codes)
        if shared(below) < 0.05:
            break
        fine = int(below.max()) + 1
        if fine < 1.02 * groups:
            continue
        if c.hint in _words.PERSON and column.hint not in _words.PERSON:
            return f"`{c.hint}` inside it names a living being"
        if column.hint in _words.ENTITY:
            return ""
        nested = fine <= 1.03 * c.distinct
        if nested and fine / groups >= FAN_OUT and groups <= MOST_SOURCES and not _restarts(codes, c):
            return f"it holds {fine / groups:.0f} of {called(c)} each, and none of them returns elsewhere: a source"
        return ""
    return ""


def _restarts(parent: Ints, column: Column) -> bool:
    return step(parent, column, "", False, None).kind == "views"


def _people_in_words(
    part: Roles, labels: Ints | None, turned: list[Turned]
) -> tuple[tuple[Column, ...], Ints, list[str], float] | None:
    """Words as keys (`daria_walk`, `KA.AN1.39`, `jon_smith_0001`).

    Words name kinds rather than things, unless many of them hold few files each, or each holds files of several classes
    and not many.
    """
    for key in _phrases(part):
        codes = key[0].codes
        for c in key[1:]:
            codes = combine(codes, c.codes)
        m, distinct = len(codes), int(codes.max()) + 1
        steps = _steps(key[-1], codes, part, key, frozenset())
        views = all(s.kind in ("views", "coordinate") for s in steps)
        several = 0.0
        if labels is not None:
            several = float((np.bincount(np.unique(np.stack([codes, labels]), axis=1)[0]) > 1).mean())
        many = distinct >= MANY_WORDS and m <= 10 * distinct
        crossing = several >= 0.8 and distinct >= LEAST_GROUPS and m <= 50 * distinct and not key[0].folder
        if not views or m < 1.5 * distinct or not (many or crossing):
            turned.append(Turned(rule_of(key), distinct, "words name kinds, not things, unless few files share one"))
            continue
        text = f"its {distinct} values hold {m / distinct:.1f} files each" + (" of several classes" if crossing else "")
        return key, codes, [text, *(s.text for s in steps)], 0.6
    return None


def _phrases(part: Roles) -> list[tuple[Column, ...]]:
    """Words that stand side by side, together."""
    found: list[tuple[Column, ...]] = []
    for c in part.words:
        if c.kind != "word" or id(c) in part.like_class or id(c) in part.split:
            continue
        if found and found[-1][-1].place == c.place - 1 and found[-1][-1].depth == c.depth:
            found[-1] = (*found[-1], c)
        else:
            found.append((c,))
    return found


def _finer(key: tuple[Column, ...], codes: Ints, part: Roles) -> tuple[tuple[str, Ints], ...]:
    levels: list[tuple[str, Ints]] = []
    last = max((c.place, c.part) for c in key)
    names = rule_of(key)
    for c in part.identifiers:
        if (c.place, c.part) <= last or c in key:
            continue
        below = combine(codes, c.codes)
        if below.max() >= 1.02 * (codes.max() + 1) - 1 and shared(below) >= 0.2:
            names = f"{names}, then {called(c)}"
            levels.append((names, below))
            codes = below
    return tuple(levels)


def _rest_turned(part: Roles, key: tuple[Column, ...]) -> list[Turned]:
    found = []
    for c in part.varying:
        if c in key:
            continue
        if id(c) in part.like_class:
            found.append(Turned(called(c), c.distinct, "it only repeats the class"))
        elif id(c) in part.split:
            found.append(Turned(called(c), c.distinct, "it names a part of a split or of the packing"))
        elif shared(c.codes) < RARE:
            found.append(Turned(called(c), c.distinct, "it is different in (nearly) every file"))
    return found


def _reason(part: Roles, turned: list[Turned]) -> str:
    """Why a family has no key, in words."""
    unique = [c for c in part.identifiers if shared(c.codes) < RARE]
    same_class = [c for c in part.varying if id(c) in part.like_class]
    opaque = [c for c in unique if c.kind == "opaque"]
    if opaque:
        text = opaque[0].values[0]
        kind = "UIDs" if "." in text else "UUIDs" if "-" in text else f"hashes of {len(text)} characters"
        return f"names are {kind}, different in every file: they hold nothing about groups"
    also = "; what else there is only repeats the class" if same_class else ""
    if not part.identifiers:
        if same_class:
            return "what repeats in the names only repeats the class"
        return "names hold no number or code"
    for c in reversed(part.identifiers):
        codes = c.codes
        for word in part.words:
            codes = combine(codes, word.codes)
        if shared(codes) < RARE and c.kind in ("number", "code"):
            again = " that starts again under each word before it" if c not in unique else ""
            others = [t for t in turned if "every file" not in t.why and "class" not in t.why and t.rule != called(c)]
            more = f"; {others[0].rule}: {others[0].why}" if others else also
            return f"names hold a bare count{again}, {called(c)}{more}"
    return f"{turned[0].rule}: {turned[0].why}" if turned else "names hold nothing that repeats"
