"""What tools add around the name of an original: exporters, augmenters, file managers.

A wrapper says "made from": files with the same core belong together whatever the core means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ._words import MEDIA

_MEDIA = "|".join(sorted(MEDIA - {"gz"}))
# Roboflow exports write <stem>_<extension>.rf.<hash>.
_EXPORT = re.compile(rf"(?:[_.-](?:{_MEDIA}))?\.rf\.[0-9a-z]{{16,}}$", re.I)
_COPY_AFTER = re.compile(r"[ _-]+(?:copy|kopie|copie|copia|duplicate)(?:[ _-]*\(?\d{1,3}\)?)?$", re.I)
_COPY_BEFORE = re.compile(r"^(?:copy|kopie|copie|copia)(?: \(\d+\))? (?:of|von|de|di) ", re.I)
_NUMBERED = re.compile(r"^(.*\S) ?\(\d{1,3}\)$", re.S)
_OPERATION = (
    r"aug(?:ment(?:ed)?)?|h[-_ ]?flip(?:ped)?|v[-_ ]?flip(?:ped)?|hv[-_ ]?flip(?:ped)?|"
    r"flip(?:ped)?(?:[-_ ]?(?:lr|ud|h|v|x|y|hor|ver|horizontal|vertical))?|mirror(?:ed)?|"
    r"rot(?:ate|ated|ation)?|transposed?|nois[ey]|noise|gauss(?:ian)?[-_ ]?(?:noise|blur)?|blur(?:red)?|"
    r"bright(?:ness|er|ened)?|dark(?:er|ened)?|contrast|gamma|shear(?:ed)?|zoom(?:ed)?|jitter|elastic|cutout|"
    r"shift(?:ed)?|scaled?|translat(?:e|ed|ion)|clahe|histeq|gr[ae]y(?:scale)?|saturat(?:e|ed|ion)|hue|"
    r"orig(?:inal)?"
)
_AFTER = re.compile(rf"(?:[ _.-]+(?:{_OPERATION})(?:[ _.-]?[-+]?\d{{1,4}}(?:\.\d+)?)?(?:deg)?)+$", re.I)
BEFORE = (
    r"(?:aug(?:ment(?:ed)?)?(?:img|image)?|[hv]?flip(?:ped)?|rot(?:ated)?|mirrored)[ _-]?(?:\d{1,4}[ _-]+)?(?<=[ _-])"
)
"""Regular expression of a wrapper before the name."""
_BEFORE = re.compile("^" + BEFORE, re.I)
_HINTS = re.compile(
    r"\.rf\.|cop(?:y|ie|ia)|kopie|duplic|\(\d|aug|flip|mirror|rot|transpos|nois|gauss|blur|bright|dark|contrast|gamma"
    r"|shear|zoom|jitter|elastic|cutout|shift|scale|translat|clahe|histeq|gr[ae]y|satur|hue|orig",
)


def unwrap(stem: str, folder: str, stems: frozenset[str]) -> str:
    """The core of a file name without its extension; the stem itself if nothing is wrapped around it.

    Args:
        stem: file name without extension.
        folder: the part of the path before it, "" or ending in "/".
        stems: all paths without extension; ` (2)` is the mark of a copy only where the original stands beside it,
            elsewhere it is how file managers number a whole selection.
    """
    core = _EXPORT.sub("", stem)
    for _ in range(3):
        before = core
        numbered = _NUMBERED.match(core)
        if numbered and folder + numbered[1] in stems:
            core = numbered[1]
        for form in (_COPY_AFTER, _COPY_BEFORE, _AFTER, _BEFORE):
            # A name that is nothing but the wrapper's word (`rot_90`, `dark_12`) is no wrapped name.
            shorter = form.sub("", core)
            if any(c.isdigit() for c in shorter) or (shorter and folder + shorter in stems):
                core = shorter
        if core == before:
            break
    return _without_extension(core) if core != stem else core


def cores(names: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Names without extension, those without wrappers, and how many of them had a wrapper.

    Args:
        names: n POSIX paths.
    """
    bare = [_without_extension(name) for name in names]
    if not _HINTS.search("\n".join(bare).lower()):
        return bare, bare, 0
    known, found, wrapped = frozenset(bare), [], 0
    for path in bare:
        folder, slash, stem = path.rpartition("/")
        core = unwrap(stem, folder + slash, known) if _HINTS.search(stem.lower()) else stem
        wrapped += core != stem
        found.append(folder + slash + core)
    return bare, found, wrapped


def _without_extension(name: str) -> str:
    for _ in range(2):
        stem, dot, suffix = name.rpartition(".")
        if not (dot and stem and not stem.endswith("/") and suffix.lower() in MEDIA):
            return name
        name = stem
    return name


def augmenter_counts(paths: Sequence[str]) -> list[str | None]:
    """What stands before `_INDEX_RANDOM` where an image generator wrote the files, None for all other names.

    Keras' `flow(save_to_dir)` writes `PREFIX_INDEX_RANDOM`, the index a position in the shuffled batch and the second
    number random below 10^4 (10^7 since 2.x): neither says which image it was made of. Random is told from counted by
    missing padding and by filling the whole range evenly (Kolmogorov-Smirnov distance at the 0.1 % level).
    """
    none: list[str | None] = [None] * len(paths)
    hits = [(i, m) for i, p in enumerate(paths) if (m := _GENERATED.match(p))]
    if len(hits) < max(30, 0.2 * len(paths)):
        return none
    numbers = np.array([int(m[3]) for _, m in hits], np.float64)
    top = 10.0 ** len(str(int(numbers.max())))
    even = np.sort(numbers) / top
    distance = np.abs(even - (np.arange(len(even)) + 0.5) / len(even)).max()
    if top not in (1e4, 1e7) or distance > 1.95 / len(even) ** 0.5:
        return none
    for i, m in hits:
        none[i] = m[1]
    return none


_GENERATED = re.compile(r"((?:.*/)?[^/]*?)_(0|[1-9]\d{0,6})_(0|[1-9]\d{0,6})$", re.S)
