"""`import fiftyone_hsd` and the command line load nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "torchvision", "timm", "open_clip", "faiss", "fiftyone", "cleanlab", "datasets", "accelerate", "ray")
SLOW = ("scipy", "sklearn", "skimage", "pandas", "plotly", "matplotlib", "cv2")


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(' '.join({{m.split('.')[0] for m in sys.modules}}))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["fiftyone_hsd", "fiftyone_hsd.cli", "fiftyone_hsd.doctor", "fiftyone_hsd.drawn"])
def test_nothing_heavy_is_imported(module):
    loaded = loaded_by(f"import {module}")
    assert "fiftyone_hsd" in loaded
    assert not loaded & {*HEAVY, *SLOW}


def test_a_whole_audit_needs_none_of_the_extras(small_corpus):
    code = f"import fiftyone_hsd; fiftyone_hsd.audit({str(small_corpus / 'images')!r}, seeds=1)"
    assert not loaded_by(code) & set(HEAVY)
