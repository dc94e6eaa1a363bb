"""What holds for every section."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from fiftyone_hsd.model import AuditReport
from fiftyone_hsd.report import sections
from fiftyone_hsd.report.blocks import Facts, Figure, Section, Table

FOLDER = Path(sections.__file__).parent


@pytest.mark.parametrize("name", sections.names())
def test_one_file_one_public_function_one_test(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    public = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    assert public[0] == "section"
    assert ast.get_docstring(tree)
    assert Path(__file__).with_name(f"test_{name}.py").exists()


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("split", [True, False])
def test_every_table_is_rectangular_and_every_key_unique(
    case: Callable[..., AuditReport], tmp_path: Path, labelled: bool, grouped: bool, split: bool
) -> None:
    built = sections.build(case(tmp_path, n=40, labelled=labelled, grouped=grouped, split=split))
    assert len({s.key for s in built}) == len(built)
    assert [s.order for s in built] == sorted(s.order for s in built)
    for section in built:
        assert section.lead or section.blocks
        for block in section.blocks:
            tables = [block] if isinstance(block, Table) else [block.rows] if isinstance(block, Figure) else []
            for table in filter(None, tables):
                assert {len(r) for r in table.rows} <= {len(table.columns)}
            if isinstance(block, Facts):
                assert block.rows


def test_absence_is_never_called_purity(case: Callable[..., AuditReport], tmp_path: Path) -> None:
    for section in sections.build(case(tmp_path, n=40, grouped=False)):
        words = " ".join([section.lead, *(str(dataclasses.asdict(b)) for b in section.blocks)]).lower()
        assert "is clean" not in words
        assert words.count("clean") == words.count("not “clean”")


def test_extra_sections_take_their_place(report: AuditReport) -> None:
    built = sections.build(report, [lambda r: Section("mine", "m", 15, "x", ()), lambda r: None])
    keys = [s.key for s in built]
    assert keys[keys.index("mine") - 1] == "read"
    assert keys[keys.index("mine") + 1] == "groups"
