"""The queries and presets of docs/method.md are those that run."""

import re
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment

from graphwalk.graphs.generate import GRAPH_PRESETS

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


def test_the_presets_are_those_of_the_generator() -> None:
    rows = re.findall(r"^\| `(paper-\S+)` \| (.+) \|$", section("Graphs"), re.MULTILINE)
    written = {name: list(map(float, cells.split("|"))) for name, cells in rows}
    assert written == {name: [float(value) for value in preset.values()] for name, preset in GRAPH_PRESETS.items()}
