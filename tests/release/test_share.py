"""The page again, and the page for others."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from fiftyone_hsd import cli
from fiftyone_hsd.errors import PathError
from fiftyone_hsd.release import rewrite, share


def hsd(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([*map(str, words)])
    return int(ended.value.code or 0)


def test_the_shared_page_names_nothing_and_the_other_stays(own, tmp_path: Path) -> None:
    before = (own.out / "report.html").read_bytes()
    assert hsd("report", own.out, "--share") == 0
    text = (own.out / "report-share.html").read_text("utf-8")
    assert (own.out / "report.html").read_bytes() == before
    assert "data:image/jpeg" not in text
    assert "exposed" in text
    assert b"Anna" in before
    for word in ("Anna", "Dupont", "Neil", "Smith_8", "Secret", "Sankt-Georg", "scans 2019", str(own.out)):
        assert word not in text
    shown = share(own.out, to=tmp_path / "shown.html", pictures=True)
    assert "data:image/jpeg" in shown.read_text("utf-8")


def test_the_report_again_has_the_same_bytes(own) -> None:
    files = json.loads((own.out / "report.json").read_text())["files"]
    (own.out / "effects.csv").unlink()
    (own.out / "report.html").write_text("")
    assert rewrite(own.out) == own.out / "report.html"
    there = {n: hashlib.sha256((own.out / n).read_bytes()).hexdigest() for n in files}
    assert there == files


def test_what_cannot_be_done_is_said(own, tmp_path: Path, capfd) -> None:
    assert hsd("report", own.out, "--pictures") == 2
    assert "--share" in capfd.readouterr().err
    with pytest.raises(PathError, match="hsd audit"):
        share(tmp_path)
