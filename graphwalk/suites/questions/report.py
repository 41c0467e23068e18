"""The report of questions: measures, break-downs, columns, baselines and the paper's figures."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.report.common import EFFORT, OUTCOME, count_if, if_scored, scored
from graphwalk.report.declared import Column, Grouping, Measure, Reference, ResultRecord, SuiteReport
from graphwalk.report.formats import dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.resources import data_path
from graphwalk.suites.questions.scoring import EARLIER_ERROR_CLASSES, ERROR_CLASSES

_CATEGORIES = ("retrieval", "traversal", "logic")
_QUESTIONS = (
    *("node_count", "relationship_count", "node_with_most_relationships", "node_by_property"),
    *("relationship_by_property", "path_finding", "variable_hop_path", "path_from_specific_node"),
    *("remote_node_property", "compositional_intersection", "negation_with_connection", "negation_on_rel_property"),
)
"""In the order of the paper's Table 3."""
_TABLES = ("table_2_questions", "table_3_correct_of_10_by_question", "table_4_graph_size")


def _error_class(name: str) -> Callable[[ResultRecord], float | None]:
    return count_if(lambda result: bool(result["score"]) and result["score"].get("error_class") == name)


def _per_answer(result: ResultRecord) -> float | None:
    score = result["score"]
    return float(score["false_positives"]) if score.get("answered") else None


def _without_think(result: ResultRecord) -> float | None:
    return float(result["tool_calls"] - result["score"].get("think_calls", 0))


MEASURES = (
    *OUTCOME,
    Measure("strict_correct", "count", scored("strict_correct")),
    Measure("strict_accuracy", "percent", scored("strict_correct")),
    Measure("all_properties_accuracy", "percent", scored("all_properties_correct")),
    Measure("precision", "mean", scored("precision")),
    Measure("recall", "mean", scored("recall")),
    Measure("f1", "mean", scored("f1")),
    Measure("answered", "count", scored("answered")),
    Measure("false_positives", "count", scored("false_positives")),
    Measure("false_positives_per_answered", "mean", if_scored(_per_answer)),
    Measure("grounded", "mean", scored("grounded")),
    Measure("last_mile", "count", scored("last_mile")),
    *(Measure(name, "count", _error_class(name)) for name in ERROR_CLASSES),
    Measure("tool_calls_without_think", "count", if_scored(_without_think)),
    *(
        Measure(name, "count", scored(name))
        for name in ("repeated_calls", "cycles", "unused_results", "tool_errors", "parallel_calls")
    ),
    *EFFORT,
)

_QUALITY = (
    Column("C", "correct", integer),
    Column("of", "questions", integer),
    Column("A %", "accuracy", two_decimals, interval=one_decimal),
    Column("P", "precision", two_decimals, optional=2, interval=two_decimals),
    Column("R", "recall", two_decimals, optional=2, interval=two_decimals),
    Column("F1", "f1", two_decimals, optional=1, interval=two_decimals),
    Column("FP", "false_positives", integer, optional=1),
)

COLUMNS = (
    *_QUALITY,
    Column("FP/ans", "false_positives_per_answered", two_decimals, optional=6, interval=two_decimals),
    Column("calls", "tool_calls", integer, optional=1),
    Column("calls/q", "calls_per_question", one_decimal, optional=5, interval=one_decimal),
    Column("no think", "tool_calls_without_think", integer, optional=9),
    Column("time/q", "seconds_per_question", duration, optional=4),
    Column("tokens", "tokens", short, optional=3),
    Column("cost", "cost", dollars, optional=3),
    Column("failed", "infrastructure_failures", integer, optional=3),
    Column("strict A %", "strict_accuracy", two_decimals, optional=7, interval=one_decimal),
    Column("grounded", "grounded", two_decimals, optional=7, interval=two_decimals),
    Column("last mile", "last_mile", integer, optional=8),
)

GROUP_COLUMNS = (
    *_QUALITY,
    Column("calls/q", "calls_per_question", one_decimal, optional=3, interval=one_decimal),
    Column("grounded", "grounded", two_decimals, optional=4),
    Column("failed", "infrastructure_failures", integer, optional=5),
)


def paper_reference(name: str) -> Reference:
    """Figures of the paper that belong to one of its tables. ConfigError where it has no such table."""
    if name not in _TABLES:
        raise ConfigError(f"the paper has no table {name!r} of questions", hint=f"reference: {' or '.join(_TABLES)}")
    paper = _paper()
    notes = tuple(paper["notes"])
    if name == "table_4_graph_size":
        rows = tuple({**row, "questions": 120} for row in paper[name])
        return Reference(f"{paper['source']}, Table 4", notes, groups={"nodes": rows})
    overall = tuple(_overall(**row) for row in paper["table_2_questions"])
    by_question = tuple(_by_question(paper["table_3_correct_of_10_by_question"]))
    return Reference(f"{paper['source']}, Tables 2 and 3", notes, overall, {"question": by_question})


def _overall(correct_of_120: int, **row: Any) -> dict[str, Any]:
    return {**row, "correct": correct_of_120, "questions": 120}


def _by_question(table: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for question in _QUESTIONS:
        for row in table:
            correct = {"correct": row[question], "questions": 10, "accuracy": 10.0 * row[question]}
            yield {"model": row["model"], "setting": row["setting"], "question": question, **correct}


@cache
def _paper() -> dict[str, Any]:
    paper: dict[str, Any] = json.loads((data_path("templates") / "reports" / "graphwalk-paper.json").read_text("utf-8"))
    return paper


def remark(result: ResultRecord) -> str | None:
    """A score of an earlier version; a question whose answers nothing but its own Cypher confirms."""
    if (result["score"] or {}).get("error_class") in EARLIER_ERROR_CLASSES:
        return "Some errors have classes of an earlier version and are in no column of today's: graphwalk rescore RUN."
    task = result["task"]
    if task.get("oracles", 2) == 2:
        return None
    return f"{task['template']} has one oracle only: its targets come from its Cypher, and no evaluator confirms them."


def baselines(result: ResultRecord) -> Iterator[ResultRecord]:
    """Players that need not be run: "always empty", and "everything", which gives every candidate row.

    `candidates` of a task is the number of rows that the form of its answer allows (nodes of the asked label, pairs
    of nodes of the asked labels, …); where a task does not record it, nothing is known about "everything".
    """
    task = result["task"]
    gold = task["gold_size"]
    yield _baseline(result, "always empty", rows=0, right=0)
    if task.get("candidates"):
        yield _baseline(result, "everything", rows=task["candidates"], right=gold)


def _baseline(result: ResultRecord, model: str, rows: int, right: int) -> Mapping[str, Any]:
    gold = result["task"]["gold_size"]
    precision = right / rows if rows else float(gold == 0)
    recall = right / gold if gold else 1.0
    score = {
        "correct": rows == right == gold,
        "strict_correct": rows == right == gold,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "false_positives": rows - right,
        "answered": rows > 0,
    }
    fields = {"model": model, "setting": "baseline", "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None}


REPORT = SuiteReport(
    suite="questions",
    measures=MEASURES,
    groupings=(
        Grouping("category", "category", lambda result: result["task"].get("category"), _CATEGORIES),
        Grouping("question", "question", lambda result: result["task"]["template"], _QUESTIONS),
        Grouping("nodes", "graph size", lambda result: result.get("world", {}).get("nodes")),
    ),
    columns=COLUMNS,
    group_columns=GROUP_COLUMNS,
    compared=("accuracy", "f1"),
    reference=paper_reference,
    baselines=baselines,
    remark=remark,
    unreported=("evidence_sufficient", "extra_fields", "missing_fields", "rows_given"),  # why one answer is wrong
    notes=(
        "A: right answers in percent. P, R, F1: means over questions. FP: rows given that are not right, in total.",
        'Episodes that ended in an infrastructure failure have no score and are counted under "failed".',
        "Ranges are 95 % intervals: Wilson's for percentages, a bootstrap over graphs for means.",
        "With fewer than about ten graphs the ranges of means are too narrow.",
    ),
)
