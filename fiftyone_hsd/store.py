"""One store for every noun: scalars as JSON, arrays as npz, in one file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import tempfile
import types
import typing
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from .errors import StoreError
from .model import SCHEMA

T = TypeVar("T")
_SCALARS = "scalars.json"


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that appears under `path` only when the block ends well.

    Raises:
        StoreError: the folder cannot be written or the disk is full; what stood there before is untouched.
    """
    target = Path(path)
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written ({error.strerror or error})", advice="free some space or choose another folder"
        ) from error
    finally:
        if temporary and Path(temporary).exists():
            Path(temporary).unlink()


def save(path: Path, noun: Any) -> None:
    """Write one noun (a frozen dataclass of this package, nested ones included) to `path`, atomically.

    Raises:
        StoreError: the file cannot be written.
    """
    with atomic(path) as file:
        _write(file, noun, zipfile.ZIP_STORED)


def to_bytes(noun: Any) -> bytes:
    """One noun as bytes, compressed: for a place that is no file."""
    file = io.BytesIO()
    _write(file, noun, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _write(file: IO[bytes], noun: Any, compression: int) -> None:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    tree = {"schema": SCHEMA, "noun": type(noun).__name__, "value": _pack(noun, arrays)}
    with zipfile.ZipFile(file, "w", compression, compresslevel=1) as archive:
        archive.writestr(_SCALARS, json.dumps(tree))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def load(path: Path, noun: type[T]) -> T:
    """Read back what `save` wrote; the constructor of the noun checks it again.

    Raises:
        StoreError: the file is missing, damaged, of another schema, or holds another noun.
    """
    return _read(path, noun, str(path))


def from_bytes(data: bytes, noun: type[T]) -> T:
    """Read back what `to_bytes` made.

    Raises:
        StoreError: the bytes are damaged, of another schema, or hold another noun.
    """
    return _read(io.BytesIO(data), noun, "what was stored")


def _read(source: Path | IO[bytes], noun: type[T], name: str) -> T:
    try:
        with zipfile.ZipFile(source) as archive:
            tree = json.loads(archive.read(_SCALARS))
            if tree["schema"] != SCHEMA or tree["noun"] != noun.__name__:
                raise StoreError(
                    f"{name} holds {tree['noun']} of schema {tree['schema']}", f"{noun.__name__} of schema {SCHEMA}"
                )

            def array(name: str) -> Any:
                return np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)

            return typing.cast(T, _unpack(tree["value"], noun, array))
    except StoreError:
        raise
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise StoreError(f"{name} cannot be read back ({error})", advice="delete it; it will be made again") from error


def _pack(value: Any, arrays: dict[str, Any]) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _pack(getattr(value, f.name), arrays) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return name
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): _pack(v, arrays) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_pack(v, arrays) for v in value]
    return value


def _unpack(value: Any, hint: Any, array: Callable[[str], Any]) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = typing.get_type_hints(hint)
        return hint(**{k: _unpack(v, hints[k], array) for k, v in value.items()})
    if origin is np.ndarray:
        return array(value)
    if origin is tuple:
        inner = [arguments[0]] * len(value) if len(arguments) == 2 and arguments[1] is Ellipsis else arguments
        return tuple(_unpack(v, h, array) for v, h in zip(value, inner, strict=True))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {k: _unpack(v, arguments[1], array) for k, v in value.items()}
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        return [_unpack(v, arguments[0], array) for v in value]
    if origin in (typing.Union, types.UnionType):
        return value if value is None else _unpack(value, next(a for a in arguments if a is not type(None)), array)
    return value
