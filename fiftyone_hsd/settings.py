"""What an audit is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InputError
from .model import TRAIN


def whole(value: Any) -> bool:
    """Whether a value is a whole number, of whatever type of number."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and float(value).is_integer()


@dataclass(frozen=True)
class Settings:
    """What an audit is asked for; the same names and defaults in Python, on the command line and in the App.

    Attributes:
        groups: CSV file (path,group) with known groups.
        group_field: metadata column or FiftyOne field with known groups; several from coarse to fine, separated by
            commas (`site,patient,slide`: the coarsest that is not a source is the group); `exif:FIELD` and
            `dicom:FIELD` are read from the files, `exif:session` divides times of acquisition at long pauses.
        labels: CSV file (path,label[,group,split]) with the labels of a folder.
        label_field: FiftyOne classification field.
        split_field: FiftyOne string field with the existing split (default: tags).
        pattern: regular expression with a group named `group`, searched in each path relative to the root.
        names: when no groups are given (groups, group_field, pattern, a `group` column), use those that the file names
            seem to hold, with the rule in words; off, they are only proposed.
        near_copies: search for near copies (resized, recompressed, turned, mirrored, cropped): "on", "off", or "auto" =
            where no groups are given.
        near_threshold: smallest agreement of near copies, in place of the calibrated one.
        trust_split: declare that no near copies lie across the partitions of the existing split; the threshold is then
            calibrated on it, and none across it can be found.
        verdicts: CSV file (path_a,path_b,verdict,author,time) of reviewers; stronger than any detector.
        models: trainers to run, cheap ones by default.
        seeds: number of split seeds; seed 0 is the primary one.
        fractions: partition -> share; default: those of the existing split, else .70 / .15 / .15.
        descriptor: what nearest neighbours and the cheap models look at.
        unknown: "singleton" = a file about which no source says anything is its own group (and that is said);
            "refuse" = stop instead.
        truth: CSV file (path,group), opened only after the work, to score the groups found.
    """

    groups: str | None = None
    group_field: str | None = None
    labels: str | None = None
    label_field: str | None = None
    split_field: str | None = None
    pattern: str | None = None
    names: bool = True
    near_copies: str = "auto"
    near_threshold: float | None = None
    trust_split: bool = False
    verdicts: str | None = None
    models: tuple[str, ...] = ("nearest_neighbour", "linear_probe")
    seeds: int = 5
    fractions: Mapping[str, float] | None = None
    descriptor: str = "colour_histogram"
    unknown: str = "singleton"
    truth: str | None = None

    def __post_init__(self) -> None:
        for name in ("groups", "labels", "truth", "verdicts"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else str(value))
        models: str | Sequence[str] = self.models
        names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models))
        object.__setattr__(self, "models", names)
        if not whole(self.seeds) or not 1 <= int(self.seeds) <= 1000:
            raise InputError(f"seeds = {self.seeds!r}", "a whole number, 1 to 1000")
        if self.unknown not in ("singleton", "refuse"):
            raise InputError(f"unknown = {self.unknown!r}", "'singleton' or 'refuse'")
        if self.near_copies not in ("auto", "on", "off"):
            raise InputError(f"near_copies = {self.near_copies!r}", "'auto', 'on' or 'off'")
        if self.near_threshold is not None and not 0 < self.near_threshold <= 1:
            raise InputError(f"near_threshold = {self.near_threshold}", "above 0, at most 1")
        if self.fractions is not None:
            shares = {str(k): float(v) for k, v in self.fractions.items()}
            if (
                TRAIN not in shares
                or len(shares) < 2
                or min(shares.values()) <= 0
                or abs(sum(shares.values()) - 1) > 1e-6
            ):
                raise InputError(f"fractions = {shares}", "'train' and at least one more, all above 0, summing to 1")
            object.__setattr__(self, "fractions", shares)

    @staticmethod
    def of(options: Mapping[str, Any]) -> Settings:
        """Settings from keyword arguments; an unknown name is an InputError that lists the known ones."""
        known = [f.name for f in dataclasses.fields(Settings)]
        wrong = sorted(set(options) - set(known))
        if wrong:
            raise InputError(f"unknown setting {', '.join(wrong)}", ", ".join(known))
        return Settings(**options)
