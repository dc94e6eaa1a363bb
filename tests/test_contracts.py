"""The folders are registries: one component, one file, one public function, one test file of the same name."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE, TESTS = ROOT / "fiftyone_hsd", ROOT / "tests"

# Folder -> name of the one public function; None = that of the file.
FOLDERS = {"descriptors": None, "trainers": None, "controls": None, "report/sections": "section"}
# Evidence sources name their function after what it finds, and return Links (alone or first in a result).
GROUPING = "grouping"
# Files of grouping/ that hold no evidence source of their own.
NOT_A_SOURCE = ("merge",)


def components(folder: str) -> list[Path]:
    return sorted(p for p in (PACKAGE / folder).glob("*.py") if not p.name.startswith("_"))


def public_functions(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]


def loaded(path: Path):
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return importlib.import_module(dotted)


EVERY = [p for folder in (*FOLDERS, GROUPING) for p in components(folder)]


def label(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


@pytest.mark.parametrize("path", EVERY, ids=label)
def test_a_component_has_a_test_file_of_its_name(path):
    folder = path.parent.relative_to(PACKAGE)
    expected = TESTS / folder / f"test_{path.name}"
    assert expected.is_file(), f"{expected.relative_to(ROOT)} is missing"
    assert "def test_" in expected.read_text("utf-8")


@pytest.mark.parametrize("path", [p for folder in FOLDERS for p in components(folder)], ids=label)
def test_a_component_has_one_public_function_of_the_agreed_name(path):
    folder = path.parent.relative_to(PACKAGE).as_posix()
    assert public_functions(path) == [FOLDERS[folder] or path.stem]


@pytest.mark.parametrize("path", EVERY, ids=label)
def test_a_component_is_documented(path):
    module = loaded(path)
    assert (module.__doc__ or "").strip()
    for name in public_functions(path):
        assert (getattr(module, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("path", components("descriptors"), ids=label)
def test_a_descriptor_is_made_without_arguments_or_by_a_model_name(path):
    required = [
        p
        for p in inspect.signature(getattr(loaded(path), path.stem)).parameters.values()
        if p.default is inspect.Parameter.empty
    ]
    assert len(required) <= 1


@pytest.mark.parametrize("path", components("trainers"), ids=label)
def test_a_trainer_takes_samples_plan_descriptors_config(path):
    parameters = inspect.signature(getattr(loaded(path), path.stem)).parameters
    positional = [n for n, p in parameters.items() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == ["samples", "plan", "descriptors", "config"]
    assert parameters["progress"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["progress"].default is None


@pytest.mark.parametrize("path", components("controls"), ids=label)
def test_a_control_takes_a_study(path):
    parameters = inspect.signature(getattr(loaded(path), path.stem)).parameters
    assert list(parameters) == ["study", "progress"]
    assert parameters["progress"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["progress"].default is None


@pytest.mark.parametrize("path", components("report/sections"), ids=label)
def test_a_section_takes_a_report(path):
    assert list(inspect.signature(loaded(path).section).parameters) == ["report"]


@pytest.mark.parametrize("path", [p for p in components(GROUPING) if p.stem not in NOT_A_SOURCE], ids=label)
def test_an_evidence_source_has_a_public_function(path):
    assert public_functions(path)


def test_the_registries_find_every_file():
    from fiftyone_hsd import descriptors, trainers
    from fiftyone_hsd.report import sections

    controls = importlib.import_module("fiftyone_hsd.controls")
    assert set(controls.names()) == {p.stem for p in components("controls")}
    assert set(descriptors.names()) == {p.stem for p in components("descriptors")}
    assert set(trainers.names()) == {p.stem for p in components("trainers")}
    assert set(sections.names()) == {p.stem for p in components("report/sections")}


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    from fiftyone_hsd import descriptors, trainers
    from fiftyone_hsd.errors import FieldError

    for folder in (descriptors, trainers, importlib.import_module("fiftyone_hsd.controls")):
        with pytest.raises(FieldError, match=folder.names()[0]):
            folder.by_name("no such thing")
