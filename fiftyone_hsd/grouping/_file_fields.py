"""Fields that files carry: EXIF of photographs, DICOM headers (with the optional `pydicom`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from ..errors import FieldError, MissingExtraError
from ..model import Floats, Strings

EXIF, DICOM = "exif:", "dicom:"
SESSION = f"{EXIF}session"
"""Asks for sessions from times of acquisition, see `acquisition`."""
_EXIF_TAGS = {
    "Make": 0x010F, "Model": 0x0110, "Artist": 0x013B, "DateTime": 0x0132, "DateTimeOriginal": 0x9003,
    "SubSecTimeOriginal": 0x9291, "CameraOwnerName": 0xA430, "BodySerialNumber": 0xA431, "LensSerialNumber": 0xA435,
    "ImageUniqueID": 0xA420,
}  # fmt: skip
_SUB_IFD = 0x8769


def is_file_field(name: str) -> bool:
    """Whether a column name asks for a field that files carry (`exif:BodySerialNumber`, `dicom:PatientID`)."""
    return name.startswith((EXIF, DICOM))


def file_field(paths: Sequence[str], name: str) -> Strings:
    """(n,) str, one field of every file, "" where a file has none.

    Raises:
        FieldError: there is no such field.
        MissingExtraError: a DICOM field without pydicom.
    """
    reader = _dicom if name.startswith(DICOM) else _exif
    return np.array(reader(paths, name.partition(":")[2]), dtype=np.str_)


def times(paths: Sequence[str]) -> Floats:
    """(n,) seconds since 1970 at which each picture was taken by its EXIF (local time taken as UTC), NaN = unknown."""
    taken = file_field(paths, f"{EXIF}DateTimeOriginal")
    parts = file_field(paths, f"{EXIF}SubSecTimeOriginal")
    return np.array([_seconds(t, p) for t, p in zip(taken.tolist(), parts.tolist(), strict=True)], np.float64)


def _seconds(text: str, part: str) -> float:
    try:
        whole = datetime.strptime(text, "%Y:%m:%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return float("nan")
    return whole + (float(f"0.{part}") if part.isascii() and part.isdigit() else 0.0)


def _exif(paths: Sequence[str], name: str) -> list[str]:
    if name not in _EXIF_TAGS:
        raise FieldError(f"there is no EXIF field {name!r} here", ", ".join(_EXIF_TAGS), "name one of these")
    return [_exif_of(path, _EXIF_TAGS[name]) for path in paths]


def _exif_of(path: str, tag: int) -> str:
    from PIL import Image

    try:
        with Image.open(path) as image:
            exif = image.getexif()
            value = exif.get(tag) or exif.get_ifd(_SUB_IFD).get(tag)
    except Exception:  # a file that Pillow cannot read carries no field for us; the scan says why it failed
        return ""
    return str(value).strip("\0 ") if value is not None else ""


def _dicom(paths: Sequence[str], name: str) -> list[str]:
    try:
        import pydicom
    except ImportError:
        raise MissingExtraError(
            f"{DICOM}{name} needs pydicom, which is not installed", advice="pip install 'fiftyone-hsd[dicom]'"
        ) from None
    from pydicom.datadict import tag_for_keyword

    if tag_for_keyword(name) is None:
        raise FieldError(f"there is no DICOM field {name!r}", "keywords of the standard, such as PatientID")
    found = []
    for path in paths:
        try:
            header = pydicom.dcmread(path, stop_before_pixels=True, specific_tags=[name])
            found.append(str(header.get(name, "") or "").strip())
        except Exception:  # no DICOM file
            found.append("")
    return found
