"""Baselines that need no run, and the paper's figures."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphwalk.files.resources import data_path
from graphwalk.reports.suite_report import BASELINE, REFERENCE, ResultRecord


def paper_figures() -> Any:
    """Return the figures printed in the GraphWalk paper."""
    return json.loads((data_path("templates") / "reports" / "graphwalk-paper.json").read_text("utf-8"))


def baseline_result(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a baseline on the task of `result`, without turns, calls and tokens."""
    fields = {"model": model, "setting": BASELINE, "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None}


def expert_result(result: ResultRecord, score: Mapping[str, Any]) -> Iterator[ResultRecord]:
    """Yield the result of the scripted expert, if the task has a reference walk."""
    task = result["task"]
    if task.get("reference_calls") is not None:
        yield {
            **baseline_result(result, REFERENCE, score),
            "turns": task.get("reference_turns"),
            "tool_calls": task["reference_calls"],
            "usage": {
                "input_tokens": task.get("reference_input_tokens"),
                "output_tokens": task.get("reference_output_tokens"),
            },
        }
