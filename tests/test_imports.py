"""Imports from the package in folders whose own tests `make test` does not run."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("folder", ["benchmarks", "environments", "examples", "training"])
def test_imports_of_other_folders_exist(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "graphwalk":
                module = import_module(node.module or "")
                missing = [name.name for name in node.names if not hasattr(module, name.name)]
                assert not missing, f"{path}: {node.module} has no {missing}"
