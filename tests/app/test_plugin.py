"""The downloaded plugin without a browser: what is registered, the operator by SDK, delegated, and when it breaks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from fiftyone_hsd import audit, dataset

pytestmark = pytest.mark.mongod

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = "@fiftyone-hsd/hsd"
AUDIT = f"{PLUGIN}/audit"


@pytest.fixture
def operators(fo, downloaded):
    return fo.operators


def child(code, environment, **more):
    """Run code in a process where the package is not installed; the JSON it prints last."""
    clean = f"""
        import sys, json
        from pathlib import Path
        sys.path[:] = [p for p in sys.path if p and Path(p).resolve() != Path({str(REPOSITORY)!r})]
    """
    path = {"PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(clean) + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**environment, **path, **more},
        timeout=180,
        cwd="/",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_one_download_brings_everything(downloaded, environment):
    said, folder = downloaded
    assert "Copying plugin '@fiftyone-hsd/hsd'" in said
    for name in ("fiftyone.yml", "requirements.txt", "plugin", "operators", "fiftyone_hsd", "LICENSE"):
        assert (folder / name).exists()


def test_the_manifest_lists_what_is_registered(fo, operators, downloaded):
    from fiftyone.operators.registry import OperatorRegistry

    manifest = yaml.safe_load((downloaded[1] / "fiftyone.yml").read_text())
    registry = OperatorRegistry()
    assert registry.list_errors() == []
    ours = [o for o in registry.list_operators() if o.uri.startswith(f"{PLUGIN}/")]
    assert sorted(o.name for o in ours) == sorted([*manifest["operators"], *manifest.get("panels", [])])
    labels = {o.name: o.config.label for o in ours}
    assert labels["audit"] == "HSD: audit"
    assert all(labels[name].startswith("HSD: ") for name in manifest["operators"])


def test_the_manifest_and_the_package_are_of_one_version():
    from fiftyone_hsd import __version__

    manifest = yaml.safe_load((REPOSITORY / "fiftyone.yml").read_text())
    assert manifest["version"] == __version__
    assert manifest["py_entry"] == "plugin/__init__.py"


def test_the_audit_by_sdk_equals_the_python_verb(operators, make_dataset, tmp_path):
    found = make_dataset("by-sdk")
    params = {"group_field": "patient", "seeds": 2, "out": str(tmp_path / "report")}
    result = operators.execute_operator(AUDIT, {"dataset": found}, params=params).result
    report = audit(found, group_field="patient", seeds=2)
    assert result["verdict"] == report.verdict
    assert result["images"] == len(found)
    assert result["groups"] == report.grouping.n_groups
    assert [r["condition"] for r in result["conditions"]][:6] == ["existing", "intact", "q25", "q50", "q75", "random"]
    rows = {r["condition"]: r for r in result["conditions"]}
    assert rows["intact"]["exposed"] == "0.0%"
    assert Path(result["report"]).is_file()
    found.reload()
    assert found.list_saved_views() == result["views"]
    assert found.values("hsd_group") == report.grouping.group_ids(report.samples.ids)
    assert json.loads(json.dumps(result)) == result
    dataset.undo(found)


def test_the_audit_of_a_view(operators, make_dataset):
    found = make_dataset("by-view")
    view = found.match_tags("test")
    operator = operators.get_operator(AUDIT)
    result = operator(view, group_field="patient", seeds=1).result
    assert result["images"] == len(view) < len(found)
    found.reload()
    assert len(found.exists("hsd_group")) == len(view)


def test_nothing_is_marked_unless_asked(operators, make_dataset):
    found = make_dataset("unmarked", every=3)
    result = operators.execute_operator(AUDIT, {"dataset": found}, params={"store": False, "seeds": 1}).result
    assert result["fields"] == []
    found.reload()
    assert found.list_runs() == []


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"label_field": "nothing"}, "label_field. Reason: Invalid enum value"),
        ({"group_field": "tags"}, "FieldError: the field 'tags' is a ListField"),
        ({"pattern": "("}, "PatternError: the pattern '\\(' does not compile"),
        ({"groups_by": "pattern", "pattern": "("}, "the pattern '\\(' does not compile"),
        ({"groups_by": "pattern", "pattern": "(?P<group>zzz)"}, "fits none"),
        ({"seeds": -1}, "seeds"),
        ({"out": "relative/folder"}, "absolute path"),
        ({"out": "/etc"}, "holds other files"),
        ({"models": ["nothing"]}, "there is no model 'nothing'"),
    ],
)
def test_arguments_are_checked(operators, make_dataset, params, words):
    found = make_dataset("checked", every=20)
    with pytest.raises(operators.executor.ExecutionError, match=words):
        operators.execute_operator(AUDIT, {"dataset": found}, params=params)
    found.reload()
    assert found.list_runs() == []
    assert not Path("/etc/report.json").exists()


def test_the_download_alone_is_enough(downloaded, environment, make_dataset):
    make_dataset("alone", every=3)
    code = """
        import importlib.util
        spec = importlib.util.find_spec("fiftyone_hsd")
        installed = spec is not None and spec.origin is not None
        import fiftyone as fo, fiftyone.operators as foo
        found = fo.load_dataset("alone")
        params = dict(group_field="patient", seeds=1, models=["nearest_neighbour"])
        result = foo.execute_operator("@fiftyone-hsd/hsd/audit", {"dataset": found}, params=params).result
        import fiftyone_hsd
        heavy = [m for m in ("torch", "faiss", "timm", "typer", "cleanlab") if m in sys.modules]
        print(json.dumps([installed, fiftyone_hsd.__file__, result["images"], heavy]))
    """
    installed, file, images, heavy = child(code, environment)
    if installed:
        pytest.skip("the package is installed here in a way that cannot be hidden")
    assert Path(file).is_relative_to(downloaded[1])
    assert images > 50
    assert heavy == []


def test_a_plugin_that_cannot_be_imported_says_why(downloaded, environment, tmp_path):
    broken = tmp_path / "plugins" / "hsd"
    shutil.copytree(downloaded[1], broken)
    (broken / "fiftyone_hsd" / "settings.py").write_text("import a_package_that_is_not_there\n")
    code = """
        import importlib.util
        spec = importlib.util.find_spec("fiftyone_hsd")
        installed = spec is not None and spec.origin is not None
        import fiftyone.operators as foo
        from fiftyone.operators.registry import OperatorRegistry
        registry = OperatorRegistry()
        ours = [o for o in registry.list_operators() if o.uri.startswith("@fiftyone-hsd/hsd/")]
        shown = ours[0].resolve_input(None).to_json()
        try:
            foo.execute_operator(ours[0].uri, {})
            said = ""
        except Exception as error:
            said = str(error)
        names = [o.name for o in ours]
        print(json.dumps([installed, names, ours[0].config.label, json.dumps(shown), said, registry.list_errors()]))
    """
    installed, names, label, form, said, errors = child(code, environment, FIFTYONE_PLUGINS_DIR=str(broken.parent))
    if installed:
        pytest.skip("the package is installed here in a way that cannot be hidden")
    assert names == ["audit"]
    assert label == "HSD: why this plugin does not work"
    assert "pip install a_package_that_is_not_there" in form
    assert "a_package_that_is_not_there" in said
    assert errors == []


def test_the_app_stops_the_work_when_nobody_listens(fo, operators, make_dataset):
    found = make_dataset("stopped", every=2)
    operator = operators.get_operator(AUDIT)
    request = {"dataset_name": found.name, "params": {"seeds": 50}, "operator_uri": AUDIT}
    executor = operators.executor.Executor()
    ctx = operators.executor.ExecutionContext(request, executor=executor, operator_uri=AUDIT)
    messages = operator.execute(ctx)
    next(messages)
    import threading

    assert [t for t in threading.enumerate() if t.name == "hsd"]
    messages.close()
    for thread in [t for t in threading.enumerate() if t.name == "hsd"]:
        thread.join(60)
        assert not thread.is_alive()
    found.reload()
    assert found.list_runs() == []
