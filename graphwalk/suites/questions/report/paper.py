"""The figures that the paper prints about questions."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.report.declared import Reference
from graphwalk.resources import data_path

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "retrieval": (
        *("node_count", "relationship_count", "node_with_most_relationships", "node_by_property"),
        "relationship_by_property",
    ),
    "traversal": ("path_finding", "variable_hop_path", "path_from_specific_node", "remote_node_property"),
    "logic": ("compositional_intersection", "negation_with_connection", "negation_on_rel_property"),
}
"""In the order of the paper's Table 3."""
QUESTIONS = tuple(question for questions in CATEGORIES.values() for question in questions)
_TABLES = ("table_2_questions", "table_3_correct_of_10_by_question", "table_4_graph_size")
_OF_ALL, _OF_EACH = 120, 10
"""Questions that a model was asked in all, and of each kind."""


def paper_reference(name: str) -> Reference:
    """Figures of the paper that belong to one of its tables. ConfigError where it has no such table."""
    if name not in _TABLES:
        raise ConfigError(f"the paper has no table {name!r} of questions", hint=f"reference: {' or '.join(_TABLES)}")
    paper = _paper()
    notes = tuple(paper["notes"])
    if name == "table_4_graph_size":
        sizes = tuple(_counted(row) for row in paper[name])
        return Reference(f"{paper['source']}, Table 4", notes, groups={"nodes": sizes})
    overall = tuple(_overall(**row) for row in paper["table_2_questions"])
    table = paper["table_3_correct_of_10_by_question"]
    groups = {
        "category": tuple(_grouped(table, "category", CATEGORIES)),
        "question": tuple(_grouped(table, "question", {question: (question,) for question in QUESTIONS})),
    }
    return Reference(f"{paper['source']}, Tables 2 and 3", notes, overall, groups)


def _overall(correct_of_120: int, **row: Any) -> dict[str, Any]:
    return {**row, "correct": correct_of_120, "questions": _OF_ALL}


def _counted(row: Mapping[str, Any]) -> dict[str, Any]:
    """With the count that the printed percentage was made from."""
    return {**row, "correct": round(row["accuracy"] * _OF_ALL / 100), "questions": _OF_ALL}


def _grouped(table: list[dict[str, Any]], name: str, groups: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    for group, questions in groups.items():
        asked = _OF_EACH * len(questions)
        for row in table:
            correct = sum(row[question] for question in questions)
            counts = {"correct": correct, "questions": asked, "accuracy": round(100 * correct / asked, 2)}
            yield {"model": row["model"], "setting": row["setting"], name: group, **counts}


@cache
def _paper() -> dict[str, Any]:
    paper: dict[str, Any] = json.loads((data_path("templates") / "reports" / "graphwalk-paper.json").read_text("utf-8"))
    return paper
