"""The package as a graph of imports."""

import ast
from importlib import import_module
from pathlib import Path

import grimp
import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]


def test_no_circle_of_imports_in_the_whole_package() -> None:
    """Imports for type checkers alone do not count: a task knows its score, whose annotations name the task."""
    found = grimp.build_graph("graphwalk", exclude_type_checking_imports=True, cache_dir=None)
    imports = nx.DiGraph(
        (one, other) for one in found.modules for other in found.find_modules_directly_imported_by(one)
    )
    assert ("graphwalk.terminal.console", "graphwalk.variables") in imports.edges
    assert [sorted(members) for members in nx.strongly_connected_components(imports) if len(members) > 1] == []


@pytest.mark.parametrize("folder", ["benchmarks", "environments", "examples", "training"])
def test_imports_of_other_folders_exist(folder: str) -> None:
    """Some of these packages are tested in environments of their own, which `make test` does not build."""
    for path in (ROOT / folder).rglob("*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.ImportFrom) and (one.module or "").partition(".")[0] == "graphwalk":
                module = import_module(one.module or "")
                missing = [name.name for name in one.names if not hasattr(module, name.name)]
                assert not missing, f"{path}: {one.module} has no {missing}"
