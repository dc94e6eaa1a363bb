"""An audit folder gives back the report that was written into it, or says why not."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiftyone_hsd import audit
from fiftyone_hsd.errors import PathError, StoreError
from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report.stored import forget_report, load_report, store_report, stored_path


def differing(a: Any, b: Any, where: str = "report") -> list[str]:
    """Places at which two values differ; a list and a tuple of the same items are the same setting."""
    if dataclasses.is_dataclass(a) and type(a) is type(b):
        return [d for f in dataclasses.fields(a) for d in differing(getattr(a, f.name), getattr(b, f.name), f.name)]
    if isinstance(a, np.ndarray):
        equal = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        return [] if equal else [where]
    if isinstance(a, Mapping):
        return [
            *([] if a.keys() == b.keys() else [where]),
            *(d for k in a for d in differing(a[k], b[k], f"{where}.{k}")),
        ]
    if isinstance(a, (tuple, list)):
        if len(a) != len(b):
            return [where]
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differing(x, y, f"{where}[{i}]")]
    same = a == b or (isinstance(a, float) and np.isnan(a) and np.isnan(b))
    return [] if same else [where]


def test_a_report_with_hostile_names_comes_back_whole(report: AuditReport, tmp_path: Path) -> None:
    assert store_report(report, tmp_path) == tmp_path / ".hsd" / "report.npz"
    back = load_report(tmp_path)
    assert not differing(report, back)
    assert back.samples.ids[3] == "a/\udcff\udcfe.png"
    assert differing(report, dataclasses.replace(back, verdict="another")) == ["verdict"]


def test_an_audit_leaves_its_report_and_a_stopped_one_leaves_none(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> AuditReport:
        return audit(small_corpus / "images", groups=small_corpus / "truth.csv", seeds=1, models=(), out=tmp_path)

    assert not differing(run(), load_report(str(tmp_path)))
    monkeypatch.setattr("fiftyone_hsd.report.write", _full_disk)
    with pytest.raises(StoreError):
        run()
    with pytest.raises(PathError, match="no finished audit"):
        load_report(tmp_path)


def _full_disk(*_: object) -> None:
    raise StoreError("the disk is full")


def test_a_folder_without_an_audit_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"is no folder"):
        load_report(tmp_path / "nowhere")
    with pytest.raises(PathError, match=r"hsd audit PATH --out"):
        load_report(tmp_path)
    forget_report(tmp_path)


@pytest.mark.parametrize("damage", ["schema", "noun", "bytes"])
def test_another_schema_and_damage_are_said(report: AuditReport, tmp_path: Path, damage: str) -> None:
    path = stored_path(tmp_path)
    store_report(report, tmp_path)
    if damage == "bytes":
        path.write_bytes(path.read_bytes()[:1000])
    else:
        with zipfile.ZipFile(path) as archive:
            tree = json.loads(archive.read("scalars.json"))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("scalars.json", json.dumps({**tree, damage: 99}))
    with pytest.raises(StoreError, match=r"hsd audit PATH --out"):
        load_report(tmp_path)
