"""Tables that come with a corpus, joined to its images by relative path."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from ..errors import FieldError, InputError, PathError
from ..store import atomic


def read_table(path: Path) -> dict[str, list[str]]:
    """Column -> values of a CSV or TSV file (UTF-8, a BOM is allowed); every value is text, missing ones are "".

    Raises:
        PathError: the file cannot be opened.
        InputError: it is no table of text.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            return _table(file, path)
    except OSError as error:
        raise PathError(f"{path} cannot be read ({error.strerror or error})", "a CSV file") from error
    except csv.Error as error:
        raise InputError(
            f"{path} is no CSV file ({error})", "comma- or tab-separated text with a header line"
        ) from error


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as a CSV file, whole or not at all; nan is an empty cell, floats have ten digits.

    Raises:
        StoreError: the file cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        ["" if isinstance(v, float) and math.isnan(v) else f"{v:.10g}" if isinstance(v, float) else v for v in row]
        for row in zip(*columns.values(), strict=True)
    )
    with atomic(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _table(file: TextIO, path: Path) -> dict[str, list[str]]:
    reader = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
    header = [h.strip() for h in next(reader, [])]
    if len(set(header)) != len(header) or not header:
        raise FieldError(f"the header of {path} is {','.join(header) or 'empty'}", "one name a column, each once")
    rows = [row for row in reader if row]
    long = next((i for i, row in enumerate(rows) if len(row) > len(header)), None)
    if long is not None:
        raise InputError(f"row {long + 2} of {path} has {len(rows[long])} values", f"{len(header)}, as the header")
    return {h: [row[k] if k < len(row) else "" for row in rows] for k, h in enumerate(header)}


def need(table: Mapping[str, list[str]], columns: Iterable[str], path: Path) -> None:
    for column in columns:
        if column not in table:
            raise FieldError(
                f"{path} has no column {column!r}", f"its columns are {', '.join(table)}", f"name one {column}"
            )


def _key(path: str) -> str:
    text = path.replace("\\", "/") if "/" not in path else path
    return unicodedata.normalize("NFC", text).removeprefix("./")


def joined(path: Path, names: Sequence[str], needed: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Every column but `path` of a CSV file in the order of `names` ("" = not named there), and the paths not in it."""
    table = read_table(path)
    need(table, ("path", *needed), path)
    columns = [c for c in table if c != "path"]
    exact = {name: i for i, name in enumerate(names)}
    wanted: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        wanted.setdefault(_key(name), []).append(i)
    result = {c: [""] * len(names) for c in columns}
    first: dict[int, int] = {}
    strangers: list[str] = []
    for row, text in enumerate(table["path"]):
        fits = [exact[text]] if text in exact else wanted.get(_key(text), [])
        if not fits:
            strangers.append(text)
            continue
        if len(fits) > 1:
            raise InputError(
                f"{path} names {text!r}, which fits {len(fits)} images that differ in Unicode form", "exact paths"
            )
        i = fits[0]
        before = first.setdefault(i, row)
        if any(table[c][before] != table[c][row] for c in columns):
            raise InputError(f"{path} names {text!r} twice with different values", "one row a path")
        for c in columns:
            result[c][i] = table[c][row]
    if not first:
        example = table["path"][0] if table["path"] else "nothing"
        raise InputError(
            f"no row of {path} fits any image; it says {example!r}, the corpus has {names[0]!r}",
            "paths relative to the corpus folder",
        )
    return result, strangers
