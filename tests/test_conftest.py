"""A missing part is a skip, unless HSD_TEST_REQUIRE names it: then it is a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.data
def test_marked():
    pass

def test_by_fixture(real_data):
    assert real_data.is_dir()

def test_plain():
    pass
"""


def outcome(folder: Path, **variables: str) -> tuple[int, str]:
    shutil.copy(Path(__file__).parent / "conftest.py", folder)
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    data: x\n")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HSD_TEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **variables},
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    return done.returncode, lines[-1] if lines else done.stderr


@pytest.mark.parametrize(
    ("variables", "code", "words"),
    [
        ({}, 0, "1 passed, 2 skipped"),
        ({"HSD_TEST_REQUIRE": "mongod,data"}, 1, "1 passed, 2 errors"),
        ({"HSD_TEST_REQUIRE": "data", "HSD_TEST_DATA": "."}, 0, "3 passed"),
        ({"HSD_TEST_REQUIRE": "dta"}, 4, "dta"),
    ],
)
def test_a_skip_becomes_a_failure_when_the_part_is_required(tmp_path, variables, code, words):
    got, line = outcome(tmp_path, **variables)
    assert got == code, line
    assert words in line
