"""Our two issue types inside cleanlab's own Datalab."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fiftyone_hsd.datalab as bridge
from fiftyone_hsd.errors import FieldError

pytestmark = pytest.mark.skipif(importlib.util.find_spec("cleanlab") is None, reason="cleanlab not installed")


@pytest.fixture
def lab():
    """A Datalab as a user makes it: forty of one patient, five pairs, ten alone."""
    with bridge.undisturbed():
        from cleanlab import Datalab

        return Datalab({"label": ["a", "b"] * 30}, label_name="label", verbosity=0)


GROUPS = np.r_[np.zeros(40), np.repeat(np.arange(1, 6), 2), np.arange(6, 16)].astype(int)
SPLIT = np.array(["train", "test"] * 30)


def test_a_group_of_forty_is_one_group(lab):
    lab.find_issues(issue_types={"hidden_group": {"groups": GROUPS}})
    found = lab.get_issues("hidden_group")
    assert found["is_hidden_group_issue"].tolist() == [True] * 50 + [False] * 10
    assert found["hidden_group_score"].tolist() == [0.0] * 50 + [1.0] * 10
    assert found["hidden_group_id"][:40].nunique() == 1
    assert found["hidden_group_size"].tolist() == [40] * 40 + [2] * 10 + [1] * 10
    assert lab.get_info("hidden_group")["largest_group"] == 40
    assert lab.get_issue_summary("hidden_group")["num_issues"].tolist() == [50]


def test_every_image_has_a_twin_flags_all(lab):
    lab.find_issues(issue_types={"hidden_group": {"groups": [f"scene {i // 2}" for i in range(60)]}})
    assert lab.get_issues("hidden_group")["is_hidden_group_issue"].all()


def test_independent_samples_and_unknown_groups_are_no_issue(lab):
    for groups in (np.arange(60), np.full(60, -1), [""] * 60, [None] * 60):
        lab.issues = lab.issues.iloc[:, :0]
        lab.issue_summary = lab.issue_summary.iloc[:0]
        lab.info.pop("hidden_group", None)
        lab.find_issues(issue_types={"hidden_group": {"groups": groups}})
        assert not lab.issues["is_hidden_group_issue"].any()
        assert lab.issues["hidden_group_score"].eq(1).all()


def test_a_test_sample_with_mates_in_train_leaks(lab):
    types = {"split_leak": {"groups": GROUPS, "split": SPLIT, "confidence": np.linspace(0, 1, 60)}}
    lab.find_issues(issue_types=types)
    found = lab.get_issues("split_leak")
    exposed = np.array(
        [s == "test" and bool((SPLIT[g == GROUPS] == "train").any()) for g, s in zip(GROUPS, SPLIT, strict=True)]
    )
    assert found["is_split_leak_issue"].tolist() == exposed.tolist()
    assert found["split_leak_train_mates"][[1, 41, 59, 0]].tolist() == [20, 1, 0, 0]
    assert lab.get_info("split_leak")["train_mates"][41] == [40]
    assert found["split_leak_score"][41] == pytest.approx(1 - 41 / 59)
    assert found["split_leak_score"][0] == 1


def test_a_split_of_whole_groups_does_not_leak(lab):
    lab.find_issues(issue_types={"split_leak": {"groups": GROUPS, "split": np.where(GROUPS < 3, "train", "test")}})
    assert not lab.get_issues("split_leak")["is_split_leak_issue"].any()


def test_saved_loaded_and_reported(lab, tmp_path, capsys):
    lab.find_issues(issue_types={"hidden_group": {"groups": GROUPS}, "split_leak": {"groups": GROUPS, "split": SPLIT}})
    lab.save(str(tmp_path / "lab"))
    code = f"""
import fiftyone_hsd.datalab
from cleanlab import Datalab
lab = Datalab.load({str(tmp_path / "lab")!r})
assert lab.get_issues("split_leak")["is_split_leak_issue"].sum() == {int(lab.issues["is_split_leak_issue"].sum())}
lab.report(verbosity=1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "hidden_group issues" in done.stdout
    assert "split_leak issues" in done.stdout
    assert "largest_group: 40" in done.stdout
    lab.report()
    assert "split_leak issues" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ({"hidden_group": {}}, "no groups were given"),
        ({"hidden_group": {"groups": [1, 2]}}, "2 groups for 60 samples"),
        ({"split_leak": {"groups": GROUPS}}, "no split was given"),
        ({"split_leak": {"groups": GROUPS, "split": SPLIT, "train": "fit"}}, "no sample is in 'fit'"),
    ],
)
def test_datalab_says_what_is_missing(lab, capsys, types, said):
    lab.find_issues(issue_types=types)
    assert said in capsys.readouterr().out


def test_the_types_of_a_report(small_corpus):
    from fiftyone_hsd import audit

    report = audit(
        small_corpus / "images", pattern=r"(?P<group>P\d+)_S\d+_F\d+", models=("nearest_neighbour",), seeds=1
    )
    types = bridge.issue_types(report)
    assert set(types) == {"hidden_group", "split_leak"}
    lab = bridge.check(report.samples, ["hidden_group", "split_leak"], types=types)
    leak = next(c for c in lab.checks if c.name == "split_leak")
    assert leak.flagged.tolist() == report.exposures[0].exposed.tolist()
    assert set(lab.lab.issues["hidden_group_evidence"]) >= {"metadata"} or lab.lab.issues["hidden_group_evidence"].any()
    intact = bridge.check(report.samples, ["split_leak"], types=bridge.issue_types(report, "intact"))
    assert not intact.checks[0].flagged.any()
    with pytest.raises(FieldError):
        bridge.issue_types(report, "nothing")


def test_the_example_of_the_readme_runs(small_corpus, tmp_path):
    """As it stands there, with images in the folder IMAGES."""
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (block,) = [b for b in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "fiftyone_hsd.datalab" in b]
    (tmp_path / "IMAGES").symlink_to(small_corpus / "images")
    (tmp_path / "example.py").write_text(block)
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "hidden_group issues" in done.stdout
    assert "43 images can be looked up in train" in done.stdout
