"""Imports point down, and third parties come in through the doors that design names."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "fiftyone_hsd"

# From the bottom up. A file may import files of lower layers, and files of its own component (same folder, or the
# files that one line names together with `+`).
LAYERS = (
    "__version__",
    "errors",
    "progress places",
    "model",
    "store settings",
    "control_settings",
    "images agreement",
    "pixel_rows",
    "folder",
    "descriptors",
    "scan",
    "encoding local_features",
    "similarity + similarity_blocks + similarity_faiss + similarity_torch",
    "calibration",
    "grouping",
    "splitting",
    "exposure judging",
    "exposing",
    "trainers",
    "launch",
    "stats + metrics",
    "dependence matched_swap",
    "effects + scoreboard + class_effects + plan_effects + two_class",
    "verdict",
    "carried",
    "controls",
    "out_of_fold",
    "datalab",
    "label_issues + label_beliefs",
    "report",
    "dataset",
    "audit + audit_groups",
    "sensitivity",
    "recompute narrowing",
    "train + train_inputs + train_joining",
    "leaks + leaks_inputs",
    "release",
    "grouped control_experiments",
    "repair labels ladder groups",
    "__init__",
    "drawn doctor",
    "cli",
)

# Third party -> the files that may import it.
DOORS = {
    "fiftyone": ("dataset",),
    "torch": ("similarity_torch", "descriptors", "trainers"),
    "torchvision": ("descriptors", "trainers"),
    "timm": ("descriptors/timm_model", "descriptors/_timm_networks", "trainers"),
    "open_clip": ("descriptors/open_clip_model",),
    "accelerate": ("trainers",),
    "ray": ("launch",),
    "faiss": ("similarity", "similarity_faiss"),
    "cleanlab": ("datalab",),
    "datasets": ("datalab",),
    "typer": ("cli",),
    "rich": ("cli",),
}
LAZY = ("fiftyone", "torch", "torchvision", "timm", "open_clip", "accelerate", "ray", "faiss", "cleanlab", "datasets")


def files() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts and "_plugin" not in p.parts)


def name_of(path: Path) -> str:
    """`report/sections/groups`, or `report` for its __init__; the package's own __init__ is `__init__`."""
    relative = path.relative_to(PACKAGE).with_suffix("")
    parts = relative.parts[:-1] if relative.name == "__init__" and len(relative.parts) > 1 else relative.parts
    return "/".join(parts)


def imports(path: Path) -> Iterator[tuple[str, ast.stmt, bool]]:
    """(dotted absolute module, node, at module level) of every import of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    package = ["fiftyone_hsd", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from . import a` imports the module a if there is one, else the name a of the package.
            found = [f"{module}.{alias.name}" for alias in node.names] if _is_package(module) else [module]
        else:
            continue
        for name in found:
            yield name, node, not _inside_function(node) and not _for_types_only(node)


def _is_package(dotted: str) -> bool:
    parts = dotted.split(".")
    return parts[0] == "fiftyone_hsd" and PACKAGE.joinpath(*parts[1:]).is_dir()


def _ancestors(node: ast.AST) -> Iterator[ast.AST]:
    while (node := getattr(node, "parent", None)) is not None:
        yield node


def _inside_function(node: ast.AST) -> bool:
    return any(isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for a in _ancestors(node))


def _for_types_only(node: ast.AST) -> bool:
    return any(isinstance(a, ast.If) and "TYPE_CHECKING" in ast.unparse(a.test) for a in _ancestors(node))


def component(name: str) -> str:
    """First part of a name; a name that is imported from the package itself is `__init__`'s or `__version__`."""
    return name.split("/")[0]


def ranks() -> dict[str, tuple[int, int]]:
    """Component -> (layer, number of the group of components that count as one)."""
    result = {}
    number = 0
    for layer, line in enumerate(LAYERS):
        together = False
        for word in line.split():
            if word == "+":
                together = True
                continue
            number += not together
            together = False
            result[word] = (layer, number)
    return result


def target_of(dotted: str) -> str | None:
    """Component that a dotted import of our own leads to, None for third parties."""
    parts = dotted.split(".")
    if parts[0] != "fiftyone_hsd":
        return None
    if len(parts) == 1:
        return "__init__"
    first = parts[1]
    if (PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").is_file():
        return first
    return "__version__" if first == "__version__" else "__init__"


def upward(path: Path) -> list[str]:
    """Imports of a file that do not point down, in words."""
    rank = ranks()
    own = component(name_of(path))
    wrong = []
    for dotted, node, _ in imports(path):
        target = target_of(dotted)
        if target is None or target == own or not {own, target} <= rank.keys():
            continue  # an unknown component is another test's finding
        (mine, group), (theirs, other) = rank[own], rank[target]
        if theirs > mine or (theirs == mine and group != other):
            wrong.append(f"{name_of(path)}:{node.lineno} imports {dotted}")
    return wrong


def strangers(path: Path) -> list[str]:
    """Imports of third parties that come in by no door, or heavily at module level, in words."""
    name = name_of(path)
    wrong = []
    for dotted, node, eager in imports(path):
        root = dotted.split(".")[0]
        doors = DOORS.get(root)
        if doors is not None and not any(name == d or name.startswith(f"{d}/") for d in doors):
            wrong.append(f"{name}:{node.lineno} imports {root}; its doors are {', '.join(doors)}")
        if root in LAZY and eager:
            wrong.append(f"{name}:{node.lineno} imports {root} at module level")
    return wrong


def test_every_component_has_a_layer():
    rank = ranks()
    unknown = sorted({component(name_of(p)) for p in files()} - set(rank))
    assert not unknown, f"say in LAYERS where these belong: {unknown}"


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_imports_point_down(path):
    assert not upward(path)


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_third_parties_come_in_through_their_doors(path):
    assert not strangers(path)


def test_only_declared_third_parties_are_imported():
    ours = {"fiftyone_hsd", "__future__", *sys.stdlib_module_names}
    # tifffile comes with scikit-image, markupsafe with jinja2.
    base = {
        "tifffile",
        "markupsafe",
        "numpy",
        "scipy",
        "sklearn",
        "skimage",
        "cv2",
        "PIL",
        "pandas",
        "plotly",
        "jinja2",
        "pydantic",
        "regex",
    }
    optional = {*DOORS, "bson", "pymongo", "threadpoolctl", "pydicom", "safetensors"}
    used = {dotted.split(".")[0] for p in files() for dotted, _, _ in imports(p)}
    assert not used - ours - base - optional


def test_the_checker_sees_what_it_must(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "model.py").write_text("from .scan import scan\nfrom .errors import HsdError\n")
    (tmp_path / "errors.py").write_text("def f():\n    import torch\n")
    (tmp_path / "scan.py").write_text("import faiss\n")
    (tmp_path / "similarity.py").write_text("import faiss\nfrom . import model, audit\n")
    (tmp_path / "audit.py").write_text("")
    assert [w.split(" imports ")[1] for w in upward(tmp_path / "model.py")] == ["fiftyone_hsd.scan"]
    assert "torch" in strangers(tmp_path / "errors.py")[0]
    assert len(strangers(tmp_path / "scan.py")) == 2
    assert ["at module level" in w for w in strangers(tmp_path / "similarity.py")] == [True]
    assert len(upward(tmp_path / "similarity.py")) == 1
