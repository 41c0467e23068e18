"""The presets, the questions, their queries and the causes of wrong answers, for docs/method.md."""

import importlib
from typing import Any

import yaml
from jinja2 import Environment

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.resources import data_path
from graphwalk.graphs.generate import GRAPH_PRESETS
from graphwalk.suites.questions.catalogue import choose_kinds
from graphwalk.suites.suite import suite_named

LETTERS = {
    **{"source_label": "S", "target_label": "T", "middle_label": "M", "label": "L", "relationship_type": "R"},
    **{"first_label": "T₁", "second_label": "T₂", "required_label": "P", "excluded_label": "Q", "max_hops": "n"},
    **{"property": "p", "node_property": "p", "relationship_property": "q", "any_node": ""},
}
"""How the page abbreviates what a query names."""


def preset_rows() -> str:
    """Return the rows of the table of presets."""
    return "\n".join(
        f"| `{name}` | {' | '.join(map(str, preset.values()))} |" for name, preset in GRAPH_PRESETS.items()
    )


def question_rows() -> str:
    """Return the rows of the table of the questions of [G]; what each asks for is the docstring of its module."""
    rows = []
    for kind in choose_kinds():
        module = importlib.import_module(f"graphwalk.suites.questions.kinds.{kind.name}")
        asks_for = (module.__doc__ or "").rstrip(".")
        fields = ", ".join(f"`{field}`" for field in kind.answer_fields)
        more = ", and all properties" if kind.answer_properties_of else ""
        parameters = ", ".join(f"`{name}`" for name in kind.parameters)
        rows.append(f"| `{kind.name}` | {kind.category} | {asks_for} | {fields}{more} | {parameters} |")
    return "\n".join(rows)


def cause_rows() -> str:
    """Return the rows of the table of causes of wrong answers, in the order in which they are tried."""
    causes = analysis_of(suite_named("questions")).report().causes
    return "\n".join(f"| `{cause.field}` | {cause.legend} |" for cause in causes)


def queries() -> str:
    """Return the Cypher of the questions of [G], each below its name, as a block of code."""
    lines = [line for kind in choose_kinds() for line in (f"// {kind.name}", _query(kind.name))]
    return "\n".join(["```cypher", *lines, "```"])


def _query(name: str) -> str:
    question: dict[str, Any] = yaml.safe_load(
        (data_path("templates") / "questions" / f"{name}.yaml").read_text("utf-8")
    )
    environment = Environment()
    environment.filters.update(dict.fromkeys(("label", "type", "property", "hops"), str))
    environment.filters["key_of"] = "{}.key".format
    environment.filters["of"] = lambda name, variable, label=None: f"{variable}.{name}"
    query = environment.from_string(question["cypher"]).render(LETTERS, answer_properties=["p"])
    more = ", …" if "answer_properties_of" in question else ""
    return " ".join(query.split()).replace("{ ", "{") + more
