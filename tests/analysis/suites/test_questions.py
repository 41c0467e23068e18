"""The report of questions: its tables, with baselines and the paper's figures."""

from typing import Any

import pytest

from graphwalk.analysis.report.formats import text_tables
from graphwalk.analysis.report.text_table import TextTable
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.analysis.suites.questions import baselines
from graphwalk.suites.questions.catalogue import choose_kinds
from graphwalk.suites.suite import suite_named
from tests.analysis.report.results import build_report, result

DECLARED = analysis_of(suite_named("questions")).report()
ASKED = {kind.name: kind.category for kind in choose_kinds()}
SIZES = {"nodes": 100, "relationships": 300}


def result_of(template: str, category: str, graph: int = 0, **task: Any) -> dict[str, Any]:
    entry = result(graph=graph, task_id=f"{graph}-{template}") | {"graph": {"digest": f"g{graph}", **SIZES}}
    changes = {"template": template, "category": category, "mode": "set", "candidates": 20, **task}
    return entry | {"task": entry["task"] | changes}


def run(graphs: int = 2) -> list[dict[str, Any]]:
    return [
        result_of(question, category, graph) | {"model": model, "setting": setting}
        for model in ("openai/gpt-4.1", "other/m")
        for setting in ("tools", "no_tools")
        for graph in range(graphs)
        for question, category in ASKED.items()
    ]


def cells(table: TextTable) -> list[dict[str, str]]:
    return [{column.heading: column.text(row) for column in table.columns} for row in table.rows]


def by_title(results: list[dict[str, Any]], reference: str = "table_2_questions") -> dict[str, TextTable]:
    report = build_report(results, DECLARED, reference=DECLARED.reference(reference))
    return {table.title: table for table in text_tables(report)}


def test_groups_have_the_counts_of_the_papers_tables_3_and_4() -> None:
    sizes = [{"digest": f"g{nodes}", "nodes": nodes} for nodes in (100, 500)]
    results = [
        entry | {"graph": size, "task_id": f"{size['nodes']}-{i}"} for size in sizes for i, entry in enumerate(run(1))
    ]
    for reference, title, model, counts in (
        ("table_2_questions", "By category", "o4-mini (paper)", ["26", "19", "14"]),
        ("table_4_graph_size", "By graph size", "gpt-4.1 (paper)", ["35", "21", "32", "13"]),
    ):
        rows = cells(by_title(results, reference)[title])
        assert [row["Correct"] for row in rows if row["Model"] == model] == counts


def chance(entry: dict[str, Any]) -> dict[str, Any] | None:
    return next((baseline["score"] for baseline in baselines(entry) if baseline["model"] == "chance"), None)


@pytest.mark.parametrize(
    ("template", "task", "scores"),
    [
        ("remote_node_property", {"mode": "any-one", "candidates": 5, "gold_size": 3}, (0.6, 0.6, 0.6, 0.6)),
        ("path_finding", {"gold_size": 4}, (0, 0.2, 0.05, 0.2 * 2 / 5)),
        ("node_by_property", {"gold_size": 1}, (1 / 20, 1 / 20, 1 / 20, 1 / 20)),
        ("node_count", {"candidates": None, "gold_size": 1}, (1 / 100,) * 4),
        ("relationship_count", {"candidates": None, "gold_size": 1}, (1 / 300,) * 4),
        ("node_with_most_relationships", {"candidates": None, "gold_size": 1}, (1 / 30_000,) * 4),
    ],
)
def test_chance_is_what_one_valid_row_scores(template: str, task: dict[str, Any], scores: tuple[float, ...]) -> None:
    value = chance(result_of(template, "retrieval", **task))
    assert value is not None
    assert tuple(value[name] for name in ("correct", "precision", "recall", "f1")) == pytest.approx(scores)
