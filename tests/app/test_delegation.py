"""Long operators are scheduled where a worker runs, their forms say what happens, and a real worker does the work."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.mongod

PLUGIN = "@fiftyone-hsd/hsd"
LONG = ("audit", "controls", "effects", "groups", "labels", "train")
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"


@pytest.fixture
def worker(fo, downloaded, environment):
    """A real worker, by the command line that the README names."""
    command = [str(Path(sys.executable).parent / "fiftyone"), "delegated", "launch"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process
    process.terminate()
    process.wait(30)


def options_and_form(fo, name, found):
    """The execution options of an operator, and the words of its form, as the App's server asks for them."""
    operator = fo.operators.get_operator(f"{PLUGIN}/{name}")
    request = {"dataset_name": found.name, "params": {}}
    executor = fo.operators.executor.Executor()
    ctx = fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=operator.uri)
    words = json.dumps(operator.resolve_type(ctx, "inputs").to_json()["type"]["properties"].get("scheduling"))
    # An answer is kept for a few seconds, since a form asks at every key stroke.
    scheduling = sys.modules[type(operator).__module__.rpartition(".")[0] + "._scheduling"]
    scheduling._LAST[0] = float("-inf")
    return operator.resolve_execution_options(ctx).to_dict(), words


@pytest.mark.parametrize("name", LONG)
def test_the_form_says_what_happens_where_nobody_works(fo, downloaded, make_dataset, monkeypatch, name):
    found = make_dataset("nobody", every=20)
    monkeypatch.setattr(fo.config, "allow_legacy_orchestrators", False)
    options, words = options_and_form(fo, name, found)
    assert (options["allow_immediate_execution"], options["default_choice_to_delegated"]) == (True, False)
    assert "FIFTYONE_ALLOW_LEGACY_ORCHESTRATORS=true" in words
    monkeypatch.setattr(fo.config, "allow_legacy_orchestrators", True)
    options_and_form(fo, name, found)
    options, words = options_and_form(fo, name, found)
    assert (options["allow_delegated_execution"], options["default_choice_to_delegated"]) == (True, False)
    assert "No worker was seen" in words


def test_short_operators_are_not_scheduled(fo, downloaded, make_dataset, monkeypatch):
    monkeypatch.setattr(fo.config, "allow_legacy_orchestrators", True)
    options, words = options_and_form(fo, "undo", make_dataset("short", every=20))
    assert (words, options["default_choice_to_delegated"]) == ("null", False)


def test_a_real_worker_does_the_work(fo, worker, make_dataset, monkeypatch):
    from fiftyone.operators.delegated import DelegatedOperationService

    found, service = make_dataset("delegated", every=2), DelegatedOperationService()
    monkeypatch.setattr(fo.config, "allow_legacy_orchestrators", True)
    options_and_form(fo, "audit", found)
    assert all(options_and_form(fo, name, found)[0]["default_choice_to_delegated"] for name in LONG)
    assert "A worker runs" in options_and_form(fo, "audit", found)[1]

    def done(name, **params):
        """The finished operation of one operator."""
        uri = f"{PLUGIN}/{name}"
        queued = fo.operators.execute_operator(uri, {"dataset": found}, params=params, request_delegation=True)
        assert queued.delegated
        end = time.monotonic() + 150
        while (operation := service.list_operations(operator=uri)[0]).run_state not in ("completed", "failed"):
            assert time.monotonic() < end, f"the worker did not finish {name} in 150 s"
            time.sleep(0.3)
        assert operation.run_state == "completed", operation.result
        return operation

    operation = done("audit", pattern=FIELD_OF_VIEW, seeds=1, models=["nearest_neighbour"])
    assert operation.result.result["images"] == len(found)
    assert operation.status.label
    found.reload()
    assert "hsd_intact" in found.get_field_schema()
    assert done("groups", pattern=FIELD_OF_VIEW).result.result["images"] == len(found)
    result = done("effects").result.result
    assert result["verdict"] == operation.result.result["verdict"]
    assert [r["condition"] for r in result["conditions"]][:2] == ["existing", "intact"]
