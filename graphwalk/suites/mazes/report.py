"""Report of mazes: measures, tables and plots."""

from collections.abc import Callable, Iterator
from typing import Any

from graphwalk.reports.measures import declared_report
from graphwalk.reports.suite_report import Grouping, Reference, ResultRecord, SuiteReport
from graphwalk.suites.mazes.score import MazeScore
from graphwalk.suites.reference import expert_result, paper_figures


def _of_graph(name: str) -> Callable[[ResultRecord], Any]:
    return lambda result: result.get("graph", {}).get(name)


def _calls_if_solved(result: ResultRecord) -> float | None:
    return float(result["tool_calls"]) if (result["score"] or {}).get("correct") else None


def table_1() -> Reference:
    """Return the paper's Table 1 with ten mazes per model."""
    paper = paper_figures()
    notes = (
        "The paper's mazes differ: 10 × 10 cells, half of them walls, at least 15 steps from start to goal.",
        "Its calls of gpt-4o-mini, 22.125 = 177/8, can only be an average over the 8 mazes solved.",
    )
    return Reference(f"{paper['source']}, Table 1", notes, tuple(_row(**row) for row in paper["table_1_mazes"]))


def _row(correct_of_10: int, mean_seconds: float, mean_tool_calls: float | None, **row: Any) -> dict[str, Any]:
    """Return a row of Table 1. Its averages of calls are over ten mazes, unless the sum would be no whole number."""
    right = {"correct": correct_of_10, "scored": 10, "accuracy": 10.0 * correct_of_10}
    over_all = mean_tool_calls is not None and (10 * mean_tool_calls).is_integer()
    calls = {
        "calls_per_question": mean_tool_calls if over_all else None,
        "calls_per_solved": mean_tool_calls if not over_all or correct_of_10 == 10 else None,
    }
    return {**row, **right, **calls, "seconds_per_question": mean_seconds}


def baselines(result: ResultRecord) -> Iterator[ResultRecord]:
    """Yield the baseline that needs no run: the expert."""
    yield from expert_result(result, {"correct": True, "strict_correct": True})


def maze_report() -> SuiteReport:
    return declared_report(
        "mazes",
        MazeScore,
        {"calls_per_solved": _calls_if_solved},
        groupings=(
            Grouping("size", "size", _of_graph("size")),
            Grouping("wall_ratio", "share of walls", _of_graph("wall_ratio")),
            Grouping("min_path", "minimum steps", _of_graph("min_path")),
        ),
        references={"table_1_mazes": table_1},
        baselines=baselines,
    )
