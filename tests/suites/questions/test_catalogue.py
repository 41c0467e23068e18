"""YAML and Python of a question are joined by name, and what is missing is named."""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import graphwalk.suites.questions
from graphwalk.errors import ConfigError
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.catalogue import checked_part, choose_kinds, python_part, python_parts, shipped_kinds
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.kinds.relationship_count import Part


class NoRows(PythonPart):
    relationship_type: str
    plan = Part.plan


class NoPlan(PythonPart):
    relationship_type: str
    rows = Part.rows


class OtherField(Part):
    type: str


def test_every_question_that_ships_is_whole() -> None:
    assert set(python_parts().built_in) == set(shipped_kinds())
    for kind in shipped_kinds().values():
        python: Any = kind.python
        assert python.__module__ == f"{kinds.__name__}.{kind.name}"
        assert python.brute_force is not PythonPart.brute_force
        assert kind.template.thoughts.keys() == {"plan", "rule"}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (NoRows, "mine lacks the method `rows`"),
        (NoPlan, "mine lacks the method `plan`"),
        (OtherField, "mine has the fields relationship_type, type; the YAML file has relationship_type"),
        (object, "mine is not a class derived from graphwalk.suites.questions.kinds.PythonPart"),
    ],
)
def test_what_a_python_part_lacks_is_named(part: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_part(part, "mine", ["relationship_type"])
    assert str(caught.value) == message


def test_an_unknown_name_has_no_python_part() -> None:
    assert python_part("no_such") is None


def test_python_parts_are_imported_when_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{kinds.__name__}.node_count"
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert "node_count" in python_parts()
    assert name not in sys.modules
    assert python_part("node_count") is not None
    assert name in sys.modules


def test_a_question_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeated question node_count"):
        choose_kinds(["node_count", "path_finding", "node_count"])


def test_no_module_of_questions_imports_itself_in_a_circle() -> None:
    folder = Path(str(graphwalk.suites.questions.__file__)).parent
    names = {path: ".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.py")}
    modules = {f"graphwalk.suites.questions.{name}".removesuffix(".__init__"): path for path, name in names.items()}
    graph = nx.DiGraph()
    for module, path in modules.items():
        text = re.sub(r"^if TYPE_CHECKING:\n(?:    .*\n)+", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                imported = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                graph.add_edges_from((module, name) for name in imported & modules.keys())
    assert len(graph) > 20
    assert list(nx.simple_cycles(graph)) == []
