"""What control experiments are asked for."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .model import TEST, TRAIN
from .settings import whole

PRESETS = ("fast", "paper")
CORNERS = ("upper-left", "upper-right", "lower-left", "lower-right", "top", "bottom", "left", "right", "middle")


@dataclass(frozen=True)
class ControlSettings:
    """What control experiments are asked for; the same names and defaults in Python, command line and App.

    Attributes:
        control: experiments to run, files of the folder controls; "all" = every one that the corpus allows.
        corner: where the background crop lies: a corner, or the middle of a side or of the picture.
        size: of the crop, WIDTHxHEIGHT in pixels.
        box: "x,y,width,height" in pixels, or as shares of the picture where all four are at most 1; replaces corner and
            size.
        box_field: column with such a box for every image; replaces `box`.
        objects_field: column with boxes of objects, several separated by `;`: replaces Otsu, and tells which crops are
            not background.
        object_pixels: pixels above which what Otsu's threshold finds is an object.
        object_side: side in pixels of the crops around objects and away from them.
        preset: "fast" = 1-NN, linear probe and random forest in seconds; "paper" = LeNet-5, 120 epochs.
        seeds: number of splits.
        fractions: partition -> share; default train=.7,test=.3 (fast) and train=.8,test=.2 (paper).
        groups, group_field, labels, label_field, split_field, pattern, names, unknown: as in an audit.
        session_field: column with the acquisition session of each image.
        source_field: column with the site or source of each image.
        order_field: column that puts the images in order of acquisition; default EXIF time, else counters in names.
    """

    control: tuple[str, ...] = ("all",)
    corner: str = "upper-left"
    size: str = "20x20"
    box: str | None = None
    box_field: str | None = None
    objects_field: str | None = None
    object_pixels: int = 40
    object_side: int = 60
    preset: str = "fast"
    seeds: int = 5
    fractions: Mapping[str, float] | None = None
    groups: str | None = None
    group_field: str | None = None
    labels: str | None = None
    label_field: str | None = None
    split_field: str | None = None
    pattern: str | None = None
    names: bool = False
    unknown: str = "singleton"
    session_field: str | None = None
    source_field: str | None = None
    order_field: str | None = None

    def __post_init__(self) -> None:
        control: str | Sequence[str] = self.control
        object.__setattr__(self, "control", (control,) if isinstance(control, str) else tuple(control))
        for name in ("groups", "labels"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else str(value))
        if self.preset not in PRESETS:
            raise InputError(f"preset = {self.preset!r}", ", ".join(PRESETS))
        if self.corner not in CORNERS:
            raise InputError(f"corner = {self.corner!r}", ", ".join(CORNERS))
        if not whole(self.seeds) or not 1 <= int(self.seeds) <= 1000:
            raise InputError(f"seeds = {self.seeds!r}", "a whole number, 1 to 1000")
        self.width_height  # noqa: B018 - refuses a size that is none
        if self.object_pixels < 0 or self.object_side < 1:
            raise InputError(
                f"object_pixels = {self.object_pixels}, object_side = {self.object_side}", "0 or more, 1 or more"
            )
        if self.fractions is not None and not {TRAIN, TEST} <= set(self.fractions):
            raise InputError(f"fractions = {dict(self.fractions)}", "'train' and 'test', and others beside them")

    @property
    def width_height(self) -> tuple[int, int]:
        """`size` as numbers."""
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", str(self.size))
        if found is None or "0" in found.groups():
            raise InputError(f"size = {self.size!r}", "WIDTHxHEIGHT in pixels, such as 21x21")
        return int(found[1]), int(found[2])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were named."""
        named = (self.box_field, self.objects_field, self.session_field, self.source_field, self.order_field)
        return tuple(dict.fromkeys(c for c in named if c is not None))

    @staticmethod
    def of(options: Mapping[str, Any]) -> ControlSettings:
        """Settings from keyword arguments; an unknown name is an InputError that lists the known ones."""
        known = [f.name for f in dataclasses.fields(ControlSettings)]
        wrong = sorted(set(options) - set(known))
        if wrong:
            raise InputError(f"unknown setting {', '.join(wrong)}", ", ".join(known))
        return ControlSettings(**options)
