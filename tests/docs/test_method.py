"""The method as it is written down is the one that is carried out: tables and queries of docs/method.md."""

import re
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment

from graphwalk.graphs.generate import GRAPH_PRESETS
from graphwalk.types.episode import ExitStatus

ROOT = Path(__file__).parents[2]
METHOD = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
QUESTIONS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / "templates/questions").glob("*.yaml")
}
LETTERS = {
    **{"source_label": "S", "target_label": "T", "middle_label": "M", "label": "L", "relationship_type": "R"},
    **{"first_label": "T₁", "second_label": "T₂", "required_label": "P", "excluded_label": "Q", "max_hops": "n"},
    **{"property": "p", "node_property": "p", "relationship_property": "q", "any_node": ""},
}
"""How the page abbreviates what a query names."""


def section(title: str) -> str:
    return METHOD.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of all tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def written_query(question: dict[str, Any]) -> str:
    environment = Environment()
    environment.filters.update(dict.fromkeys(("label", "type", "property", "hops"), str))
    environment.filters["key_of"] = "{}.key".format
    environment.filters["of"] = lambda name, variable, label=None: f"{variable}.{name}"
    rendered = environment.from_string(question["cypher"]).render(LETTERS, answer_properties=["p"])
    return " ".join(rendered.split()).replace("{ ", "{")


def test_the_queries_are_those_of_the_templates() -> None:
    written = dict(re.findall(r"^// (\w+)\n(.+)$", section("Questions"), re.MULTILINE))
    assert written
    for name, query in written.items():
        assert query.removesuffix(", …") == written_query(QUESTIONS[name])


def test_class_fields_and_parameters_are_those_of_the_templates() -> None:
    written = rows(section("Questions"))
    classes = {names(row[0])[0]: (row[1], names(row[3])) for row in written if len(row) == 5 and names(row[0])}
    parameters = {names(row[0])[0]: names(row[4]) for row in written if len(row) == 5 and names(row[0])}
    assert classes == {name: (QUESTIONS[name]["class"], QUESTIONS[name]["answer_fields"]) for name in classes}
    assert parameters == {name: list(QUESTIONS[name]["parameters"]) for name in classes}


def test_the_arguments_of_the_tools_are_those_of_their_files() -> None:
    written = {names(row[0])[0]: names(row[1]) for row in rows(section("Tools")) if names(row[0])}
    assert len(written) == 5
    for name, arguments in written.items():
        tool = yaml.safe_load((ROOT / "tools" / f"{name}.yaml").read_text("utf-8"))
        assert [argument for argument in arguments if argument in tool["parameters"]] == list(tool["parameters"])


def test_the_presets_are_those_of_the_generator() -> None:
    written = {
        row[0].strip("`"): [float(cell) for cell in row[1:]] for row in rows(section("Graphs")) if "paper" in row[0]
    }
    assert written == {name: [float(value) for value in preset.values()] for name, preset in GRAPH_PRESETS.items()}


def test_every_state_of_an_episode_is_told_with_whether_it_is_scored() -> None:
    written = {names(row[0])[0]: row[2].startswith("yes") for row in rows(section("Agent")) if names(row[0])}
    assert written == {status.value: not status.infrastructure for status in ExitStatus}
