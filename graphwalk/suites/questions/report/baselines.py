"""Players of questions that need not be run: their results follow from the task."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from graphwalk.report.declared import BASELINE, ResultRecord

CHANCE, PAR, EMPTY, EVERYTHING = "chance", "par", "always empty", "everything"
_SPACES = {
    "node_count": ("nodes",),
    "relationship_count": ("relationships",),
    "node_with_most_relationships": ("nodes", "relationships"),
}
"""Questions whose answer holds a count: a count is at most so many, and a node any of the graph."""


def baselines(result: ResultRecord) -> Iterator[ResultRecord]:
    """ "always empty"; "everything", which gives every candidate row; "chance", which gives one valid row drawn at
    random, with the scores to be expected of it; "par", the scripted expert.

    `candidates` of a task is the number of rows that the form of its answer allows (nodes of the asked label, pairs
    of nodes of the asked labels, …); where a task does not record it, nothing is known about "everything". Par is
    left out where a task has none.
    """
    task = result["task"]
    gold = task["gold_size"]
    yield _player(result, EMPTY, _score(0, 0, gold))
    if task.get("candidates"):
        yield _player(result, EVERYTHING, _score(task["candidates"], gold, gold))
    rows = valid_rows(result)
    if rows:
        yield _player(result, CHANCE, _random_row(gold / rows, gold, task.get("mode", "set") != "set"))
    if task.get("par_calls") is not None:
        walk = {"turns": task.get("par_turns"), "tool_calls": task["par_calls"]}
        usage = {"input_tokens": task.get("par_input_tokens"), "output_tokens": task.get("par_output_tokens")}
        yield {**_player(result, PAR, _score(gold, gold, gold)), **walk, "usage": usage}


def valid_rows(result: ResultRecord) -> int | None:
    """How many rows have the form that is asked for; None where that is not known."""
    task, world = result["task"], result.get("world", {})
    if task.get("candidates"):
        return int(task["candidates"])
    sizes = [world.get(name) for name in _SPACES.get(task["template"], ())]
    return prod(sizes) if sizes and all(sizes) else None


def _random_row(hit: float, gold: int, any_one: bool) -> dict[str, Any]:
    """What one row is expected to score that is right with the probability `hit`."""
    needed = 1 if any_one else gold
    return {
        "correct": hit if needed == 1 else 0.0,
        "strict_correct": hit if needed == 1 else 0.0,
        "precision": hit,
        "recall": hit / needed,
        "f1": hit * 2 / (1 + needed),
        "false_positives": 1 - hit,
        "answered": True,
    }


def _score(rows: int, right: int, gold: int) -> dict[str, Any]:
    precision = right / rows if rows else float(gold == 0)
    recall = right / gold if gold else 1.0
    return {
        "correct": rows == right == gold,
        "strict_correct": rows == right == gold,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "false_positives": rows - right,
        "answered": rows > 0,
    }


def _player(result: ResultRecord, model: str, score: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"model": model, "setting": BASELINE, "repeat": 0, "exit_status": "answered", "score": score}
    return {**result, **fields, "turns": 0, "tool_calls": 0, "usage": {}, "seconds": None, "tool_seconds": None}
