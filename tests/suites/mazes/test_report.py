"""The report of mazes."""

from typing import Any

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.mazes.suite import MazesSuite
from tests.analysis.report.results import build_report

DECLARED = analysis_of(MazesSuite()).report()


def result(maze: int = 0, error: str | None = None, size: int = 10, **changes: Any) -> dict[str, Any]:
    valid = error is None
    score = {
        **{"correct": valid, "optimal": valid, "strict_correct": valid, "error_class": error, "grounded": 1.0},
    }
    return {
        **{"task_id": f"maze-{maze}-{size}", "model": "test/one", "setting": "tools", "repeat": 0},
        **{"exit_status": "answered", "score": score, "turns": 21, "tool_calls": 20, "usage": {}, "seconds": 2.0},
        "task": {"graph_digest": f"g{maze}-{size}", "reference_calls": 16},
        "graph": {"size": size, "wall_ratio": 0.5, "min_path": 15},
        **changes,
    }


def test_validity_and_calls_by_size() -> None:
    results = [
        result(n, size=size, error=None if size == 10 or n else "wrong_goal") for n in range(4) for size in (10, 20)
    ]
    report = build_report(results, DECLARED)
    (row,) = report.rows
    assert (row.figures["scored"], row.figures["correct"], row.figures["accuracy"]) == (8, 7, 87.5)
    assert (row.figures["wrong_goal"], row.figures["through_wall"]) == (1, 0)
    assert row.figures["calls_per_question"] == 20.0
    assert [(group.group, group.figures["accuracy"]) for group in report.groups["size"]] == [(10, 100.0), (20, 75.0)]


def test_calls_of_solved_mazes_and_of_all() -> None:
    results = [result(0, tool_calls=10), result(1, tool_calls=20), result(2, error="wrong_goal", tool_calls=60)]
    (row,) = build_report(results, DECLARED).rows
    assert (row.figures["calls_per_question"], row.figures["calls_per_solved"]) == (30.0, 15.0)
    assert build_report([result(0, error="wrong_goal")], DECLARED).rows[0].figures["calls_per_solved"] is None
