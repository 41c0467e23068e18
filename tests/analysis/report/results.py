"""Minimal results of a log, for reports."""

from collections.abc import Iterable, Iterator
from typing import Any

from graphwalk.analysis.report.episodes import observe
from graphwalk.analysis.report.report import Report, report_on
from graphwalk.analysis.report.suite_report import SuiteReport
from graphwalk.runs.record import ResultRecord

QUESTIONS = (("node_count", "retrieval"), ("path_finding", "traversal"), ("negation_with_connection", "logic"))


def result(model="test/one", setting="tools", graph=0, question=0, repeat=0, correct=True, **changes) -> dict[str, Any]:
    template, category = QUESTIONS[question]
    right = float(correct)
    score = {
        "correct": correct,
        "precision": right,
        "recall": right,
        "f1": right,
        "false_positives": 0 if correct else 2,
        "extraction_stage": "strict",
        "grounded": None if setting == "no_tools" else 1.0,
        "strict_correct": correct,
        "all_properties_correct": None,
        "error_class": None if correct else "extra_rows",
    }
    return {
        "schema_version": 1,
        "task_id": f"{graph}-{template}",
        "model": model,
        "setting": setting,
        "repeat": repeat,
        "exit_status": "answered",
        "answer": [],
        "score": score,
        "turns": 3,
        "tool_calls": 4,
        "usage": {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": None, "cached_tokens": 0, "cost": 0.5},
        "seconds": 1.5,
        "task": {
            "graph_digest": f"g{graph}",
            "template": template,
            "category": category,
            "gold_size": 2,
            "reference_calls": 2,
        },
        "graph": {"digest": f"g{graph}", "nodes": 100 if graph % 2 else 500},
        "trajectory": {"turns": [{"results": [{"seconds": 1.5}, {"seconds": 1.0}]}]},
        **changes,
    }


def failure(**which) -> dict[str, Any]:
    return result(**which) | {"score": None, "exit_status": "model_error", "answer": None}


def run(models=("test/one", "test/two"), graphs=4) -> Iterator[dict[str, Any]]:
    """The first model is always right, the second on the first question only."""
    for graph in range(graphs):
        for question in range(len(QUESTIONS)):
            for number, model in enumerate(models):
                yield result(model, graph=graph, question=question, correct=number == 0 or question == 0)


def build_report(results: Iterable[ResultRecord], declared: SuiteReport, **how: Any) -> Report:
    """Return the report of the objects of a log, in any order."""
    return report_on(observe(results, declared), **how)
