"""`graphwalk.extend` has all that the shipped packages need, and nothing of it is imported before it is used."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphwalk import extend
from tests.extending.packages import REPOSITORY

PACKAGES = sorted((REPOSITORY / "examples").rglob("*.py"))


def imported_from_graphwalk(path: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import from GraphWalk in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "graphwalk":
                    yield alias.name, ""
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "graphwalk":
            for alias in node.names:
                yield node.module or "", alias.name


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_shipped_packages_import_nothing_else_of_graphwalk(path: Path) -> None:
    for module, name in imported_from_graphwalk(path):
        is_public = (module, name) == ("graphwalk", "") or module == "graphwalk.extend"
        assert is_public, f"{module}.{name} is not in graphwalk.extend"
        assert not name or name in extend.__all__


def test_the_packages_that_extend_it_are_seen() -> None:
    users = [
        path for path in PACKAGES if any(module == "graphwalk.extend" for module, _ in imported_from_graphwalk(path))
    ]
    assert len(users) >= 8


def test_every_name_exists_and_is_in_the_list_at_the_top() -> None:
    for name in extend.__all__:
        getattr(extend, name)
    described: list[str] = []
    for line in (extend.__doc__ or "").splitlines():
        # "    export      Episodes Result", or the rest of the line above it
        if match := re.fullmatch(r"    (\w*) +((?:\w+ ?)+)", line):
            described += match[2].split()
    assert sorted(described) == sorted(extend.__all__)


def test_a_run_with_such_a_package_imports_no_data_frame() -> None:
    code = "import sys, graphwalk.extend; print({'polars', 'scipy', 'graphwalk.analysis', 'graphwalk.testing'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
