"""YAML and Python of a question are joined by name, and what is missing is named."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import graphwalk.suites.questions
from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.resources import data_path
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.catalogue import choose_kinds, joined, python_part, python_parts, shipped_kinds

WHOLE = """
from graphwalk.suites.questions.kinds import PythonPart

class Part(PythonPart):
    relationship_type: str

    def rows(self, index):
        yield {"count": len(index.relationships_of[self.relationship_type])}

    def plan(self, walker):
        yield []
        return []
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One YAML file, `relationship_count`, and a place for Python parts that can be imported."""
    text = (data_path("templates") / "questions/relationship_count.yaml").read_text(encoding="utf-8")
    (tmp_path / "relationship_count.yaml").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("part_")]:
        del sys.modules[name]


def parts(**modules: str) -> Registry:
    return Registry("Python part of a question", "graphwalk.questions", modules)


def written(folder: Path, module: str, text: str) -> Registry:
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return parts(relationship_count=f"{module}:Part")


def test_every_question_that_ships_is_whole() -> None:
    for kind in shipped_kinds().values():
        python: Any = kind.python
        assert python.__module__ == f"{kinds.__name__}.{kind.name}"
        assert python.brute_force is not kinds.PythonPart.brute_force
        assert kind.template.thoughts.keys() == {"plan", "rule"}


def test_two_files_make_a_question(folder: Path) -> None:
    (kind,) = joined(folder, written(folder, "part_whole", WHOLE)).values()
    assert kind.python is not None
    assert kind.file.path == folder / "relationship_count.yaml"


def test_a_yaml_file_without_python_part_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"relationship_count\.yaml has no Python part") as caught:
        joined(folder, parts())
    assert caught.value.hint == "add graphwalk.suites.questions.kinds.relationship_count"


def test_a_python_part_without_yaml_file_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match="part_lonely has no YAML file") as caught:
        joined(folder, parts(relationship_count="part_whole", lonely="part_lonely"))
    assert caught.value.hint == f"add {folder / 'lonely.yaml'}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def rows", "def lines", "part_broken:Part lacks the method `rows`"),
        ("def plan", "def walk", "part_broken:Part lacks the method `plan`"),
        (
            "relationship_type: str",
            "type: str",
            "part_broken:Part has the fields type; the YAML file has relationship_type",
        ),
        (
            "(PythonPart)",
            "",
            "part_broken:Part is not a class derived from graphwalk.suites.questions.kinds.PythonPart",
        ),
    ],
)
def test_what_a_python_part_lacks_is_named(folder: Path, old: str, new: str, message: str) -> None:
    assert old in WHOLE
    (kind,) = joined(folder, written(folder, "part_broken", WHOLE.replace(old, new))).values()
    with pytest.raises(ConfigError) as caught:
        _ = kind.python
    assert str(caught.value) == message


def test_python_parts_are_imported_when_they_are_asked_for(folder: Path) -> None:
    (kind,) = joined(folder, written(folder, "part_asked", WHOLE)).values()
    assert "part_asked" not in sys.modules
    assert kind.python is not None
    assert "part_asked" in sys.modules


def test_a_name_that_nobody_has_has_no_python_part() -> None:
    assert python_part("no_such") is None
    assert set(python_parts().built_in) == set(shipped_kinds())


def test_a_question_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeated question node_count"):
        choose_kinds(["node_count", "path_finding", "node_count"])


def test_no_module_of_questions_imports_itself_in_a_circle() -> None:
    folder = Path(str(graphwalk.suites.questions.__file__)).parent
    names = {path: ".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.py")}
    modules = {f"graphwalk.suites.questions.{name}".removesuffix(".__init__"): path for path, name in names.items()}
    graph = nx.DiGraph()
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                graph.add_edges_from((module, name) for name in imported & modules.keys())
    assert len(graph) > 20
    assert list(nx.simple_cycles(graph)) == []
